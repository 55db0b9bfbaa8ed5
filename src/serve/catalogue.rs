//! The emitted index of documents: rows by address, path or short id.

use std::borrow::Cow;

use memchr::memmem;

use crate::model::escape::escape;
use crate::model::layout::DOCUMENTS;
use crate::model::{FileName, Number, ShortId};
use crate::wire::jsonl::DocumentLine;

/// Every document of the last build.
///
/// The index is held as text, and a line is parsed on demand. Opening ten thousand documents takes a
/// few milliseconds, and as much memory as the file.
pub struct Catalogue {
    text: String,
    rows: Vec<CatalogueRow>,
    /// Rows sorted by address.
    by_uri: Vec<usize>,
}

/// A line of the index, with the fields that are needed without parsing it.
struct CatalogueRow {
    start: usize,
    end: usize,
    live: bool,
    weight: u32,
    /// The document's number, if it is an integer.
    number: Option<u32>,
}

/// Start of every line.
const OPENING: &str = "{\"uri\":\"";

/// Maximum number of documents that an unknown address is compared with.
const MAX_COMPARED: usize = 200;

/// Maximum number of bytes of the address that are compared.
const MAX_NAME: usize = 120;

/// Size limit of a line.
const MAX_LINE: usize = 1 << 20;

impl Catalogue {
    /// Splits an index into rows. The first line is the provenance.
    pub(super) fn new(text: String) -> anyhow::Result<Catalogue> {
        let (live, weight) = (memmem::Finder::new(",\"live\":true"), memmem::Finder::new(WEIGHT));
        let number_key = memmem::Finder::new(NUMBER);
        let mut rows = Vec::with_capacity(text.len() / 512);
        let mut start = memchr::memchr(b'\n', text.as_bytes()).map_or(text.len(), |at| at + 1);
        while start < text.len() {
            let rest = &text.as_bytes()[start..];
            let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
            anyhow::ensure!(
                line.starts_with(OPENING.as_bytes())
                    && line.ends_with(b"}")
                    && line.len() <= MAX_LINE,
                "{DOCUMENTS}:{}: not a document\nhint: run `blue knowledge build`",
                rows.len() + 2
            );
            // A quote within a text is escaped, so a key can be found without reading the rest.
            let at = weight.find(line).map_or(line.len(), |at| at + WEIGHT.len());
            let digits = line[at..].iter().take_while(|b| b.is_ascii_digit()).take(9);
            let at = number_key.find(line).map_or(line.len(), |at| at + NUMBER.len());
            let end = memchr::memchr(b'"', &line[at..]).map_or(at, |end| at + end);
            let number =
                std::str::from_utf8(&line[at..end]).ok().and_then(|text| text.parse().ok());
            rows.push(CatalogueRow {
                number,
                start,
                end: start + line.len(),
                live: live.find(line).is_some(),
                weight: digits.fold(0, |n, digit| n * 10 + u32::from(digit - b'0')),
            });
            start += line.len() + 1;
        }
        let mut catalogue = Catalogue { text, rows, by_uri: Vec::new() };
        let mut by_uri: Vec<usize> = (0..catalogue.rows.len()).collect();
        by_uri.sort_by_key(|row| catalogue.uri(*row));
        catalogue.by_uri = by_uri;
        Ok(catalogue)
    }

    /// The number of documents.
    pub fn n_documents(&self) -> usize {
        self.rows.len()
    }

    /// Every row, sorted by address.
    pub fn by_uri(&self) -> &[usize] {
        &self.by_uri
    }

    /// The JSON of a row.
    pub fn raw(&self, row: usize) -> &str {
        &self.text[self.rows[row].start..self.rows[row].end]
    }

    /// The address of a row.
    pub fn uri(&self, row: usize) -> &str {
        let rest = &self.raw(row)[OPENING.len()..];
        rest.split('"').next().unwrap_or_default()
    }

