//! Tokens that continue in the next lines.

use std::ops::Range;

use super::randomness::CharacterStats;
use super::{Hit, token_patterns};

/// Limits of the lines in which a token continues, and of its length.
const MAX_LINES: usize = 6;
const MAX_BYTES: usize = 8_192;

/// Finds the token that begins in a run and continues in the next lines.
///
/// Only an unmistakable prefix is followed. Otherwise the end of one line and the beginning of the
/// next would be taken for a token too often.
pub(super) fn find(text: &str, run: &Range<usize>, hits: &mut Vec<Hit>) {
    let Some(first) = next_piece(text, run.end) else { return };
    let Some(start) = token_patterns::unfinished(&text[run.clone()]) else { return };
    let mut whole = text[run.start + start..run.end].to_string();
    let mut pieces = vec![(0, run.start + start)];
    let mut next = Some(first);
    for _ in 0..MAX_LINES {
        let Some(piece) = next.filter(|piece| whole.len() + piece.len() <= MAX_BYTES) else {
            break;
        };
        // A token that is already complete is often followed by an ordinary word.
        if is_complete(&whole) && !is_random_piece(&text[piece.clone()]) {
            break;
        }
        pieces.push((whole.len(), piece.start));
        whole.push_str(&text[piece.clone()]);
        next = next_piece(text, piece.end);
    }
    let offset = |at: usize| {
        let (from, start) = pieces[pieces.partition_point(|(from, _)| *from <= at) - 1];
        start + at - from
    };
    token_patterns::find_in_run(&whole, |range, rule| {
        if range.start == 0 && range.end > run.end - run.start - start {
            let range = offset(0)..offset(range.end - 1) + 1;
            hits.push(Hit { range, rule, confidence: 3 });
        }
    });
}

/// Returns the first word of the next line, without the prefix of a quotation, if the line ends
/// here.
fn next_piece(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = &text[end..];
    let line = rest.strip_prefix('\n').or_else(|| rest.strip_prefix("\r\n"))?;
    let piece = line.trim_start_matches([' ', '\t', '>']);
    let indent = line.len() - piece.len();
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"_-.=+/%".contains(&b);
    let n = piece.bytes().take(MAX_BYTES).take_while(|b| fits(*b)).count();
    let start = text.len() - piece.len();
    (indent <= 32 && n >= 2).then(|| start..start + n)
}

fn is_complete(token: &str) -> bool {
    let mut complete = false;
    token_patterns::find_in_run(token, |range, _| complete |= range == (0..token.len()));
    complete
}

/// Returns true if a piece is part of a token and not a word.
fn is_random_piece(piece: &str) -> bool {
    let stats = CharacterStats::of(piece);
    let mixed =
        stats.digit && stats.has_letter() || stats.lower && stats.upper && stats.changes >= 12;
    piece.len() >= 4 && mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut hits = Vec::new();
        let end = text.find('\n').unwrap_or(text.len());
        find(text, &(0..end), &mut hits);
        hits.into_iter().map(|hit| &text[hit.range]).collect()
    }

    #[test]
    fn a_token_is_followed_into_the_next_lines() {
        let token = "ghp_Zk3mQ9xW2vB7nR4t\n> Y8pL5sD1fG6hJ0cA9eUq";
        assert_eq!(found(&format!("{token} is it")), [token]);
        assert_eq!(found(&format!("{}\n", token.replace("9eUq", "\n9eUq"))).len(), 1);
        let header = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIi";
        let token = format!("{header}\nOiIxMjM0In0.Zk3mQ9xW2vB7\nnR4tY8pL5sD1fG6h");
        assert_eq!(found(&format!("{token}\nThe end.")), [&token]);
    }

    #[test]
    fn a_word_after_a_complete_token_is_not_part_of_it() {
        let token = format!("ghp_{}", "Zk3mQ9xW2vB7nR4tY8pL5sD1fG6hJ0cA9eUq");
        assert_eq!(found(&format!("{token}\nwhich was revoked")), [] as [&str; 0]);
        assert_eq!(found("https://example.org/a/long/path\nand4more"), [] as [&str; 0]);
    }
}
