//! Documents that a few words are about, by title, address and summary.

use memchr::memmem::Finder;

use super::Catalogue;
use crate::wire::jsonl::DocumentLine;

/// A document that words fit.
pub struct Fitting {
    /// Its line in the index.
    pub document: DocumentLine,
    /// How well; larger is better.
    pub score: u32,
    /// Why, in words.
    pub reason: String,
}

/// Words that say nothing.
const COMMON: &[&str] = &[
    "a", "about", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "has",
    "how", "in", "is", "it", "of", "on", "or", "our", "should", "that", "the", "this", "to", "use",
    "was", "we", "what", "when", "where", "which", "why", "with",
];

/// How many words are looked for.
const MAX_WORDS: usize = 16;

/// The documents that words fit, best first, as many as are wanted, and how many there are.
pub fn fitting(catalogue: &Catalogue, words: &str, n: usize) -> (Vec<Fitting>, usize) {
    let words = split(words);
    let wanted: Vec<&str> = words.iter().map(String::as_str).collect();
    let finders: Vec<Finder<'_>> = wanted.iter().map(Finder::new).collect();
    let mut lower = Vec::new();
    let mut found: Vec<((bool, u32, u32), usize)> = Vec::new();
    for row in 0..catalogue.n_documents() {
        lower.clear();
        lower.extend(catalogue.raw(row).bytes().map(|b| b.to_ascii_lowercase()));
        // Lower case beyond ASCII is not looked for here; such words count.
        let occur = wanted.iter().zip(&finders);
        let occur = occur.filter(|(word, f)| !word.is_ascii() || f.find(&lower).is_some());
        if is_enough(occur.count(), &wanted)
            && let Some(line) = catalogue.line(row)
            && let Some((score, _)) = fit(&line, &wanted)
        {
            found.push(((catalogue.is_live(row), score, catalogue.weight(row)), row));
        }
    }
    let by = |(key, row): &((bool, u32, u32), usize)| (std::cmp::Reverse(*key), *row);
    found.sort_unstable_by_key(by);
    let told = |(_, row): &(_, usize)| {
        let document = catalogue.line(*row)?;
        let (score, reason) = fit(&document, &wanted)?;
        Some(Fitting { document, score, reason })
    };
    (found.iter().take(n).filter_map(told).collect(), found.len())
}

/// Half the words must occur, or the document is about something else.
fn is_enough(n: usize, wanted: &[&str]) -> bool {
    n > 0 && n * 2 >= wanted.len()
}

/// How well words fit a document, and which.
fn fit(document: &DocumentLine, wanted: &[&str]) -> Option<(u32, String)> {
    let id = document.uri.rsplit('/').next().unwrap_or_default();
    let title = format!("{} {} {id}", document.kind, document.title).to_lowercase();
    let summary = document.summary.to_lowercase();
    let number = document.number.as_deref().map(|number| number.trim_start_matches('0'));
    let mut score = 0;
    let mut found = Vec::new();
    for word in wanted {
        let is_number = number.is_some_and(|number| number == word.trim_start_matches('0'));
        let points = match (begins(&title, word), begins(&summary, word)) {
            _ if is_number => 12,
            (Some(Word::Whole), _) => 8,
            (Some(Word::Start), _) => 5,
            (None, Some(Word::Whole)) => 3,
            (None, Some(Word::Start)) => 2,
            (None, None) => continue,
        };
        score += points;
        found.push(*word);
    }
    is_enough(found.len(), wanted).then(|| (score, format!("has: {}", found.join(", "))))
}

/// How much of a word another is.
enum Word {
    Whole,
    Start,
}

/// Whether a word of a text is one that is wanted, or begins with it.
fn begins(text: &str, word: &str) -> Option<Word> {
    let mut start = None;
    for (at, _) in text.match_indices(word) {
        if text[..at].chars().next_back().is_some_and(char::is_alphanumeric) {
            continue;
        }
        if !text[at + word.len()..].chars().next().is_some_and(char::is_alphanumeric) {
            return Some(Word::Whole);
        }
        // Two letters begin too many words.
        start = (word.len() >= 3).then_some(Word::Start);
    }
    start
}

fn split(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let told = |word: &String| !word.is_empty() && !COMMON.contains(&word.as_str());
    words.filter(told).take(MAX_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(uri: &str, title: &str, summary: &str, live: bool) -> String {
        format!(
            "{{\"uri\":\"{uri}\",\"path\":\"p.md\",\"type\":\"adr\",\"number\":\"0005\",\"title\":\"{title}\",\"status\":\"accepted\",\"live\":{live},\"hash\":\"\",\"bytes\":1,\"tokens\":1,\"weight\":0,\"summary\":\"{summary}\"}}\n"
        )
    }

    #[test]
    fn titles_come_before_summaries_and_the_living_before_the_dead() {
        let lines = [
            "{}\n".to_string(),
            document("blue://docs/adrs/1-a", "Layout", "How the cache is kept", true),
            document("blue://docs/adrs/2-b", "The CACHE", "", true),
            document("blue://docs/adrs/3-c", "Cache of old", "cache", false),
            document("blue://docs/adrs/4-d", "Locks", "Nothing", true),
            document("blue://docs/adrs/5-e", "Überblick", "", true),
        ];
        let catalogue = Catalogue::new(lines.concat()).expect("an index");
        let uris = |words: &str| -> Vec<String> {
            let (found, n) = fitting(&catalogue, words, 10);
            assert_eq!(found.len(), n);
            let id = |uri: &str| uri.rsplit('/').next().unwrap_or_default().to_string();
            found.iter().map(|fit| id(&fit.document.uri)).collect()
        };
        assert_eq!(uris("how do we cache?"), ["2-b", "1-a", "3-c"]);
        assert_eq!(uris("überblick"), ["5-e"]);
        assert_eq!(uris("lock"), ["4-d"]);
        assert!(uris("the of and").is_empty() && uris("").is_empty());
        assert!(uris("ock").is_empty() && uris("cache zebra lion").is_empty());
        assert_eq!(fitting(&catalogue, "cache", 1).1, 3);
        assert_eq!(fitting(&catalogue, "cache", 1).0[0].reason, "has: cache");
    }
}
