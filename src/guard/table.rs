//! Passwords in the columns of a table, under a heading that calls them so.

use std::ops::Range;

use super::anchor::{Anchor, Kind};
use super::secret::Hit;
use super::{keyed, value};

/// What stands in a column.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Column {
    Password,
    /// A password, or how many tests pass.
    Pass,
    /// Something drawn at random: keys and tokens.
    Key,
    Login,
    Other,
}

const PASSWORDS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "passwort",
    "kennwort",
    "passe",
    "contraseña",
    "senha",
    "пароль",
    "密码",
    "密碼",
    "パスワード",
];
const KEYS: &[&str] = &["secret", "token", "key", "apikey", "credential", "credentials"];
const LOGINS: &[&str] = &[
    "user",
    "username",
    "login",
    "account",
    "email",
    "benutzer",
    "benutzername",
    "utilisateur",
    "usuario",
    "usuário",
    "логин",
    "用户名",
];

/// What stands in a column of passwords where there is none.
const NO_VALUES: &[&str] = &[
    "yes",
    "no",
    "text",
    "varchar",
    "char",
    "hash",
    "hashed",
    "bcrypt",
    "encrypted",
    "hidden",
    "same",
    "default",
    "blank",
    "unset",
    "ldap",
    "vault",
    "supported",
    "unsupported",
    "partial",
    "prompt",
    "plain",
    "plaintext",
    "generated",
    "random",
    "unknown",
    "email",
    "http",
    "https",
];

/// No heading is longer than this.
const MAX_HEADING: usize = 1_024;

/// Passwords in tables whose headings have one of the anchors.
pub(super) fn find(text: &str, anchors: &[Anchor], hits: &mut Vec<Hit>) {
    let kinds = [Kind::Password, Kind::Word, Kind::Pem];
    let mut done = 0;
    for at in anchors.iter().filter(|at| kinds.contains(&at.kind)).map(|at| &at.range) {
        if at.start < done {
            continue;
        }
        let before = &text.as_bytes()[at.start.saturating_sub(MAX_HEADING)..at.start];
        let start = memchr::memrchr(b'\n', before)
            .map_or(at.start - before.len(), |end| at.start - before.len() + end + 1);
        let after = &text.as_bytes()[at.start..text.len().min(at.start + MAX_HEADING)];
        // A line without an end near has no table below it.
        let Some(n) = memchr::memchr(b'\n', after) else { continue };
        let end = at.start + n;
        done = end;
        if end - start <= MAX_HEADING && text.is_char_boundary(start) {
            done = done.max(in_table(text, start..end, hits));
        }
    }
}

/// The passwords below a line, if it is the heading of a table; and where the table ends.
fn in_table(text: &str, heading: Range<usize>, hits: &mut Vec<Hit>) -> usize {
    let mut lines = lines(text, heading.end + 1);
    if !lines.next().is_some_and(|line| is_rule(&text[line])) {
        return heading.end;
    }
    let mut columns: Vec<Column> =
        cells(text, heading.clone()).map(|at| column(&text[at])).collect();
    let named = columns.contains(&Column::Login);
    for column in &mut columns {
        // Without a login beside it, `Pass` counts tests.
        match column {
            Column::Pass if named => *column = Column::Password,
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
            let value = bare(text, cell);
            let hit = match column {
                Column::Password => is_password(&text[value.clone()], named),
                Column::Key => is_key(&text[value.clone()]),
                Column::Pass | Column::Login | Column::Other => false,
            };
            if hit {
                let rule = if *column == Column::Key { "secret" } else { "password" };
                hits.push(Hit { range: value, rule, sureness: 1 });
            }
        }
    }
    end
}

/// The lines from a place on.
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

/// Whether a line is the one of dashes between a heading and its rows.
fn is_rule(line: &str) -> bool {
    line.contains("--") && line.contains('|') && line.bytes().all(|b| b"|:- \t>\r".contains(&b))
}

/// The cells of a line, with the blanks around them.
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

