//! Neighbours of a document in the relevance index, with the reasons for each.

use super::{DocId, Graph, Relation};

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
    /// Other documents cite the neighbour with these terms, which the document contains.
    CitedFor(Box<str>),
    /// The document contains the neighbour's title.
    ContainsTitle,
    /// The document contains all terms of the neighbour's title.
    HasTitleTerms,
    /// The document contains phrases that other documents use to cite the neighbour.
    HasCitingPhrases,
    /// Number of uncommon code names that both use.
    SharedNames(u32),
    /// Both have this author or tag.
    SharedTag(Box<str>),
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
            Reason::CitedFor(terms) => format!("cited elsewhere for: {terms}"),
            Reason::ContainsTitle => "says its title".to_string(),
            Reason::HasTitleTerms => "has the words of its title".to_string(),
            Reason::HasCitingPhrases => "has phrases that others cite it with".to_string(),
            Reason::SharedNames(1) => "shares a name of code".to_string(),
            Reason::SharedNames(n) => format!("shares {n} names of code"),
            Reason::SharedTag(tag) => format!("same {}", tag.replacen(' ', ": ", 1)),
            Reason::CitedByPeers(peers) => {
                let verb = if peers.len() == 1 { "is" } else { "are" };
                format!("cited by {}, which {verb} alike", names(graph, peers))
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

/// Names documents by type and number, or else by the start of their title.
fn names(graph: &Graph, ids: &[DocId]) -> String {
    let name = |id: &DocId| {
        let document = graph.document(*id);
        match document.number_text.is_empty() {
            true => document.title.chars().take(40).collect(),
            false => format!("{} {}", document.kind.as_str().to_uppercase(), document.number_text),
        }
    };
    ids.iter().map(name).collect::<Vec<String>>().join(" and ")
}
