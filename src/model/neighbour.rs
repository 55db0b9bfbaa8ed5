//! Neighbours of a document in the relevance index, with the reasons for each.

use super::{DocId, Document, Graph, Relation};

/// A related document.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Neighbour {
    /// The related document.
    pub id: DocId,
    /// Relevance; larger is more relevant.
    pub score: u32,
    /// Reasons, strongest first.
    pub reasons: Vec<Reason>,
}

/// The reason why a document is a neighbour.
///
/// Reasons are formatted only when an artifact is written. As text, the reasons of all documents
/// would take more memory than the documents.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reason {
    /// The document refers to the neighbour.
    RefersTo {
        /// Kind of reference.
        relation: Relation,
        /// Line of the first reference; 0 if it has none.
        line: u32,
        /// Number of references.
        count: u32,
    },
    /// The neighbour refers to the document.
    ReferredBy {
        /// Kind of reference.
        relation: Relation,
        /// Number of references.
        count: u32,
    },
    /// The neighbour replaces a document that this one refers to.
    Replaces(DocId),
    /// Both texts share these terms, joined by commas.
    SharedTerms(Box<str>),
    /// Other documents cite the neighbour with this phrase, which the document contains.
    CitedWith(Box<str>),
    /// The document contains the neighbour's title.
    ContainsTitle,
    /// Similar documents cite the neighbour; at most two are named.
    CitedByPeers(Vec<DocId>),
    /// Both cite these documents; at most two are named.
    BothCite(Vec<DocId>),
    /// These documents cite both; at most two are named.
    CitedTogether(Vec<DocId>),
}

impl Reason {
    /// Returns the reason as a phrase.
    pub fn text(&self, graph: &Graph) -> String {
        match self {
            Reason::RefersTo { relation, line, count } => refers_to(*relation, *line, *count),
            Reason::ReferredBy { relation, count } => referred_by(*relation, *count),
            Reason::Replaces(id) => format!("replaces {}", graph.document(*id).title),
            Reason::SharedTerms(terms) => format!("shares: {terms}"),
            Reason::CitedWith(phrase) => format!("cited elsewhere for: {phrase}"),
            Reason::ContainsTitle => "contains its title".to_string(),
            Reason::CitedByPeers(peers) => {
                let verb = if peers.len() == 1 { "is" } else { "are" };
                format!("cited by {}, which {verb} similar", names(graph, peers))
            }
            Reason::BothCite(cited) => format!("both cite {}", names(graph, cited)),
            Reason::CitedTogether(citing) => {
                format!("cited together by {}", names(graph, citing))
            }
        }
    }
}

fn refers_to(relation: Relation, line: u32, count: u32) -> String {
    let line = match line {
        0 => String::new(),
        line => format!(", line {line}"),
    };
    match relation {
        Relation::Supersedes => format!("supersedes it{line}"),
        Relation::SupersededBy => format!("superseded by it{line}"),
        Relation::DependsOn => format!("depends on it{line}"),
        Relation::Source => format!("comes from it{line}"),
        Relation::PlanOf => "plan of it".to_string(),
        Relation::Related => format!("related{line}"),
        Relation::Link => format!("links to it{}{line}", times(count)),
        Relation::Address => format!("addresses it{}{line}", times(count)),
        Relation::Mention => format!("mentions it{}{line}", times(count)),
    }
}

fn referred_by(relation: Relation, count: u32) -> String {
    match relation {
        Relation::Supersedes => "superseded by it".to_string(),
        Relation::SupersededBy => "supersedes it".to_string(),
        Relation::DependsOn => "it depends on this".to_string(),
        Relation::Source => "it comes from this".to_string(),
        Relation::PlanOf => "its plan".to_string(),
        Relation::Related => "it names this as related".to_string(),
        Relation::Link => format!("it links here{}", times(count)),
        Relation::Address => format!("it addresses this{}", times(count)),
        Relation::Mention => format!("it mentions this{}", times(count)),
    }
}

fn times(count: u32) -> String {
    if count == 1 { String::new() } else { format!(" {count}×") }
}

/// Names documents by series and number, or else by the start of their title.
fn names(graph: &Graph, ids: &[DocId]) -> String {
    let name = |id: &DocId| {
        let document = graph.document(*id);
        match series(graph, document).filter(|_| !document.number_text.is_empty()) {
            Some(series) => format!("{} {}", series.to_uppercase(), document.number_text),
            None => document.title.chars().take(40).collect(),
        }
    };
    // Two documents can have the same number.
    let mut names: Vec<String> = ids.iter().map(name).collect();
    names.dedup();
    names.join(" and ")
}

/// Returns the series that a document's number belongs to: the one that it states itself, or that of
/// its collection, or its type unless that says nothing.
fn series<'a>(graph: &'a Graph, document: &'a Document) -> Option<&'a str> {
    let stated = document.facts.label.as_ref();
    let stated = stated.filter(|label| Some(&label.number) == document.number.as_ref());
    let series = &graph.collections[document.collection].series;
    let kind = document.kind.as_str();
    match (stated, series.first()) {
        (Some(label), _) => Some(&label.series),
        (None, Some(first)) if !series.iter().any(|series| series == kind) => Some(first),
        _ => Some(kind).filter(|kind| *kind != "document"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Collection, Kind, Label, Number};

    #[test]
    fn documents_are_named_by_the_series_that_they_state() {
        let document = |path: &str, kind: &str| Document {
            number: Number::new("7"),
            number_text: "07".to_string(),
            kind: Kind::new(kind),
            title: format!("Title of {path}"),
            ..Document::sample(path)
        };
        let collection = |series: &[&str]| Collection {
            name: "documents".to_string(),
            kind: Kind::new("document"),
            series: series.iter().map(|series| series.to_string()).collect(),
            globs: Vec::new(),
        };
        let mut graph = Graph {
            collections: vec![collection(&[])],
            documents: vec![document("a", "document"), document("b", "adr"), document("c", "adr")],
            ..Graph::default()
        };
        let label =
            Label { series: "nip".to_string(), number: Number::new("7").expect("a number") };
        graph.documents[2].facts.label = Some(label);
        let name = |graph: &Graph, row: u32| names(graph, &[DocId(row)]);
        assert_eq!(names(&graph, &[DocId(1), DocId(1)]), "ADR 07", "each name once");
        assert_eq!(name(&graph, 0), "Title of a");
        assert_eq!([name(&graph, 1), name(&graph, 2)], ["ADR 07", "NIP 07"]);
        graph.collections[0] = collection(&["sep"]);
        assert_eq!([name(&graph, 0), name(&graph, 2)], ["SEP 07", "NIP 07"]);
    }
}
