//! Passwords and keys in the columns of a table.

use std::ops::Range;

use super::keyed_values::PASSWORD_WORDS;
use super::{Anchor, AnchorKind, Hit, public_values, randomness};
use crate::guard::rules::{PhraseTable, SECRET_WORDS};

/// The contents of a column.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Column {
    Password,
    /// Passwords, or the number of tests that pass.
    Pass,
    /// Random values: keys and tokens.
    Key,
    Login,
    Other,
}

/// Headings of a column `Pass`. The word alone is too common to be an anchor.
pub(super) const PASS_HEADINGS: [&str; 3] = ["| pass |", "|pass|", "| pass\n"];

static KEY_HEADINGS: PhraseTable = PhraseTable::new(SECRET_WORDS, "key_headings");
static KEY_QUALIFIERS: PhraseTable = PhraseTable::new(SECRET_WORDS, "key_qualifiers");
static LOGIN_HEADINGS: PhraseTable = PhraseTable::new(SECRET_WORDS, "login_headings");
static NOT_PASSWORDS: PhraseTable = PhraseTable::new(SECRET_WORDS, "not_passwords");

/// The longest line of headings, in bytes.
const MAX_HEADING: usize = 1_024;

/// Finds passwords in tables with an anchor in their headings.
pub(super) fn find(text: &str, anchors: &[Anchor], hits: &mut Vec<Hit>) {
    let kinds = [AnchorKind::PasswordWord, AnchorKind::SecretWord, AnchorKind::PrivateKey];
    let mut done = 0;
    for at in anchors.iter().filter(|at| kinds.contains(&at.kind)).map(|at| &at.range) {
        if at.start < done {
            continue;
        }
        let before = &text.as_bytes()[at.start.saturating_sub(MAX_HEADING)..at.start];
        let start = memchr::memrchr(b'\n', before)
            .map_or(at.start - before.len(), |end| at.start - before.len() + end + 1);
        let after = &text.as_bytes()[at.start..text.len().min(at.start + MAX_HEADING)];
        // A line this long is not a heading.
        let Some(n) = memchr::memchr(b'\n', after) else { continue };
        let end = at.start + n;
        done = end;
        if end - start <= MAX_HEADING && text.is_char_boundary(start) {
            done = done.max(find_in_table(text, start..end, hits));
        }
    }
}

/// Finds passwords below a line if it is the heading of a table, and returns the end of the table.
fn find_in_table(text: &str, heading: Range<usize>, hits: &mut Vec<Hit>) -> usize {
    let mut lines = lines(text, heading.end + 1);
    if !lines.next().is_some_and(|line| is_delimiter_row(&text[line])) {
        return heading.end;
    }
    let mut columns: Vec<Column> =
        cells(text, heading.clone()).map(|at| column(&text[at])).collect();
    let has_login = columns.contains(&Column::Login);
    for column in &mut columns {
        // Without a login beside it, a column `Pass` counts tests.
        match column {
            Column::Pass if has_login => *column = Column::Password,
            Column::Pass => *column = Column::Other,
            _ => {}
        }
    }
    let mut end = heading.end;
    for line in lines {
        if !text[line.clone()].contains('|') {
            break;
        }
        end = line.end;
        for (column, cell) in columns.iter().zip(cells(text, line)) {
            let value = trim_cell(text, cell);
            let hit = match column {
                Column::Password => is_password(&text[value.clone()], has_login),
                Column::Key => is_key(&text[value.clone()]),
                Column::Pass | Column::Login | Column::Other => false,
            };
            if hit {
                let rule = if *column == Column::Key { "secret" } else { "password" };
                hits.push(Hit { range: value, rule, confidence: 1 });
            }
        }
    }
    end
}

/// Returns the lines from an offset on.
fn lines(text: &str, from: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = from;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let n = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let line = at..at + n;
        at += n + 1;
        Some(line)
    })
}

/// Returns true for the line of dashes between the headings and the rows.
fn is_delimiter_row(line: &str) -> bool {
    line.contains("--") && line.contains('|') && line.bytes().all(|b| b"|:- \t>\r".contains(&b))
}

/// Returns the cells of a line, untrimmed.
fn cells(text: &str, line: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let row = text[line.clone()].trim_start_matches([' ', '\t', '>']);
    let row = row.strip_prefix('|').unwrap_or(row);
    let mut at = Some(line.end - row.len());
    std::iter::from_fn(move || {
        let start = at?;
        let mut bars = memchr::memchr_iter(b'|', &text.as_bytes()[start..line.end]);
        let bar = bars.find(|bar| !text[start..start + bar].ends_with('\\'));
        at = bar.map(|bar| start + bar + 1);
        Some(start..bar.map_or(line.end, |bar| start + bar))
    })
}