    /// The last part of the address of a row.
    pub fn id(&self, row: usize) -> &str {
        self.uri(row).rsplit('/').next().unwrap_or_default()
    }

    /// The path of a row. Empty if the path has a character that JSON escapes.
    pub fn path(&self, row: usize) -> &str {
        self.unescaped(row, ",\"path\":\"").unwrap_or_default()
    }

    /// The string of a key, if it has no escapes.
    fn unescaped(&self, row: usize, key: &str) -> Option<&str> {
        let raw = self.raw(row);
        let at = memmem::find(raw.as_bytes(), key.as_bytes())? + key.len();
        raw[at..].split('"').next().filter(|text| !text.contains('\\'))
    }

    /// Returns true if the document of a row is live.
    pub fn is_live(&self, row: usize) -> bool {
        self.rows[row].live
    }

    /// The weight of a row: its importance by references of other documents.
    pub fn weight(&self, row: usize) -> u32 {
        self.rows[row].weight
    }

    /// The addresses of the documents that replaced the document of a row.
    pub fn replaced_by(&self, row: usize) -> Vec<String> {
        if memmem::find(self.raw(row).as_bytes(), b",\"replaced_by\":[").is_none() {
            return Vec::new();
        }
        self.line(row).map_or_else(Vec::new, |line| line.replaced_by)
    }

    /// The rows whose number is an integer.
    pub fn with_number(&self, number: u32) -> impl Iterator<Item = usize> + '_ {
        let rows = self.rows.iter().enumerate();
        rows.filter(move |(_, row)| row.number == Some(number)).map(|(at, _)| at)
    }

    /// Parses a row. `None` if the line is damaged.
    pub fn line(&self, row: usize) -> Option<DocumentLine> {
        let mut line: DocumentLine = serde_json::from_str(self.raw(row)).ok()?;
        // The build neutralized them, but the index can have been edited since.
        for text in [&mut line.title, &mut line.summary, &mut line.status, &mut line.kind] {
            if let Cow::Owned(escaped) = escape(text) {
                *text = escaped;
            }
        }
        Some(line)
    }

    /// Parses every row, or every row of a collection or type.
    pub fn lines(&self, group: Option<&str>) -> anyhow::Result<Vec<DocumentLine>> {
        let mut lines: Vec<DocumentLine> = super::parse_lines(&self.text, DOCUMENTS, "document")?;
        if let Some(group) = group {
            let prefix = format!("blue://docs/{group}/");
            lines.retain(|line| line.uri.starts_with(&prefix) || line.kind == group);
        }
        Ok(lines)
    }

    /// The row of a document by its permanent address.
    pub fn row(&self, uri: &str) -> Option<usize> {
        let at = self.by_uri.binary_search_by(|row| self.uri(*row).cmp(uri)).ok()?;
        Some(self.by_uri[at])
    }

    /// The row of a document by its path.
    pub fn row_of_path(&self, path: &str) -> Option<usize> {
        let key = format!(",\"path\":{},", serde_json::to_string(path).ok()?);
        let at = memmem::find(self.text.as_bytes(), key.as_bytes())?;
        self.rows.partition_point(|row| row.start <= at).checked_sub(1)
    }

    /// Returns true if the document of a row has a type.
    pub fn is_kind(&self, row: usize, kind: &str) -> bool {
        let key = format!(",\"type\":\"{kind}\",");
        memmem::find(self.raw(row).as_bytes(), key.as_bytes()).is_some()
    }

    /// The rows that match a short id: a number, a slug or both. `group` is a collection or a type.
    pub fn by_short_id(&self, group: Option<&str>, id: &str) -> Vec<usize> {
        let Some(wanted) = ShortId::new(id) else { return Vec::new() };
        let prefix = group.map(|group| format!("blue://docs/{group}/"));
        let number = wanted.number().and_then(Number::value).and_then(|n| u32::try_from(n).ok());
        let matches = |row: &usize| {
            let row_number = self.rows[*row].number;
            if number.is_some() && row_number.is_some() && number != row_number {
                return false;
            }
            // This excludes most rows without parsing their names.
            self.id(*row).contains(wanted.slug())
                && prefix.as_ref().is_none_or(|prefix| {
                    self.uri(*row).starts_with(prefix)
                        || self.is_kind(*row, group.unwrap_or_default())
                        || (wanted.is_plan() && self.is_kind(*row, "plan"))
                })
                && self.has_short_id(*row, &wanted)
        };
        (0..self.rows.len()).filter(matches).collect()
    }

    fn has_short_id(&self, row: usize, wanted: &ShortId) -> bool {
        let number = self.unescaped(row, NUMBER).and_then(Number::new);
        if wanted.number().is_some_and(|wanted| number.as_ref() != Some(wanted)) {
            return false;
        }
        // If two documents share a name, the id in the address is longer than the name.
        let matches = |path: &str| {
            let name = FileName::parse(path);
            wanted.matches(number.as_ref(), &name.slug, name.is_plan)
        };
        matches(&format!("{}.md", self.id(row))) || matches(self.path(row))
    }

    /// The three known addresses most similar to an unknown one. Addresses in the same collection come
    /// first, then those that share a word or a number with it.
    pub fn similar(&self, wanted: &str) -> Vec<String> {
        let end = (0..=MAX_NAME.min(wanted.len())).rev().find(|at| wanted.is_char_boundary(*at));
        let wanted = &wanted[..end.unwrap_or(0)];
        let (collection, id) = wanted.rsplit_once('/').unwrap_or(("", wanted));
        let words: Vec<&str> = id.split('-').filter(|word| !word.is_empty()).collect();
        let sort_key = |uri: &str| {
            let is_elsewhere = uri.rsplit_once('/').is_none_or(|(other, _)| other != collection);
            let shares_no_word = !words.iter().any(|word| uri.contains(word));
            (is_elsewhere, shares_no_word)
        };
        let rows = 0..self.rows.len();
        let mut keyed: Vec<_> = rows.map(|row| (sort_key(self.uri(row)), row)).collect();
        keyed.sort();
        keyed.truncate(MAX_COMPARED);
        let ranked = keyed.into_iter().map(|(key, row)| {
            (key, strsim::damerau_levenshtein(wanted, self.uri(row)), self.uri(row))
        });
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_unstable();
        ranked.into_iter().take(3).map(|(_, _, uri)| uri.to_string()).collect()
    }
}

