//! Collects a document's references to others: links, ids, addresses and header fields.

use std::collections::BTreeMap;

use super::Page;
use super::header_fields::{Field, key_and_value, normal_key};
use super::id_mentions;
use super::percent::percent_decoded;
use crate::model::file_name::is_name_suffix;
use crate::model::plan::Limits;
use crate::model::plural::counted;
use crate::model::series::known_series;
use crate::model::{Code, Label, Note, Number, Reference, Relation, Target, TextFormat};

/// A longer run of characters in prose is not an address.
const MAX_ADDRESS: usize = 512;

struct ReferenceCollector<'a, 'b> {
    page: &'a Page<'b>,
    references: Vec<Reference>,
    seen: BTreeMap<(Target, Relation), usize>,
    /// References beyond this number are dropped and reported.
    limit: usize,
    n_dropped: usize,
    /// The line read last, and the relation that it states as a header field.
    last_line: Option<(u32, Option<Relation>)>,
}

/// Returns all references of a page in order of appearance. Equal ones are merged and counted.
pub(super) fn references(
    page: &Page<'_>,
    limits: &Limits,
    notes: &mut Vec<Note>,
) -> Vec<Reference> {
    let mut collector = ReferenceCollector {
        page,
        references: Vec::new(),
        seen: BTreeMap::new(),
        limit: usize::try_from(limits.references).unwrap_or(usize::MAX),
        n_dropped: 0,
        last_line: None,
    };
    let labels = collector.add_mentions();
    collector.add_links(&labels);
    for field in &page.fields {
        collector.add_field(field);
    }
    if collector.n_dropped > 0 {
        let (n, limit) = (collector.n_dropped, collector.limit);
        let (references, verb) = (counted(n, "reference"), if n == 1 { "is" } else { "are" });
        let message = format!("{references} beyond the limit of {limit} {verb} not read");
        let hint = "split the document, or raise limits.references in .blue/config.yaml";
        let (code, hint) = (Code::TooManyReferences, Some(hint.to_string()));
        notes.push(Note { code, line: 0, column: 0, message, hint });
    }
    collector.references.sort_by_key(|reference| (reference.line, reference.column));
    collector.references
}

impl ReferenceCollector<'_, '_> {
    /// Adds the ids in prose. Returns the ids that are the text of a link, by the link's index.
    fn add_mentions(&mut self) -> BTreeMap<u32, Label> {
        let page = self.page;
        let mut link_labels = BTreeMap::new();
        let has_addresses = memchr::memmem::find(page.text.as_bytes(), b"blue://").is_some();
        let title = page.body.headings.first().map_or(0..0, |first| first.start..first.after);
        for span in &page.body.spans {
            if has_addresses && span.link.is_none() {
                self.add_addresses(span.range.clone());
            }
            for mention in id_mentions::mentions(&page.text[span.range.clone()]) {
                let offset = span.range.start + mention.offset;
                // An id inside a URL is not a mention.
                let is_autolink = |link: u32| {
                    page.text[page.body.links[link as usize].range.clone()].starts_with('<')
                };
                if span.link.is_some_and(is_autolink) {
                    continue;
                }
                let link = span.link.or_else(|| self.link_after(span.range.start + mention.end));
                if let Some(link) = link {
                    link_labels.entry(link).or_insert(mention.label);
                } else if !title.contains(&offset) {
                    let relation = self.relation_at(offset).unwrap_or(Relation::Mention);
                    self.add(Target::Label(mention.label), relation, None, offset);
                }
            }
        }
        link_labels
    }

    /// Returns the link that an id introduces: `ADR 36: [Routing](0036-routing.md)`.
    fn link_after(&self, end: usize) -> Option<u32> {
        let links = &self.page.body.links;
        let next = links.partition_point(|link| link.range.start < end);
        let gap = self.page.text.get(end..links.get(next)?.range.start)?;
        gap.trim_matches([' ', ':', '-', '–', '—', '(', '*']).is_empty().then_some(next as u32)
    }

    /// Adds the `blue://` addresses in prose, each up to the punctuation that ends it.
    fn add_addresses(&mut self, range: std::ops::Range<usize>) {
        let text = &self.page.text[range.clone()];
        let ends = |c: char| c.is_whitespace() || "()<>[]\"'`,;|".contains(c);
        let mut from = 0;
        while let Some(at) = text[from..].find("blue://").map(|at| from + at) {
            let end = text[at..].find(ends).map_or(text.len(), |end| at + end);
            from = end;
            if end - at > MAX_ADDRESS {
                continue;
            }
            let address = &text[at..end];
            let address = address.trim_end_matches(['.', ':', '!', '?', '*']);
            let offset = range.start + at;
            let relation = self.relation_at(offset).unwrap_or(Relation::Address);
            self.add(Target::Address(address.to_string()), relation, None, offset);
        }
    }

