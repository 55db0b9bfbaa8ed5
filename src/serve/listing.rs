//! Filters for lists of documents: words, status and date.

use std::cmp::Reverse;

use super::Catalogue;
use crate::wire::jsonl::DocumentLine;

/// Conditions that a document must meet to be listed. All of them must hold.
#[derive(Clone, Debug, Default)]
pub struct ListFilter {
    /// A collection or type.
    pub group: Option<String>,
    /// Words in lower case that occur in title, number, summary or path.
    pub words: Vec<String>,
    /// A status, normalized or as written, or `live` or `history`.
    pub status: Option<String>,
    /// The first day, month or year.
    pub since: Option<IsoDate>,
    /// The last day, month or year.
    pub until: Option<IsoDate>,
}

/// Documents that meet the conditions.
#[derive(Debug)]
pub struct Listing {
    /// The documents, sorted by address; if they are chosen by date, the newest first.
    pub documents: Vec<DocumentLine>,
    /// Number of documents that meet all conditions but have no date to compare.
    pub n_undated: usize,
}

/// A year, month or day: `2024`, `2024-03` or `2024-03-01`. Dates compare as texts.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct IsoDate(String);

impl IsoDate {
    /// Parses a date with `-`, `/` or `.` between its parts. `None` if the text starts with no date.
    pub fn parse(text: &str) -> Option<IsoDate> {
        let mut parts = text.trim().splitn(3, ['-', '/', '.']);
        let digits = |part: &str| -> Option<u32> {
            let n = part.bytes().take_while(u8::is_ascii_digit).count();
            part[..n].parse().ok()
        };
        let year = parts.next().filter(|year| year.len() == 4)?;
        let mut date = format!("{:04}", year.parse::<u32>().ok()?);
        for max in [12, 31] {
            if let Some(part) = parts.next() {
                let n = digits(part).filter(|n| (1..=max).contains(n))?;
                date += &format!("-{n:02}");
            }
        }
        Some(IsoDate(date))
    }

    /// Returns true if this day is in or after a day, month or year.
    fn is_since(&self, first: &IsoDate) -> bool {
        self.0 >= first.0
    }

    /// Returns true if this day is in or before a day, month or year.
    fn is_until(&self, last: &IsoDate) -> bool {
        self.0.get(..last.0.len()).unwrap_or(&self.0) <= last.0.as_str()
    }
}

impl ListFilter {
    /// Returns a filter for words that a user typed. The first may be a collection or a type.
    pub fn new(catalogue: &Catalogue, typed: &[String]) -> ListFilter {
        let mut words = typed.iter().flat_map(|text| text.split_whitespace()).peekable();
        let group = words.next_if(|word| is_group(catalogue, word)).map(str::to_string);
        ListFilter { group, words: words.map(str::to_lowercase).collect(), ..Default::default() }
    }

    /// Returns the documents that meet the conditions.
    pub fn list(&self, catalogue: &Catalogue) -> anyhow::Result<Listing> {
        let mut documents = catalogue.lines(self.group.as_deref())?;
        documents.retain(|line| self.has_words(line) && self.has_status(line));
        let mut n_undated = 0;
        if self.since.is_some() || self.until.is_some() {
            documents.retain(|line| match line.date.as_deref().and_then(IsoDate::parse) {
                Some(date) => {
                    self.since.as_ref().is_none_or(|first| date.is_since(first))
                        && self.until.as_ref().is_none_or(|last| date.is_until(last))
                }
                None => {
                    n_undated += 1;
                    false
                }
            });
            let date = |line: &DocumentLine| line.date.as_deref().and_then(IsoDate::parse);
            documents.sort_by_cached_key(|line| Reverse(date(line)));
        }
        Ok(Listing { documents, n_undated })
    }

    fn has_words(&self, line: &DocumentLine) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let number = line.number.as_deref().unwrap_or_default();
        let text = format!("{} {number} {} {}", line.title, line.path, line.summary);
        let text = text.to_lowercase();
        self.words.iter().all(|word| text.contains(word.as_str()))
    }

    /// Returns true if the status matches.
    pub fn has_status(&self, line: &DocumentLine) -> bool {
        // A file that only says where its document moved is an alias. It states no status.
        let is_alias = line.status == "moved" && line.status_text.is_none();
        let Some(wanted) = &self.status else { return !is_alias };
        let wanted = wanted.to_lowercase();
        match wanted.as_str() {
            "live" => line.live,
            "history" => !line.live,
            word => line.status == word || starts_with_word(line.status_text.as_deref(), word),
        }
    }
}

/// Returns true if a document has this collection or type.
fn is_group(catalogue: &Catalogue, word: &str) -> bool {
    let prefix = format!("blue://docs/{word}/");
    let rows = 0..catalogue.n_documents();
    rows.into_iter()
        .any(|row| catalogue.uri(row).starts_with(&prefix) || catalogue.is_kind(row, word))
}

/// Returns true if a status as written starts with a word: `Accepted (2024)` with `accepted`.
fn starts_with_word(text: Option<&str>, word: &str) -> bool {
    let text = text.unwrap_or_default().to_lowercase();
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let rest = text.strip_prefix(word);
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> IsoDate {
        IsoDate::parse(text).expect("a date")
    }

    #[test]
    fn a_date_may_be_a_year_a_month_or_a_day() {
        assert_eq!(date("2024/3/1"), date("2024-03-01"));
        assert_eq!(date("2024-03-01T10:00"), date("2024-03-01"));
        for wrong in ["", "24-01-01", "2024-13", "2024-00", "2024-01-32", "soon", "2024-x", "é"] {
            assert_eq!(IsoDate::parse(wrong), None, "{wrong}");
        }
        assert!(date("2024-03-01").is_since(&date("2024")));
        assert!(date("2024-12-31").is_until(&date("2024")));
        assert!(date("2024-03-31").is_until(&date("2024-03")));
        assert!(!date("2024-04-01").is_until(&date("2024-03")));
        assert!(!date("2023-12-31").is_since(&date("2024")));
    }

    #[test]
    fn a_written_status_matches_by_its_first_words() {
        assert!(starts_with_word(Some("**Last Call** (2024)"), "last call"));
        assert!(starts_with_word(Some("Accepted"), "accepted"));
        assert!(!starts_with_word(Some("Acceptedly"), "accepted"));
        assert!(!starts_with_word(None, "accepted"));
    }
}