/// Classifies a column by the last word of its heading, without a remark in brackets.
fn column(heading: &str) -> Column {
    let heading = heading.split('(').next().unwrap_or_default().to_lowercase();
    let mut words = heading.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let Some(last) = words.next_back() else { return Column::Other };
    let mut password_words = PASSWORD_WORDS.texts().filter_map(|word| word.split(' ').next_back());
    let is_key =
        last != "key" || words.next_back().is_some_and(|word| KEY_QUALIFIERS.contains(word));
    match last {
        "pass" => Column::Pass,
        _ if password_words.any(|word| word == last) => Column::Password,
        _ if KEY_HEADINGS.contains(last) && is_key => Column::Key,
        _ if LOGIN_HEADINGS.contains(last) => Column::Login,
        _ => Column::Other,
    }
}

/// Returns the range of a cell without blanks, quotes and emphasis.
fn trim_cell(text: &str, cell: Range<usize>) -> Range<usize> {
    let is_around = |c: char| c.is_whitespace() || matches!(c, '`' | '*' | '"' | '\'' | '~');
    let trimmed = text[cell.clone()].trim_start_matches(is_around);
    let start = cell.end - trimmed.len();
    start..start + trimmed.trim_end_matches(is_around).len()
}

fn is_password(value: &str, has_login: bool) -> bool {
    if value.contains(char::is_whitespace) || value.contains("](") {
        return false;
    }
    let word = value.to_ascii_lowercase();
    let is_likely = has_login
        && (4..=128).contains(&value.len())
        && value.is_ascii()
        && !value.contains(['(', '/', '\\'])
        && !NOT_PASSWORDS.contains(&word)
        && !randomness::is_placeholder(value);
    is_likely || randomness::is_password(value) || value.len() >= 16 && randomness::is_random(value)
}

fn is_key(value: &str) -> bool {
    (16..=512).contains(&value.len())
        && value.bytes().all(|b| b.is_ascii_graphic())
        && !public_values::is_public(value, &(0..value.len()))
        && randomness::is_random(value)
        && !value.starts_with("0x")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::anchors;

    fn found(text: &str) -> Vec<&str> {
        let mut hits = Vec::new();
        find(text, &anchors::find(text), &mut hits);
        hits.into_iter().map(|hit| &text[hit.range]).collect()
    }

    #[test]
    fn finds_passwords_below_their_headings() {
        let text = "| Host | Password |\n|---|:--|\n| a | `hunter2` |\n| b | Tr0ub4dor&3 |\n| c | n/a |\n\nx";
        assert_eq!(found(text), ["hunter2", "Tr0ub4dor&3"]);
        let text = "> User | Password (staging)\n> ---|---\n> bob | swordfish\n> eve | <ask ops>\n";
        assert_eq!(found(text), ["swordfish"]);
        let text =
            "| Service | API key | Note |\n|---|---|---|\n| x | Zk3mQ9xW2vB7nR4tY8pL | y |\n";
        assert_eq!(found(text), ["Zk3mQ9xW2vB7nR4tY8pL"]);
    }

    #[test]
    fn skips_other_columns_and_words() {
        for text in [
            "| Field | Password policy |\n|---|---|\n| a | hunter2 |\n",
            "| Feature | Password |\n|---|---|\n| a | Supported |\n| b | yes |\n| c | bcrypt2 hash |\n",
            "| User | Password |\n|---|---|\n| varchar | varchar |\n| a | `<password>` |\n| b | ${PW} |\n",
            "| Token | Address |\n|---|---|\n| DAI | 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed |\n",
            "| Key | Value |\n|---|---|\n| 9f8b2c4d1e7a6350b4c2d8e1f7a93b60 | a password |\n",
            "Password | hunter2\nno rule below\n",
            "| Suite | Pass | Fail |\n|---|---|---|\n| unit | x86a64b32 | no |\n",
        ] {
            assert_eq!(found(text), [] as [&str; 0], "{text}");
        }
    }

    #[test]
    fn every_password_word_is_a_heading() {
        for word in PASSWORD_WORDS.texts() {
            let text = format!("| Host | {word} |\n|---|---|\n| a | hunter2 |\n");
            assert_eq!(found(&text), ["hunter2"], "{text}");
        }
        let text = "| User | Pass |\n|---|---|\n| a | swordfish |\n";
        assert_eq!(found(text), ["swordfish"]);
    }
}
