//! Values that a word before them marks as a secret: `password = …`, `Authorization: Bearer …`.

use std::ops::Range;

use super::public_values::{has_public_name, is_public};
use super::randomness::{self, CharacterStats};
use super::{Anchor, AnchorKind, Hit, base64, slice};
use crate::guard::rules::{PhraseTable, SECRET_WORDS};

const fn table(name: &'static str) -> PhraseTable {
    PhraseTable::new(SECRET_WORDS, name)
}

static SECRET_WORDS_NEARBY: PhraseTable = table("secret_words");
static ASSIGNED_SECRET_WORDS: PhraseTable = table("assigned_secret_words");
pub(super) static PASSWORD_WORDS: PhraseTable = table("password_words");
static OTHER_PASSWORD_WORDS: PhraseTable = table("other_password_words");
static OTHER_NAME_ENDINGS: PhraseTable = table("other_name_endings");
static OTHER_TOKENS: PhraseTable = table("other_tokens");
static AUTHORIZATION_SCHEMES: PhraseTable = table("authorization_schemes");

/// Tables whose words the scan looks for. A word in several tables belongs to the first one.
pub(super) static SEARCHED: &[(AnchorKind, &PhraseTable)] = &[
    (AnchorKind::PasswordWord, &PASSWORD_WORDS),
    (AnchorKind::PasswordWord, &OTHER_PASSWORD_WORDS),
    (AnchorKind::SecretWord, &SECRET_WORDS_NEARBY),
    (AnchorKind::SecretWord, &ASSIGNED_SECRET_WORDS),
];

pub(super) const AUTHORIZATION_ANCHORS: [&str; 1] = ["authorization"];

/// Keys of a name and a password in base64: `"auth": "…"` of Docker, `_auth=…` of npm.
pub(super) const ENCODED_LOGIN_ANCHORS: [&str; 6] =
    ["auth\"", "auth'", "auth\\", "auth:", "auth=", "auth ="];

/// Returns the offsets of words that mark a value as a secret, in order.
pub(super) fn word_offsets(anchors: &[Anchor]) -> Vec<usize> {
    let kinds = [AnchorKind::SecretWord, AnchorKind::PasswordWord, AnchorKind::PrivateKey];
    anchors.iter().filter(|at| kinds.contains(&at.kind)).map(|at| at.range.start).collect()
}

/// Returns true if a word is near enough to a run to mark a value in it.
pub(super) fn is_near(words: &[usize], run: &Range<usize>) -> bool {
    let first = words.partition_point(|at| at + REACH + 16 < run.start);
    words.get(first).is_some_and(|at| *at < run.end)
}

/// The largest distance between a word and its value, in bytes.
const REACH: usize = 96;

/// Returns true for the bytes of a random value.
fn in_value(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"_-+/.~=".contains(&b)
}

/// Finds random values in a run that a word before them marks as a secret.
pub(super) fn find_random(text: &str, run: &Range<usize>, hits: &mut Vec<Hit>) {
    let bytes = text.as_bytes();
    let mut at = run.start;
    while at < run.end {
        let n = bytes[at..run.end].iter().take_while(|b| in_value(**b)).count();
        // In `name=value` only the value counts. Base64 may end in `=`.
        let piece = &text[at..at + n];
        let body = piece.trim_end_matches('=').len();
        let start = at + piece[..body].rfind('=').map_or(0, |i| i + 1);
        let end = at + n;
        if end - start >= 16
            && let Some(rule) = marking_rule(text, run, &(start..end))
        {
            hits.push(Hit { range: start..end, rule, confidence: 1 });
        }
        at += n + 1;
    }
}

