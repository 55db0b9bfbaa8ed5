//! Finds documents by words in their title, address and summary.

use memchr::memmem::Finder;

use super::Catalogue;
use super::related::Related;
use crate::wire::jsonl::DocumentLine;

/// Words that are not searched.
const STOP_WORDS: &[&str] = &[
    "a", "about", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "has",
    "how", "in", "is", "it", "of", "on", "or", "our", "should", "that", "the", "this", "to", "use",
    "was", "we", "what", "when", "where", "which", "why", "with",
];

/// Maximum number of words of a query that are searched.
const MAX_WORDS: usize = 16;

/// Returns at most `limit` documents that match a query, best first, and the number of all matches.
pub fn search(catalogue: &Catalogue, query: &str, limit: usize) -> (Vec<Related>, usize) {
    let words = split(query);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let finders: Vec<Finder<'_>> = words.iter().map(Finder::new).collect();
    let mut lower = Vec::new();
    let mut matches: Vec<((bool, u32, u32), usize)> = Vec::new();
    for row in 0..catalogue.n_documents() {
        lower.clear();
        lower.extend(catalogue.raw(row).bytes().map(|b| b.to_ascii_lowercase()));
        // Only ASCII letters are lowered here, so a word with other letters counts as present.
        let present = words.iter().zip(&finders);
        let present = present.filter(|(word, f)| !word.is_ascii() || f.find(&lower).is_some());
        if is_enough(present.count(), &words)
            && let Some(line) = catalogue.line(row)
            && let Some((score, _)) = score(&line, &words)
        {
            matches.push(((catalogue.is_live(row), score, catalogue.weight(row)), row));
        }
    }
    matches.sort_unstable_by_key(|(key, row)| (std::cmp::Reverse(*key), *row));
    let related = |(_, row): &(_, usize)| {
        let document = catalogue.line(*row)?;
        let (score, reason) = score(&document, &words)?;
        Some(Related { document, score, reasons: vec![reason] })
    };
    (matches.iter().take(limit).filter_map(related).collect(), matches.len())
}

/// Returns true if at least half of the words occur.
fn is_enough(n: usize, words: &[&str]) -> bool {
    n > 0 && n * 2 >= words.len()
}

/// Scores a document by the words that it contains, and lists these words as the reason. `None` if
/// it contains too few.
fn score(document: &DocumentLine, words: &[&str]) -> Option<(u32, String)> {
    let id = document.uri.rsplit('/').next().unwrap_or_default();
    let title = format!("{} {} {id}", document.kind, document.title).to_lowercase();
    let summary = document.summary.to_lowercase();
    let number = document.number.as_deref().map(|number| number.trim_start_matches('0'));
    let mut score = 0;
    let mut found = Vec::new();
    for word in words {
        let is_number = number.is_some_and(|number| number == word.trim_start_matches('0'));
        let points = match (find_word(&title, word), find_word(&summary, word)) {
            _ if is_number => 12,
            (Some(WordMatch::Whole), _) => 8,
            (Some(WordMatch::Prefix), _) => 5,
            (None, Some(WordMatch::Whole)) => 3,
            (None, Some(WordMatch::Prefix)) => 2,
            (None, None) => continue,
        };
        score += points;
        found.push(*word);
    }
    is_enough(found.len(), words).then(|| (score, format!("has: {}", found.join(", "))))
}

/// A match of a word in a text.
enum WordMatch {
    Whole,
    /// The start of a longer word.
    Prefix,
}

/// Finds a word in a text. The middle of a longer word does not match.
fn find_word(text: &str, word: &str) -> Option<WordMatch> {
    let mut prefix = None;
    for (at, _) in text.match_indices(word) {
        if text[..at].chars().next_back().is_some_and(char::is_alphanumeric) {
            continue;
        }
        if !text[at + word.len()..].chars().next().is_some_and(char::is_alphanumeric) {
            return Some(WordMatch::Whole);
        }
        // Too many words start with the same two letters.
        prefix = (word.len() >= 3).then_some(WordMatch::Prefix);
    }
    prefix
}

fn split(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let is_term = |word: &String| !word.is_empty() && !STOP_WORDS.contains(&word.as_str());
    words.filter(is_term).take(MAX_WORDS).collect()
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
    fn titles_rank_above_summaries_and_live_documents_above_history() {
        let lines = [
            "{}\n".to_string(),
            document("blue://docs/adrs/1-a", "Layout", "How the cache is stored", true),
            document("blue://docs/adrs/2-b", "The CACHE", "", true),
            document("blue://docs/adrs/3-c", "Cache of old", "cache", false),
            document("blue://docs/adrs/4-d", "Locks", "Nothing", true),
            document("blue://docs/adrs/5-e", "Überblick", "", true),
        ];
        let catalogue = Catalogue::new(lines.concat()).expect("an index");
        let uris = |words: &str| -> Vec<String> {
            let (found, n) = search(&catalogue, words, 10);
            assert_eq!(found.len(), n);
            let id = |uri: &str| uri.rsplit('/').next().unwrap_or_default().to_string();
            found.iter().map(|fit| id(&fit.document.uri)).collect()
        };
        assert_eq!(uris("how do we cache?"), ["2-b", "1-a", "3-c"]);
        assert_eq!(uris("überblick"), ["5-e"]);
        assert_eq!(uris("lock"), ["4-d"]);
        assert!(uris("the of and").is_empty() && uris("").is_empty());
        assert!(uris("ock").is_empty() && uris("cache zebra lion").is_empty());
        assert_eq!(search(&catalogue, "cache", 1).1, 3);
        assert_eq!(search(&catalogue, "cache", 1).0[0].reasons, ["has: cache"]);
    }
}
