//! Collects a document's references to others: links, ids, addresses and header fields.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Page;
use super::header_fields::{Field, key_and_value};
use super::id_mentions;
use super::link_targets::{bare_urls, references_in, target};
use super::relation_keys::{after_number, is_reason, relation_of_key, without_parentheses};
use super::statements::{Statements, clip_line, is_status_key, number_in_status, supersedes};
use super::supersession::{StatementPlace, stated};
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
    statements: Statements<'a, 'b>,
    /// True while the fields of the metadata file beside the document are read.
    in_sidecar: bool,
}

/// Returns all references of a page in order of appearance. Equal ones are merged and counted.
/// `status` is the stated status with its line.
pub(super) fn references(
    page: &Page<'_>,
    status: Option<&(String, u32)>,
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
        statements: Statements::new(page),
        in_sidecar: false,
    };
    let labels = collector.add_mentions();
    collector.add_links(&labels);
    for field in &page.fields {
        let line = (field.line == 0).then(|| page.sidecar.lines.get(&field.key)).flatten();
        collector.in_sidecar = line.is_some();
        collector.add_field(field, line.copied().unwrap_or(field.line));
    }
    collector.in_sidecar = false;
    if let Some((status, line)) = status {
        collector.add_status_number(status, *line);
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
    /// Adds the ids and URLs in prose. Returns the ids that are the text of a link, by the link's
    /// index.
    fn add_mentions(&mut self) -> BTreeMap<u32, Label> {
        let page = self.page;
        let mut link_labels = BTreeMap::new();
        let has_addresses = memchr::memmem::find(page.text.as_bytes(), b"blue://").is_some();
        let schemes: Vec<usize> = memchr::memmem::find_iter(page.text.as_bytes(), b"://").collect();
        let has_url = |span: &Range<usize>| {
            let next = schemes.partition_point(|at| *at < span.start);
            schemes.get(next).is_some_and(|at| *at < span.end)
        };
        let title = page.body.headings.first().map_or(0..0, |first| first.start..first.after);
        let mut scan = id_mentions::MentionScan::new(page.text);
        for span in &page.body.spans {
            if has_addresses && span.link.is_none() {
                self.add_addresses(span.range.clone());
            }
            let urls = match span.link.is_none() && has_url(&span.range) {
                true => self.add_urls(&span.range),
                false => Vec::new(),
            };
            if !scan.may_have_id(&span.range) {
                continue;
            }
            if span.link.is_none() {
                self.add_bare_numbers(&span.range, &urls, &title);
            }
            for mention in id_mentions::mentions(&page.text[span.range.clone()]) {
                let offset = span.range.start + mention.offset;
                // An id inside a URL is not a mention.
                let is_autolink = |link: u32| {
                    page.text[page.body.links[link as usize].range.clone()].starts_with('<')
                };
                let in_url = urls.iter().any(|url| url.contains(&offset));
                if in_url || span.link.is_some_and(is_autolink) {
                    continue;
                }
                let end = span.range.start + mention.end;
                let link = span.link.or_else(|| self.link_after(end));
                if let Some(link) = link {
                    link_labels.entry(link).or_insert(mention.label);
                } else if !title.contains(&offset) {
                    let relation = self.relation_at(&(offset..end)).unwrap_or(Relation::Mention);
                    self.add(Target::Label(mention.label), relation, None, offset);
                }
            }
        }
        link_labels
    }

    /// Adds the numbers that stand alone in a run of prose, as references in the document's own series.
    fn add_bare_numbers(
        &mut self,
        span: &Range<usize>,
        urls: &[Range<usize>],
        title: &Range<usize>,
    ) {
        for (number, at) in id_mentions::bare_numbers(&self.page.text[span.clone()]) {
            let offset = span.start + at;
            if !title.contains(&offset) && !urls.iter().any(|url| url.contains(&offset)) {
                self.add(Target::Number(None, number), Relation::Mention, None, offset);
            }
        }
    }

    /// Adds the URLs in a run of prose. Returns their positions.
    fn add_urls(&mut self, span: &Range<usize>) -> Vec<Range<usize>> {
        let in_span = bare_urls(&self.page.text[span.clone()]).into_iter();
        let urls: Vec<Range<usize>> =
            in_span.map(|url| span.start + url.start..span.start + url.end).collect();
        for url in &urls {
            if let Some(target) = target(&self.page.text[url.clone()]) {
                let relation = self.relation_at(url).unwrap_or(Relation::Link);
                self.add(target, relation, None, url.start);
            }
        }
        urls
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
            let relation = self.relation_at(&(offset..range.start + end));
            let relation = relation.unwrap_or(Relation::Address);
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
            let mut relation = self.relation_at(&link.range).unwrap_or(default);
            // A link to a section does not say that the whole document is replaced.
            if matches!(relation, Relation::Supersedes | Relation::SupersededBy)
                && link.destination.contains('#')
            {
                relation = Relation::Related;
            }
            self.add(target, relation, label, offset);
        }
    }

    /// Adds the references in a header field: numbers, names and, in front matter, ids and paths.
    fn add_field(&mut self, field: &Field, line: u32) {
        let series = known_series(&field.key);
        let relation = relation_of_key(&field.key).or(series.as_ref().map(|_| Relation::Related));
        if field.outside_markdown && is_status_key(&field.key) {
            return self.add_status_reference(&field.items.join(" "), line);
        }
        if relation.is_none() && field.outside_markdown && is_reason(&field.key) {
            // The document is out of force already, so the future does not limit the statement.
            let value = field.items.join(" ").replace("will be ", "");
            return self.add_status_reference(&value, line);
        }
        let Some(relation) = relation else {
            return self.add_prose_field(field, line);
        };
        let kind = field.key.rsplit(' ').next().and_then(known_series);
        for item in &field.items {
            let found = references_in(item);
            let has_link = item.contains("](") || item.contains("][");
            if field.outside_markdown {
                for (target, range) in &found {
                    let relation = match supersedes(&field.key) {
                        true => stated(
                            StatementPlace::Named(relation),
                            &item[..range.start],
                            &item[range.end..],
                        )
                        .unwrap_or(Relation::Related),
                        false => relation,
                    };
                    self.add_at(target.clone(), relation, None, (line, 1));
                }
            }
            if found.is_empty() && !has_link {
                self.add_names(item, relation, kind.as_deref(), line);
            }
        }
    }

    /// Adds the references in a field with sentences, such as `abstract`, which the Markdown parser
    /// does not see. The one that replaces the document counts if a sentence says so:
    /// `ADR-15 obsoletes ADR-1.` in ADR 1.
    fn add_prose_field(&mut self, field: &Field, line: u32) {
        let is_name = matches!(field.key.as_str(), "title" | "tags" | "keywords");
        for item in field.items.iter().filter(|_| field.outside_markdown && !is_name) {
            if item.split_whitespace().nth(4).is_none() {
                continue;
            }
            for (target, range) in references_in(item) {
                let is_successor = self.is_successor(&item[..range.start], &item[range.end..]);
                let relation = match target {
                    _ if is_successor => Relation::SupersededBy,
                    Target::Label(_) => Relation::Mention,
                    _ => Relation::Link,
                };
                self.add_at(target, relation, None, (line, 1));
            }
        }
    }

    /// Returns true if a sentence starts with a reference and says that it replaces this document.
    fn is_successor(&self, before: &str, after: &str) -> bool {
        const VERBS: [&str; 3] = [" obsoletes ", " replaces ", " supersedes "];
        let is_start = before.trim_end().is_empty() || before.trim_end().ends_with('.');
        let object = VERBS.iter().find_map(|verb| after.strip_prefix(verb));
        let first = object.map(id_mentions::mentions).unwrap_or_default().into_iter().next();
        let is_own = |label: &Label| {
            super::own_label(self.page).as_ref() == Some(label)
                || super::keyed_numbers(self.page).contains(label)
        };
        is_start && first.is_some_and(|mention| mention.offset == 0 && is_own(&mention.label))
    }

    /// Adds the references in `status: superseded by [ADR-0005](0005-x.md)` in front matter, which
    /// the Markdown parser does not see.
    fn add_status_reference(&mut self, value: &str, line: u32) {
        for (target, range) in references_in(value) {
            let relation =
                stated(StatementPlace::Status, &value[..range.start], &value[range.end..]);
            if let Some(relation) = relation {
                self.add_at(target, relation, None, (line, 1));
            }
        }
    }

    /// Adds the document of the same collection that a status names only by its number. A link or
    /// an id in the same line was added already.
    fn add_status_number(&mut self, status: &str, line: u32) {
        let has_link = || clip_line(self.page.lines.text(self.page.text, line)).contains("](");
        if line > 0
            && let Some((relation, number)) = number_in_status(status)
            && id_mentions::mentions(status).is_empty()
            && !has_link()
        {
            self.add_at(Target::Number(None, number), relation, None, (line, 1));
        }
    }

    /// Adds the numbers, paths and names that a header field lists.
    fn add_names(&mut self, item: &str, relation: Relation, kind: Option<&str>, line: u32) {
        // `supersedes: 0017 (the storage format only)` leaves both in force.
        let is_partial = matches!(relation, Relation::Supersedes | Relation::SupersededBy)
            && stated(StatementPlace::Named(relation), "", after_number(item)).is_none();
        let relation = if is_partial { Relation::Related } else { relation };
        let item = without_parentheses(item);
        for part in item.split([',', ';']) {
            let part = part.trim().trim_matches(['`', '"', '\'', '[', ']', '*', '#', ' ']);
            let digits = part.bytes().all(|b| b.is_ascii_digit());
            let target = match Number::new(part) {
                Some(number) if digits && part.len() <= 6 => {
                    Target::Number(kind.map(str::to_string), number)
                }
                _ if part.contains("://") => match target(part) {
                    Some(target) => target,
                    None => continue,
                },
                _ if TextFormat::of_path(part).is_some() || part.starts_with('/') => {
                    Target::FieldPath(part.split('#').next().unwrap_or(part).to_string())
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
        let in_sidecar = self.in_sidecar;
        let reference = Reference { target, relation, label, line, column, count: 1, in_sidecar };
        self.references.push(reference);
    }

    /// Returns the relation that the line, or else the section's heading, gives to a reference.
    fn relation_at(&mut self, range: &Range<usize>) -> Option<Relation> {
        let line = self.page.lines.line(range.start);
        if let Some(relation) = self.statements.supersession_at(line, range) {
            return Some(relation);
        }
        let relation = self
            .relation_of_line(line)
            .or_else(|| self.statements.relation_of_section(range.start))?;
        // A supersession that is not stated as such, or only of a part, leaves both in force.
        let replaces = matches!(relation, Relation::Supersedes | Relation::SupersededBy);
        Some(if replaces { Relation::Related } else { relation })
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