/// Returns the rule of the word that marks the value at `at` as a secret, if one does.
fn marking_rule(text: &str, run: &Range<usize>, at: &Range<usize>) -> Option<&'static str> {
    let value = text[at.clone()].trim_end_matches(['.', '=']);
    if !randomness::is_random(value) || is_public(text, at) {
        return None;
    }
    let before = slice(text, at.start.saturating_sub(REACH)..at.start).to_ascii_lowercase();
    let before = last_lines(&before);
    let nearby = SECRET_WORDS_NEARBY.texts().map(|word| (word, true));
    let (word, is_nearby_word, end) = nearby
        .chain(ASSIGNED_SECRET_WORDS.texts().map(|word| (word, false)))
        .filter_map(|(word, nearby)| Some((word, nearby, before.rfind(word)? + word.len())))
        .max_by_key(|(_, _, end)| *end)?;
    let between = &before[end..];
    // `credentialSubject.vin` is a claim of a verifiable credential.
    let is_claim = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    if word == "credential" && is_claim(between.strip_prefix('s').unwrap_or(between)) {
        return None;
    }
    let name = before[..end - word.len()].trim_end_matches(['_', '-', ' ']);
    if word == "token" && OTHER_TOKENS.texts().any(|other| name.ends_with(other)) {
        return None;
    }
    if is_assignment(between) {
        // The token of a contract is identified by a public address.
        let is_address = value.starts_with("0x") && matches!(word, "token" | "bearer");
        return (!is_address).then_some(rule(word));
    }
    let in_url = slice(text, run.start.max(at.start.saturating_sub(512))..at.start).contains("://");
    let has_other_name = has_public_name(between);
    let fits = is_nearby_word && !in_url && (20..=200).contains(&value.len()) && !has_other_name;
    (fits && randomness::is_surely_random(value)).then_some(rule(word))
}

fn rule(word: &str) -> &'static str {
    match word {
        "password" | "passwd" | "pwd" | "passphrase" => "password",
        "token" | "bearer" => "token",
        _ => "secret",
    }
}

/// Returns the last four lines.
fn last_lines(before: &str) -> &str {
    let mut breaks = memchr::memrchr_iter(b'\n', before.as_bytes());
    // There may be a blank line and a fence between `Password:` and a block of code.
    breaks.nth(3).map_or(before, |at| &before[at + 1..])
}

/// Returns true if the text between a word and a value assigns the value.
fn is_assignment(between: &str) -> bool {
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let tail = &between[..between.find(|c| !name(c)).unwrap_or(between.len())];
    if tail.len() > 24 || OTHER_NAME_ENDINGS.texts().any(|ending| tail.ends_with(ending)) {
        return false;
    }
    let is_markup = |c: char| c.is_whitespace() || "\"'`*\\_]".contains(c);
    let rest = between[tail.len()..].trim_start_matches(is_markup);
    let signs = ["=>", ":=", "==", "->", "=", ":", "|", "is ", "was ", "("];
    let scheme =
        |rest: &str| rest.trim_matches(|c| is_markup(c) || "><([{|~:".contains(c)).to_string();
    signs.iter().any(|sign| {
        let Some(value) = rest.strip_prefix(sign) else { return false };
        matches!(scheme(value).as_str(), "" | "bearer" | "basic" | "token")
    }) || tail.is_empty() && rest.is_empty() && !between.contains('\n')
}