/// What the last word of a heading calls its column. What is in brackets behind it says no more.
fn column(heading: &str) -> Column {
    let heading = heading.split('(').next().unwrap_or_default().to_lowercase();
    let mut words = heading.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let Some(last) = words.next_back() else { return Column::Other };
    let key = last != "key"
        || words.next_back().is_some_and(|word| {
            matches!(word, "api" | "access" | "private" | "secret" | "auth" | "signing" | "master")
        });
    match last {
        "pass" => Column::Pass,
        last if PASSWORDS.contains(&last) => Column::Password,
        last if KEYS.contains(&last) && key => Column::Key,
        last if LOGINS.contains(&last) => Column::Login,
        _ => Column::Other,
    }
}

/// A cell without blanks and what Markdown puts around it.
fn bare(text: &str, cell: Range<usize>) -> Range<usize> {
    let signs = |c: char| c.is_whitespace() || matches!(c, '`' | '*' | '"' | '\'' | '~');
    let trimmed = text[cell.clone()].trim_start_matches(signs);
    let start = cell.end - trimmed.len();
    start..start + trimmed.trim_end_matches(signs).len()
}

fn is_password(value: &str, named: bool) -> bool {
    if value.contains(char::is_whitespace) || value.contains("](") {
        return false;
    }
    let word = value.to_ascii_lowercase();
    let given = named
        && (4..=128).contains(&value.len())
        && value.is_ascii()
        && !value.contains(['(', '/', '\\'])
        && !NO_VALUES.contains(&word.as_str())
        && !value::is_stand_in(value);
    given || value::is_password(value) || value.len() >= 16 && value::is_random(value)
}

fn is_key(value: &str) -> bool {
    (16..=512).contains(&value.len())
        && value.bytes().all(|b| b.is_ascii_graphic())
        && !keyed::is_public(value)
        && value::is_random(value)
        && !value.starts_with("0x")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::anchor;

    fn found(text: &str) -> Vec<&str> {
        let mut hits = Vec::new();
        find(text, &anchor::anchors(text), &mut hits);
        hits.into_iter().map(|hit| &text[hit.range]).collect()
    }

    #[test]
    fn what_stands_under_password_is_found() {
        let text = "| Host | Password |\n|---|:--|\n| a | `hunter2` |\n| b | Tr0ub4dor&3 |\n| c | n/a |\n\nx";
        assert_eq!(found(text), ["hunter2", "Tr0ub4dor&3"]);
        let text = "> User | Password (staging)\n> ---|---\n> bob | swordfish\n> eve | <ask ops>\n";
        assert_eq!(found(text), ["swordfish"]);
        let text =
            "| Service | API key | Note |\n|---|---|---|\n| x | Zk3mQ9xW2vB7nR4tY8pL | y |\n";
        assert_eq!(found(text), ["Zk3mQ9xW2vB7nR4tY8pL"]);
    }

    #[test]
    fn other_columns_and_words_are_left_alone() {
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
    fn every_heading_can_fire() {
        let passwords = PASSWORDS.iter().map(|word| match *word {
            "passe" => "Mot de passe".to_string(),
            word => word.to_string(),
        });
        let before = ["api", "access", "private", "secret", "auth", "signing", "master"];
        let keys = before.iter().map(|word| format!("{word} key"));
        let keys = keys.chain(KEYS.iter().filter(|word| **word != "key").map(|w| w.to_string()));
        let table = |heading: &str, value: &str| {
            let rows = ["| Host | {h} |\n|---|---|\n| a | {v} |\n", "Host | {h}\n--|--\na | {v}\n"];
            rows.map(|rows| rows.replace("{h}", heading).replace("{v}", value))
        };
        let passwords = passwords.flat_map(|word| table(&word, "hunter2"));
        let keys = keys.flat_map(|word| table(&word, "Zk3mQ9xW2vB7nR4tY8pL"));
        let logins = LOGINS
            .iter()
            .flat_map(|word| table("password", "swordfish").map(|text| text.replace("Host", word)));
        let pass = table("Pass", "swordfish").map(|text| text.replace("Host", "User"));
        let all = passwords.chain(keys).chain(logins).chain(pass);
        let silent: Vec<String> = all.filter(|text| found(text).is_empty()).collect();
        assert_eq!(silent, [] as [String; 0]);
    }
}
