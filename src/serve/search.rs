//! Finds documents by words in their title, address and summary.

use memchr::memmem::Finder;

use super::Catalogue;
use super::related::Related;
use crate::wire::jsonl::DocumentLine;

/// Words that are not looked for.
const STOP_WORDS: &[&str] = &[
    "a", "about", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "has",
    "how", "in", "is", "it", "of", "on", "or", "our", "should", "that", "the", "this", "to", "use",
    "was", "we", "what", "when", "where", "which", "why", "with",
];

/// Words of a query that are looked for.
const MAX_WORDS: usize = 16;

/// Returns the documents that match words, best first, at most `n`; and the number of all matches.
pub fn search(catalogue: &Catalogue, words: &str, n: usize) -> (Vec<Related>, usize) {
    let words = split(words);
    let wanted: Vec<&str> = words.iter().map(String::as_str).collect();
    let finders: Vec<Finder<'_>> = wanted.iter().map(Finder::new).collect();
    let mut lower = Vec::new();
    let mut found: Vec<((bool, u32, u32), usize)> = Vec::new();
    for row in 0..catalogue.n_documents() {
        lower.clear();
        lower.extend(catalogue.raw(row).bytes().map(|b| b.to_ascii_lowercase()));
        // This pass lowers ASCII letters only, so words with others count as present.
        let occur = wanted.iter().zip(&finders);
        let occur = occur.filter(|(word, f)| !word.is_ascii() || f.find(&lower).is_some());
        if is_enough(occur.count(), &wanted)
            && let Some(line) = catalogue.line(row)
            && let Some((score, _)) = score(&line, &wanted)
        {
            found.push(((catalogue.is_live(row), score, catalogue.weight(row)), row));
        }
    }
    let by = |(key, row): &((bool, u32, u32), usize)| (std::cmp::Reverse(*key), *row);
    found.sort_unstable_by_key(by);
    let related = |(_, row): &(_, usize)| {
        let document = catalogue.line(*row)?;
        let (score, reason) = score(&document, &wanted)?;
        Some(Related { document, score, reasons: vec![reason] })
    };
    (found.iter().take(n).filter_map(related).collect(), found.len())
}

/// Returns true if at least half of the words occur.
fn is_enough(n: usize, wanted: &[&str]) -> bool {
    n > 0 && n * 2 >= wanted.len()
}

/// Scores a document by the words that it has, and lists them.
fn score(document: &DocumentLine, wanted: &[&str]) -> Option<(u32, String)> {
    let id = document.uri.rsplit('/').next().unwrap_or_default();
    let title = format!("{} {} {id}", document.kind, document.title).to_lowercase();
    let summary = document.summary.to_lowercase();
    let number = document.number.as_deref().map(|number| number.trim_start_matches('0'));
    let mut score = 0;
    let mut found = Vec::new();
    for word in wanted {
        let is_number = number.is_some_and(|number| number == word.trim_start_matches('0'));
        let points = match (find_word(&title, word), find_word(&summary, word)) {
            _ if is_number => 12,
            (Some(Occurs::Whole), _) => 8,
            (Some(Occurs::Prefix), _) => 5,
            (None, Some(Occurs::Whole)) => 3,
            (None, Some(Occurs::Prefix)) => 2,
            (None, None) => continue,
        };
        score += points;
        found.push(*word);
    }
    is_enough(found.len(), wanted).then(|| (score, format!("has: {}", found.join(", "))))
}

/// The way in which a word occurs in a text.
enum Occurs {
    Whole,
    /// At the beginning of a longer word.
    Prefix,
}

/// Looks for a word in a text, in the middle of no other word.
fn find_word(text: &str, word: &str) -> Option<Occurs> {
    let mut prefix = None;
    for (at, _) in text.match_indices(word) {
        if text[..at].chars().next_back().is_some_and(char::is_alphanumeric) {
            continue;
        }
        if !text[at + word.len()..].chars().next().is_some_and(char::is_alphanumeric) {
            return Some(Occurs::Whole);
        }
        // Two letters begin too many words.
        prefix = (word.len() >= 3).then_some(Occurs::Prefix);
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
            document("blue://docs/adrs/1-a", "Layout", "How the cache is kept", true),
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