/// Finds a password of any length behind `password =`.
pub(super) fn find_password(text: &str, at: &Range<usize>) -> Option<Hit> {
    let rest = slice(text, at.end..at.end + 200);
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let tail = &rest[..rest.find(|c| !name(c)).unwrap_or(rest.len())];
    let lower = tail.to_ascii_lowercase();
    if lower.starts_with('s') || OTHER_NAME_ENDINGS.texts().any(|ending| lower.ends_with(ending)) {
        return None;
    }
    let is_markup = |c: char| " \t\"'`*\\".contains(c);
    let sign = rest[tail.len()..].trim_start_matches(is_markup);
    let spaced = tail.is_empty() && rest.starts_with([' ', '\t']);
    // `identified by` is also prose. In SQL the password is quoted.
    let is_sql = text[at.clone()].eq_ignore_ascii_case("identified by");
    if is_sql && !rest.trim_start().starts_with(['\'', '"']) {
        return None;
    }
    // `<password>` is a placeholder unless it is an XML element.
    if text[..at.start].ends_with('<') && !rest.contains("</") {
        return None;
    }
    let login = spaced && (is_sql || is_login(text, at));
    let flag = spaced && slice(text, at.start.saturating_sub(2)..at.start).ends_with('-');
    let after = match sign.strip_prefix(['=', ':', '：', '|', '>']) {
        Some(after) => after.trim_start_matches(['=', '>']),
        None if login || flag => sign,
        None => return None,
    };
    let value = after.trim_start_matches(|c| is_markup(c) || c == '|');
    let quote = after[..after.len() - value.len()].chars().last().filter(|c| "\"'`".contains(*c));
    let start = at.end + rest.len() - value.len();
    let value = leading_value(value, quote);
    // Among the parameters of a URL it ends at the next one.
    let is_parameter = text[..at.start].ends_with(['?', '&']);
    let value = if is_parameter { value.split('&').next()? } else { value };
    if value.is_empty() {
        return None;
    }
    let has_sign = after.len() != rest.len();
    let is_certain = login || has_sign && is_connection(text, at);
    let secret = text[at.clone()].eq_ignore_ascii_case("secret");
    let found = match (is_certain, secret) {
        (true, _) => value.len() >= 2 && !randomness::is_placeholder(value),
        (false, true) => {
            randomness::is_password(value)
                && CharacterStats::of(value).changes >= 22
                && !is_public(text, &(start..start + value.len()))
        }
        (false, false) => randomness::is_password(value),
    };
    let rule = if secret { "secret" } else { "password" };
    found.then(|| Hit { range: start..start + value.len(), rule, confidence: 1 })
}

/// Returns the value at the start of a text, up to the closing quote or to the first delimiter.
fn leading_value(text: &str, quote: Option<char>) -> &str {
    let is_delimiter = |c: char| c.is_whitespace() || "\"'`;,<|*".contains(c);
    let end =
        text.find(|c: char| quote.map_or_else(|| is_delimiter(c), |quote| c == quote || c == '\n'));
    let value = &text[..end.unwrap_or(text.len())];
    if quote.is_some() { value } else { value.trim_end_matches(['.', ')', ']', '}']) }
}

/// Returns true if the login or the machine of a `.netrc` file is right before the password.
fn is_login(text: &str, at: &Range<usize>) -> bool {
    let before = slice(text, at.start.saturating_sub(REACH)..at.start);
    let mut words = before.split_whitespace().rev();
    let (name, key) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_prose = matches!(name, "and" | "or" | "with" | "&");
    let named =
        matches!(key, "login" | "account") && !is_prose || key == "machine" && name.contains('.');
    named && before.ends_with([' ', '\n', '\t'])
}

/// Returns true if the password is part of a connection string: `Server=…;Password=…;`.
fn is_connection(text: &str, at: &Range<usize>) -> bool {
    let before = slice(text, at.start.saturating_sub(2 * REACH)..at.start).to_ascii_lowercase();
    let after = slice(text, at.end..at.end + REACH).to_ascii_lowercase();
    let before = before.rsplit('\n').next().unwrap_or_default();
    let after = after.split('\n').next().unwrap_or_default();
    let parts = ["server=", "data source=", "host=", "uid=", "user id=", "username=", "user="];
    let named = |line: &str| parts.iter().any(|part| line.contains(part));
    // In a connection string there is no blank between `password` and `=`.
    after.starts_with('=') && (named(before) || after.contains(';') && named(after))
}