    fn add_links(&mut self, labels: &BTreeMap<u32, Label>) {
        for (index, link) in self.page.body.links.iter().enumerate() {
            let label = labels.get(&(index as u32)).cloned();
            let target = target(&link.destination).or_else(|| label.clone().map(Target::Label));
            let Some(target) = target else { continue };
            let offset = link.range.start;
            let default = match target {
                Target::Address(_) => Relation::Address,
                Target::Label(_) => Relation::Mention,
                _ => Relation::Link,
            };
            let relation = self.relation_at(offset).unwrap_or(default);
            self.add(target, relation, label, offset);
        }
    }

    /// Adds the references in a header field: numbers, names and, in front matter, ids and paths.
    fn add_field(&mut self, field: &Field) {
        let series = known_series(&field.key);
        let relation = relation_of_key(&field.key).or(series.as_ref().map(|_| Relation::Related));
        if field.outside_markdown && matches!(field.key.as_str(), "status" | "state") {
            return self.add_status_reference(field);
        }
        let Some(relation) = relation else { return };
        let kind = field.key.rsplit(' ').next().and_then(known_series);
        for item in &field.items {
            let labels = id_mentions::labels(item);
            let has_link = item.contains("](") || item.contains("][");
            if field.outside_markdown {
                for label in &labels {
                    self.add_at(Target::Label(label.clone()), relation, None, (field.line, 1));
                }
            }
            if labels.is_empty() && !has_link {
                self.add_names(item, relation, kind.as_deref(), field.line);
            }
        }
    }

    /// Adds the reference in `status: superseded by [ADR-0005](0005-x.md)` in front matter, which
    /// the Markdown parser does not see.
    fn add_status_reference(&mut self, field: &Field) {
        let value = field.items.join(" ");
        let lower = value.to_lowercase();
        let phrases = ["superseded by", "superceded by", "replaced by", "obsoleted by"];
        let Some(at) = phrases.iter().find_map(|phrase| lower.find(phrase)) else { return };
        let Some(rest) = value.get(at..) else { return };
        let linked = rest.split_once("](").and_then(|(_, link)| target(link.split(')').next()?));
        let labels = id_mentions::labels(rest).into_iter().map(Target::Label);
        for target in linked.into_iter().chain(labels).take(1) {
            self.add_at(target, Relation::SupersededBy, None, (field.line, 1));
        }
    }

    /// Adds the numbers, paths and names that a header field lists.
    fn add_names(&mut self, item: &str, relation: Relation, kind: Option<&str>, line: u32) {
        let item = without_parentheses(item);
        for part in item.split([',', ';']) {
            let part = part.trim().trim_matches(['`', '"', '\'', '[', ']', '*', '#', ' ']);
            let digits = part.bytes().all(|b| b.is_ascii_digit());
            let target = match Number::new(part) {
                Some(number) if digits && part.len() <= 6 => {
                    Target::Number(kind.map(str::to_string), number)
                }
                _ if TextFormat::of_path(part).is_some() || part.starts_with('/') => {
                    Target::Path(part.to_string())
                }
                _ if (3..=120).contains(&part.len()) => {
                    Target::Name(kind.map(str::to_string), part.to_string())
                }
                _ => continue,
            };
            self.add_at(target, relation, None, (line, 1));
        }
    }

    fn add(&mut self, target: Target, relation: Relation, label: Option<Label>, offset: usize) {
        // A repeated reference is only counted, so its line and column are not computed.
        if let Some(index) = self.seen.get(&(target.clone(), relation)) {
            self.references[*index].count += 1;
            return;
        }
        let position = self.page.lines.line_and_column(self.page.text, offset);
        self.add_at(target, relation, label, position);
    }

    fn add_at(
        &mut self,
        target: Target,
        relation: Relation,
        label: Option<Label>,
        (line, column): (u32, u32),
    ) {
        let key = (target, relation);
        if let Some(index) = self.seen.get(&key) {
            self.references[*index].count += 1;
            return;
        }
        if self.references.len() >= self.limit {
            self.n_dropped += 1;
            return;
        }
        self.seen.insert(key.clone(), self.references.len());
        let (target, relation) = key;
        self.references.push(Reference { target, relation, label, line, column, count: 1 });
    }

    /// Returns the relation that the line, or else the section's heading, gives to a reference.
    fn relation_at(&mut self, offset: usize) -> Option<Relation> {
        let page = self.page;
        let line = page.lines.line(offset);
        let start = page.lines.start(line);
        let relation = self.relation_before(start, offset).or_else(|| self.relation_of_line(line));
        let relation = relation.or_else(|| {
            let heading = &page.body.headings[page.body.heading_of(offset)?];
            relation_of_key(&normal_key(heading.title.trim_end_matches(':')))
        })?;
        let replaces = matches!(relation, Relation::Supersedes | Relation::SupersededBy);
        // A document that is replaced only in part is still in force.
        let in_part = || {
            let text = clip_line(page.lines.text(page.text, line)).to_lowercase();
            ["partial", "partly", "in part"].iter().any(|word| text.contains(word))
        };
        Some(if replaces && in_part() { Relation::Related } else { relation })
    }

