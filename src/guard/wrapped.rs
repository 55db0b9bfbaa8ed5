//! Tokens that run over the end of a line.

use std::ops::Range;

use super::format;
use super::secret::Hit;
use super::value::Signs;

/// The most lines that a token goes on for, and the most signs of all.
const MAX_LINES: usize = 6;
const MAX_SIGNS: usize = 8_192;

/// The token that begins in a run of signs and goes on in the next lines.
///
/// Only what begins as nothing but a token does is followed: the end of one line and the beginning
/// of the next are together hardly ever what they look like.
pub(super) fn find(text: &str, run: &Range<usize>, hits: &mut Vec<Hit>) {
    let Some(first) = next_piece(text, run.end) else { return };
    let Some(start) = format::unfinished(&text[run.clone()]) else { return };
    let mut whole = text[run.start + start..run.end].to_string();
    let mut pieces = vec![(0, run.start + start)];
    let mut next = Some(first);
    for _ in 0..MAX_LINES {
        let Some(piece) = next.filter(|piece| whole.len() + piece.len() <= MAX_SIGNS) else {
            break;
        };
        // A token that is whole already is followed by a word as often as not.
        if is_whole(&whole) && !is_random_piece(&text[piece.clone()]) {
            break;
        }
        pieces.push((whole.len(), piece.start));
        whole.push_str(&text[piece.clone()]);
        next = next_piece(text, piece.end);
    }
    let place = |at: usize| {
        let (from, start) = pieces[pieces.partition_point(|(from, _)| *from <= at) - 1];
        start + at - from
    };
    format::in_signs(&whole, |range, rule| {
        if range.start == 0 && range.end > run.end - run.start - start {
            let range = place(0)..place(range.end - 1) + 1;
            hits.push(Hit { range, rule, sureness: 3 });
        }
    });
}

/// What the next line begins with, if this one ends here: signs of a token, behind those of a
/// quotation.
fn next_piece(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = &text[end..];
    let line = rest.strip_prefix('\n').or_else(|| rest.strip_prefix("\r\n"))?;
    let signs = line.trim_start_matches([' ', '\t', '>']);
    let indent = line.len() - signs.len();
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"_-.=+/%".contains(&b);
    let n = signs.bytes().take(MAX_SIGNS).take_while(|b| fits(*b)).count();
    let start = text.len() - signs.len();
    (indent <= 32 && n >= 2).then(|| start..start + n)
}

fn is_whole(signs: &str) -> bool {
    let mut whole = false;
    format::in_signs(signs, |range, _| whole |= range == (0..signs.len()));
    whole
}

/// Whether this is part of a token and no word.
fn is_random_piece(piece: &str) -> bool {
    let signs = Signs::of(piece);
    let mixed = signs.digit && signs.letter() || signs.lower && signs.upper && signs.changes >= 12;
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
    fn a_token_is_followed_over_the_end_of_its_line() {
        let token = "ghp_Zk3mQ9xW2vB7nR4t\n> Y8pL5sD1fG6hJ0cA9eUq";
        assert_eq!(found(&format!("{token} is it")), [token]);
        assert_eq!(found(&format!("{}\n", token.replace("9eUq", "\n9eUq"))).len(), 1);
        let header = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIi";
        let token = format!("{header}\nOiIxMjM0In0.Zk3mQ9xW2vB7\nnR4tY8pL5sD1fG6h");
        assert_eq!(found(&format!("{token}\nThe end.")), [&token]);
    }

    #[test]
    fn what_follows_a_whole_token_is_not_taken_for_a_part_of_it() {
        let token = format!("ghp_{}", "Zk3mQ9xW2vB7nR4tY8pL5sD1fG6hJ0cA9eUq");
        assert_eq!(found(&format!("{token}\nwhich was revoked")), [] as [&str; 0]);
        assert_eq!(found("https://example.org/a/long/path\nand4more"), [] as [&str; 0]);
    }
}