/// The JSON key of the number.
const NUMBER: &str = ",\"number\":\"";

/// The JSON key of the weight.
const WEIGHT: &str = ",\"weight\":";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_pose_as_a_key() {
        let line = |title: &str, live: bool| {
            format!(
                "{{\"uri\":\"blue://docs/adrs/1-a\",\"path\":\"a.md\",\"type\":\"adr\",\"title\":{},\"status\":\"x\",\"live\":{live},\"hash\":\"\",\"bytes\":1,\"tokens\":1,\"weight\":7}}",
                serde_json::to_string(title).expect("a text is JSON")
            )
        };
        let title = "a\",\"live\":true,\"weight\":99,\"path\":\"b.md\",";
        let text = format!("{{}}\n{}\n", line(title, false));
        let catalogue = Catalogue::new(text).expect("an index");
        assert!(!catalogue.is_live(0));
        assert_eq!(catalogue.weight(0), 7);
        assert_eq!(catalogue.row_of_path("a.md"), Some(0));
        assert_eq!(catalogue.row_of_path("b.md"), None);
        assert_eq!(catalogue.line(0).expect("a line").title, title);
        assert!(Catalogue::new("{}\nnonsense\n".to_string()).is_err());
        assert_eq!(Catalogue::new(String::new()).expect("empty").n_documents(), 0);
    }
}