/// Finds a name and a password in base64 behind the key `auth`.
pub(super) fn find_encoded_login(text: &str, at: &Range<usize>) -> Option<Hit> {
    if text[..at.start].ends_with(char::is_alphanumeric) {
        return None;
    }
    let all = slice(text, at.end..at.end + 4_096);
    let is_sign = |c: char| c.is_whitespace() || ":=\"'`\\".contains(c);
    let rest = all.trim_start_matches(is_sign);
    let start = at.end + all.len() - rest.len();
    if !text[at.start..start].contains([':', '=']) {
        return None;
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || "+/-_=".contains(c);
    let value = &rest[..rest.find(|c| !fits(c)).unwrap_or(rest.len())];
    let login = base64::decode(value.as_bytes());
    let is_printable = login.iter().all(|b| matches!(b, b' '..=b'~'));
    let has_parts =
        login.iter().position(|b| *b == b':').is_some_and(|n| n > 0 && n + 1 < login.len());
    let rule = "login in base64";
    let hit = || Hit { range: start..start + value.len(), rule, confidence: 2 };
    (value.len() >= 8 && is_printable && has_parts).then(hit)
}

/// Finds the credential in `Authorization: Basic …` or `Bearer …`.
pub(super) fn find_authorization(text: &str, at: &Range<usize>) -> Option<Hit> {
    let all = slice(text, at.end..at.end + 400);
    let is_sign = |c: char| c.is_whitespace() || ":=\"'`,".contains(c);
    let line = all.trim_start_matches(is_sign);
    let first = &line[..line.find(|c: char| c.is_whitespace()).unwrap_or(line.len())];
    let scheme = first.to_ascii_lowercase();
    let has_scheme = scheme == "basic" || AUTHORIZATION_SCHEMES.contains(&scheme);
    let rest = if has_scheme { line[first.len()..].trim_start() } else { line };
    let start = at.end + all.len() - rest.len();
    let end = rest.find(|c: char| !c.is_ascii() || !in_value(c as u8)).unwrap_or(rest.len());
    let credential = &rest[..end];
    let found = match scheme.as_str() {
        "basic" => base64::decode(credential.as_bytes()).contains(&b':'),
        _ if has_scheme => credential.len() >= 12 && randomness::is_mixed_token(credential),
        // Without a scheme only a clearly random value counts.
        _ => credential.len() >= 20 && randomness::is_surely_random(credential),
    };
    let rule = "credential of a request";
    found.then(|| Hit { range: start..start + credential.len(), rule, confidence: 2 })
}

#[cfg(test)]
mod tests {
    use crate::guard::{anchors, secrets};

    #[test]
    fn finds_a_login_in_base64_behind_auth() {
        let found = |text: &str| -> Vec<String> {
            let secrets = secrets::find(text, &anchors::find(text));
            secrets.into_iter().map(|secret| text[secret.range].to_string()).collect()
        };
        // `bob:swordfish`, and a robot's name with a long token.
        let logins = ["Ym9iOnN3b3JkZmlzaA==", "cm9ib3QkY2k6bzhLMm1OdkJ0WjdxUnc5eERmNEdoSjBhU2xQ"];
        for login in logins {
            for text in [
                format!(
                    "{{\"auths\": {{\"https://index.docker.io/v1/\": {{\"auth\": \"{login}\"}}}}}}"
                ),
                format!("{{\n  \"auths\": {{\n    \"x.io\": {{\n      \"auth\":\"{login}\",\n"),
                format!("{{\\\"auths\\\":{{\\\"x.io\\\":{{\\\"auth\\\":\\\"{login}\\\"}}}}}}"),
                format!("{{'auth' : '{login}'}}"),
                format!("auths:\n  x.io:\n    auth: {login}\n"),
                format!("//x.io/:_auth={login}\n"),
                format!("_auth = \"{login}\"\n"),
                format!("`\"auth\": \"{login}\"`"),
            ] {
                assert_eq!(found(&text), [login], "{text}");
            }
        }
        for text in [
            "\"auth\": \"required\"",
            "auth: basic",
            "auth: [jwt, oauth]",
            "\"auth\": \"<base64 of user:password>\"",
            "\"auth\": \"${AUTH}\"",
            "auth: AuthenticationMiddleware",
            "auth:login",
            "oauth: Ym9iOnN3b3JkZmlzaA==",
            "the auth = something else",
        ] {
            assert_eq!(found(text), [] as [&str; 0], "{text}");
        }
    }
}
