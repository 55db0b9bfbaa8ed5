//! Documents that a few words are about, by title, address and summary.

use super::Catalogue;
use crate::wire::jsonl::DocumentLine;

/// A document that words fit.
pub struct Fitting<'a> {
    /// Its line in the index.
    pub document: &'a DocumentLine,
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

/// The documents that words fit, best first.
pub fn fitting<'a>(catalogue: &'a Catalogue, words: &str) -> Vec<Fitting<'a>> {
    let words = split(words);
    let wanted: Vec<&String> =
        words.iter().filter(|word| !COMMON.contains(&word.as_str())).take(16).collect();
    let mut fitting: Vec<Fitting<'_>> =
        catalogue.documents.iter().filter_map(|document| fit(document, &wanted)).collect();
    fitting.sort_by(|a, b| {
        let key = |fit: &Fitting<'_>| (fit.document.live, fit.score, fit.document.weight);
        key(b).cmp(&key(a)).then_with(|| a.document.uri.cmp(&b.document.uri))
    });
    fitting
}

fn fit<'a>(document: &'a DocumentLine, wanted: &[&String]) -> Option<Fitting<'a>> {
    let id = document.uri.rsplit('/').next().unwrap_or_default();
    let title = split(&format!("{} {} {id}", document.kind, document.title));
    let summary = split(&document.summary);
    let number = document.number.as_deref().map(|number| number.trim_start_matches('0'));
    let mut score = 0;
    let mut found = Vec::new();
    for word in wanted {
        let is = |other: &String| other == *word;
        let begins = |other: &String| word.len() >= 3 && other.starts_with(word.as_str());
        let points = if number.is_some_and(|number| number == word.trim_start_matches('0')) {
            12
        } else if title.iter().any(is) {
            8
        } else if title.iter().any(begins) {
            5
        } else if summary.iter().any(is) {
            3
        } else if summary.iter().any(begins) {
            2
        } else {
            continue;
        };
        score += points;
        found.push(word.as_str());
    }
    // Half the words must occur, or the document is about something else.
    let enough = !found.is_empty() && found.len() * 2 >= wanted.len();
    let reason = format!("has: {}", found.join(", "));
    enough.then_some(Fitting { document, score, reason })
}

fn split(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(uri: &str, title: &str, summary: &str, live: bool) -> DocumentLine {
        let line = serde_json::json!({
            "uri": uri, "path": "p.md", "type": "adr", "number": "0005", "title": title,
            "status": "accepted", "live": live, "hash": "", "bytes": 1, "tokens": 1, "weight": 0,
            "summary": summary,
        });
        serde_json::from_value(line).expect("a line")
    }

    #[test]
    fn titles_come_before_summaries_and_the_living_before_the_dead() {
        let catalogue = Catalogue {
            documents: vec![
                document("blue://docs/adrs/1-a", "Layout", "How the cache is kept", true),
                document("blue://docs/adrs/2-b", "The cache", "", true),
                document("blue://docs/adrs/3-c", "Cache of old", "cache", false),
                document("blue://docs/adrs/4-d", "Locks", "Nothing", true),
            ],
        };
        let found = fitting(&catalogue, "how do we cache?");
        let uris: Vec<&str> = found.iter().map(|fit| fit.document.uri.as_str()).collect();
        assert_eq!(uris, ["blue://docs/adrs/2-b", "blue://docs/adrs/1-a", "blue://docs/adrs/3-c"]);
        assert_eq!(found[0].reason, "has: cache");
        assert!(fitting(&catalogue, "the of and").is_empty());
    }
}