    /// Returns the relation that the words before a reference state, if they start its line.
    fn relation_before(&self, start: usize, offset: usize) -> Option<Relation> {
        let before = self.page.text.get(start..offset).filter(|before| before.len() <= 100)?;
        // Phrases such as "superseded by" start with one of these letters. Most lines do not.
        let first = before.trim_start_matches(|c: char| !c.is_alphabetic()).chars().next()?;
        if first.is_ascii() && !matches!(first.to_ascii_lowercase(), 's' | 'r' | 't') {
            return None;
        }
        relation_of_words(&before.to_lowercase())
    }

    /// Returns the relation that a line states as a header field. Computed once per line.
    fn relation_of_line(&mut self, line: u32) -> Option<Relation> {
        if let Some((_, relation)) = self.last_line.filter(|(last, _)| *last == line) {
            return relation;
        }
        let text = clip_line(self.page.lines.text(self.page.text, line));
        let relation = key_and_value(text).and_then(|(key, _)| {
            relation_of_key(&key).or_else(|| known_series(&key).map(|_| Relation::Related))
        });
        self.last_line = Some((line, relation));
        relation
    }
}

/// Returns the part of a line that can be a header field. Longer lines are prose.
fn clip_line(line: &str) -> &str {
    let end = line.char_indices().map(|(at, _)| at).find(|at| *at >= 2_000);
    &line[..end.unwrap_or(line.len())]
}

/// Returns the relation of phrases such as `Superseded by [x]`, if only such a phrase precedes the
/// reference.
fn relation_of_words(before: &str) -> Option<Relation> {
    let words = before.trim_matches(|c: char| !c.is_alphabetic());
    let tail = |phrases: &[&str]| {
        words.len() <= 80 && phrases.iter().any(|phrase| words.ends_with(phrase))
    };
    let head = |phrases: &[&str]| phrases.iter().any(|phrase| words.starts_with(phrase));
    let starts_phrase =
        head(&["status", "superseded", "superceded", "replaced", "supersedes", "replaces", "this"]);
    if !starts_phrase {
        return None;
    }
    if tail(&[
        "superseded by",
        "superceded by",
        "replaced by",
        "obsoleted by",
        "superseded by the",
        "superseded by adr",
    ]) {
        return Some(Relation::SupersededBy);
    }
    tail(&["supersedes", "supercedes", "replaces", "obsoletes"]).then_some(Relation::Supersedes)
}

/// Returns the relation that a header field or a section of this name gives to its references.
fn relation_of_key(key: &str) -> Option<Relation> {
    Some(match key {
        "depends on" | "depends" | "requires" | "require" | "dependencies" | "prerequisites"
        | "blocked by" | "depends upon" | "required by this" => Relation::DependsOn,
        "supersedes" | "replaces" | "obsoletes" | "supercedes" | "supersede" => {
            Relation::Supersedes
        }
        "superseded by" | "replaced by" | "obsoleted by" | "superceded by" | "supersededby"
        | "replacement" => Relation::SupersededBy,
        "source"
        | "source spike"
        | "source spikes"
        | "source dialogue"
        | "spike"
        | "spikes"
        | "dialogue"
        | "dialogues"
        | "alignment dialogue"
        | "alignment dialogues"
        | "derived from"
        | "origin"
        | "ported from"
        | "based on"
        | "source rfc" => Relation::Source,
        "related" | "related to" | "relates to" | "see also" | "references" | "reference"
        | "related rfcs" | "related adrs" | "related decisions" | "related documents"
        | "related proposals" | "related work" | "links" | "updates" | "updated by" | "amends"
        | "amended by" | "extends" | "extended by" | "downstream" | "upstream" | "outcome"
        | "related links" | "linked documents" | "clarifies" | "related features" => {
            Relation::Related
        }
        _ => return None,
    })
}

/// Removes everything in parentheses: `0004 (Evidence)` becomes `0004`.
fn without_parentheses(value: &str) -> String {
    let mut depth = 0u32;
    let mut outside = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => outside.push(c),
            _ => {}
        }
    }
    outside
}

/// Returns the target of a link, if it can be a document.
fn target(destination: &str) -> Option<Target> {
    let destination = destination.trim();
    if destination.starts_with("blue://") {
        return Some(Target::Address(destination.split(['#', '?']).next()?.to_string()));
    }
    let bare = destination.split(['#', '?']).next()?;
    if destination.starts_with("http://") || destination.starts_with("https://") {
        let last = bare.trim_end_matches('/').rsplit('/').next()?;
        let may_be_document =
            TextFormat::of_path(last).is_some() || last.bytes().any(|b| b.is_ascii_digit());
        return may_be_document.then(|| Target::Url(bare.to_string()));
    }
    let has_scheme = bare.find(':').is_some_and(|at| !bare[..at].contains(['/', '.', ' ']));
    if bare.is_empty() || has_scheme || bare.starts_with("//") {
        return None;
    }
    let path = percent_decoded(bare);
    let last = path.trim_end_matches('/').rsplit('/').next()?.to_string();
    let extension = last.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let is_text = match extension.as_deref() {
        None | Some("mdx" | "html") => true,
        Some(extension) => TextFormat::of_path(&last).is_some() || is_name_suffix(extension),
    };
    is_text.then_some(Target::Path(path))
}
