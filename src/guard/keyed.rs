//! Values that a word near them calls secret.

use std::ops::Range;

use super::anchor::{Anchor, Kind, part};
use super::secret::Hit;
use super::{base64, value};

/// Words that call what follows a secret, each with whether it does so without `=` or `:`, too.
const WORDS: &[(&str, bool)] = &[
    ("password", true),
    ("passwd", true),
    ("passphrase", true),
    ("secret", true),
    ("credential", true),
    ("api key", true),
    ("api_key", true),
    ("api-key", true),
    ("apikey", true),
    ("access key", true),
    ("access_key", true),
    ("access-key", true),
    ("accesskey", true),
    ("private key", true),
    ("private_key", true),
    ("privatekey", true),
    ("auth key", false),
    ("auth_key", false),
    ("authkey", false),
    ("account_key", false),
    ("encryption key", false),
    ("encryption_key", false),
    ("signing key", false),
    ("signing_key", false),
    ("master key", false),
    ("master_key", false),
    ("encryptionkey", false),
    ("signingkey", false),
    ("masterkey", false),
    ("accountkey", false),
    ("pwd", false),
    ("token", false),
    ("bearer", false),
    ("akia", true),
];

/// Words behind which a password may be as short as people choose them.
pub(super) const PASSWORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "db_pass",
    "identified by",
    "passwort",
    "kennwort",
    "mot de passe",
    "contraseña",
    "senha",
    "пароль",
    "Пароль",
    "密码",
    "密碼",
    "パスワード",
];

/// What the words begin with that no other anchor has.
pub(super) const ANCHORS: &[&str] = &[
    "credential",
    "api key",
    "api_key",
    "api-key",
    "apikey",
    "access key",
    "access_key",
    "access-key",
    "accesskey",
    "private_key",
    "privatekey",
    "auth key",
    "auth_key",
    "authkey",
    "account_key",
    "encryption key",
    "encryption_key",
    "signing key",
    "signing_key",
    "master key",
    "master_key",
    "encryptionkey",
    "signingkey",
    "masterkey",
    "accountkey",
    "token",
    "bearer",
    "akia",
    // The heading of a column; the word alone is everywhere.
    "| pass |",
    "|pass|",
    "| pass\n",
];

/// Where such words stand, in order.
pub(super) fn places(anchors: &[Anchor]) -> Vec<usize> {
    let kinds = [Kind::Word, Kind::Password, Kind::Pem];
    anchors.iter().filter(|at| kinds.contains(&at.kind)).map(|at| at.range.start).collect()
}

/// Whether a word is near enough to a run to call something in it secret.
pub(super) fn is_near(words: &[usize], run: &Range<usize>) -> bool {
    let first = words.partition_point(|at| at + REACH + 16 < run.start);
    words.get(first).is_some_and(|at| *at < run.end)
}

/// Endings of names that make them the name of something else: `tokenId`, `secret_name`.
const OTHERS: &[&str] = &[
    "hash", "address", "id", "digest", "sha", "checksum", "commit", "public", "contract", "name",
    "type", "url", "uri", "count", "supply", "symbol", "index", "path", "file", "ref", "arn",
    "length", "size",
];

/// How far a word may stand before its value.
const REACH: usize = 96;

/// Signs that a value may have; others end it.
fn in_value(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"_-+/.~=".contains(&b)
}

/// Random values in a run of signs that a word before them calls secret.
pub(super) fn long(text: &str, run: &Range<usize>, hits: &mut Vec<Hit>) {
    let bytes = text.as_bytes();
    let mut at = run.start;
    while at < run.end {
        let n = bytes[at..run.end].iter().take_while(|b| in_value(**b)).count();
        // `name=value` is two pieces, and so is what an equals sign at the end belongs to.
        let piece = &text[at..at + n];
        let body = piece.trim_end_matches('=').len();
        let start = at + piece[..body].rfind('=').map_or(0, |i| i + 1);
        let end = at + n;
        if end - start >= 16
            && let Some(rule) = called_secret(text, run, &(start..end))
        {
            hits.push(Hit { range: start..end, rule, sureness: 1 });
        }
        at += n + 1;
    }
}

fn called_secret(text: &str, run: &Range<usize>, at: &Range<usize>) -> Option<&'static str> {
    let found = text[at.clone()].trim_end_matches(['.', '=']);
    if !value::is_random(found) || is_public(found) {
        return None;
    }
    let before = part(text, at.start.saturating_sub(REACH)..at.start).to_ascii_lowercase();
    let before = last_lines(&before);
    let (word, surely, end) = WORDS
        .iter()
        .filter_map(|(word, surely)| Some((*word, *surely, before.rfind(word)? + word.len())))
        .max_by_key(|(_, _, end)| *end)?;
    let between = &before[end..];
    if assigned(between) {
        let hex = found.strip_prefix("0x");
        let refused = hex.is_some() && matches!(word, "token" | "bearer");
        return (!refused).then_some(rule(word));
    }
    let in_address =
        part(text, run.start.max(at.start.saturating_sub(512))..at.start).contains("://");
    let near = surely && !in_address && found.len() >= 20 && found.len() <= 200;
    (near && value::is_surely_random(found)).then_some(rule(word))
}

fn rule(word: &str) -> &'static str {
    match word {
        "password" | "passwd" | "pwd" | "passphrase" => "password",
        "token" | "bearer" => "token",
        _ => "secret",
    }
}

/// What everybody may know although it looks random: a key's public half, hashes in lock files,
/// content addresses, pictures.
pub(super) fn is_public(value: &str) -> bool {
    let hash = ["sha1-", "sha256-", "sha384-", "sha512-", "AAAA", "Qm", "bafy", "z6Mk"];
    let address = value.strip_prefix("0x").is_some_and(|hex| hex.len() == 40);
    address
        || hash.iter().any(|start| value.starts_with(start))
        || value.starts_with("iVBOR")
        || value.contains("://")
}

/// At most the line of the value and the one before it.
fn last_lines(before: &str) -> &str {
    let mut breaks = memchr::memrchr_iter(b'\n', before.as_bytes());
    // A blank line and a fence may stand between `Password:` and a block of code.
    breaks.nth(3).map_or(before, |at| &before[at + 1..])
}

/// Whether the text between a word and a value gives the one to the other.
fn assigned(between: &str) -> bool {
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let tail = &between[..between.find(|c| !name(c)).unwrap_or(between.len())];
    if tail.len() > 24 || OTHERS.iter().any(|other| tail.ends_with(other)) {
        return false;
    }
    let quiet = |c: char| c.is_whitespace() || "\"'`*\\_]".contains(c);
    let rest = between[tail.len()..].trim_start_matches(quiet);
    let signs = ["=>", ":=", "==", "->", "=", ":", "|", "is ", "was ", "("];
    let bearer = |rest: &str| rest.trim_matches(|c| quiet(c) || "><([{|~:".contains(c)).to_string();
    signs.iter().any(|sign| {
        let Some(value) = rest.strip_prefix(sign) else { return false };
        matches!(bearer(value).as_str(), "" | "bearer" | "basic" | "token")
    }) || tail.is_empty() && rest.is_empty() && !between.contains('\n')
}

/// A password of any length behind `password =`.
pub(super) fn short(text: &str, at: &Range<usize>) -> Option<Hit> {
    let rest = part(text, at.end..at.end + 200);
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let tail = &rest[..rest.find(|c| !name(c)).unwrap_or(rest.len())];
    let lower = tail.to_ascii_lowercase();
    if lower.starts_with('s') || OTHERS.iter().any(|other| lower.ends_with(other)) {
        return None;
    }
    let quiet = |c: char| " \t\"'`*\\".contains(c);
    let sign = rest[tail.len()..].trim_start_matches(quiet);
    let spaced = tail.is_empty() && rest.starts_with([' ', '\t']);
    // In SQL it is quoted; in prose it is followed by anything.
    let by = text[at.clone()].eq_ignore_ascii_case("identified by");
    if by && !rest.trim_start().starts_with(['\'', '"']) {
        return None;
    }
    // `<password>` is a stand-in unless something closes it.
    if text[..at.start].ends_with('<') && !rest.contains("</") {
        return None;
    }
    let login = spaced && (by || is_login(text, at));
    let flag = spaced && part(text, at.start.saturating_sub(2)..at.start).ends_with('-');
    let after = match sign.strip_prefix(['=', ':', '：', '|', '>']) {
        Some(after) => after.trim_start_matches(['=', '>']),
        None if login || flag => sign,
        None => return None,
    };
    let value = after.trim_start_matches(|c| quiet(c) || c == '|');
    let quote = after[..after.len() - value.len()].chars().last().filter(|c| "\"'`".contains(*c));
    let start = at.end + rest.len() - value.len();
    let value = up_to_end(value, quote);
    // Among the parameters of an address it ends where the next one begins.
    let asked = text[..at.start].ends_with(['?', '&']);
    let value = if asked { value.split('&').next()? } else { value };
    if value.is_empty() {
        return None;
    }
    let given = login || is_connection(text, at, after.len() != rest.len());
    let secret = text[at.clone()].eq_ignore_ascii_case("secret");
    let found = match (given, secret) {
        (true, _) => value.len() >= 2 && !value::is_stand_in(value),
        (false, true) => value::is_password(value) && value::Signs::of(value).changes >= 22,
        (false, false) => value::is_password(value),
    };
    let rule = if secret { "secret" } else { "password" };
    found.then(|| Hit { range: start..start + value.len(), rule, sureness: 1 })
}

/// The value at the start of a text: up to its closing quote, or as far as one without goes.
fn up_to_end(text: &str, quote: Option<char>) -> &str {
    let bare = |c: char| c.is_whitespace() || "\"'`;,<|*".contains(c);
    let end = text.find(|c: char| quote.map_or_else(|| bare(c), |quote| c == quote || c == '\n'));
    let value = &text[..end.unwrap_or(text.len())];
    if quote.is_some() { value } else { value.trim_end_matches(['.', ')', ']', '}']) }
}

/// Whether `.netrc` names who logs in, or where, right before the password.
fn is_login(text: &str, at: &Range<usize>) -> bool {
    let before = part(text, at.start.saturating_sub(REACH)..at.start);
    let mut words = before.split_whitespace().rev();
    let (name, what) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let named = matches!(what, "login" | "account") || what == "machine" && name.contains('.');
    named && before.ends_with([' ', '\n', '\t'])
}

/// Whether the password is one of the parts of a connection string: `Server=…;Password=…;`.
fn is_connection(text: &str, at: &Range<usize>, assigned: bool) -> bool {
    let before = part(text, at.start.saturating_sub(2 * REACH)..at.start).to_ascii_lowercase();
    let after = part(text, at.end..at.end + REACH).to_ascii_lowercase();
    let before = before.rsplit('\n').next().unwrap_or_default();
    let after = after.split('\n').next().unwrap_or_default();
    let parts = ["server=", "data source=", "host=", "uid=", "user id=", "username=", "user="];
    let named = |line: &str| parts.iter().any(|part| line.contains(part));
    // `password=` has no blank before its sign where it is a part of a string.
    assigned && after.starts_with('=') && (named(before) || after.contains(';') && named(after))
}

/// Keys behind which a name and a password stand in base64: `"auth": "…"` of Docker, `_auth=…` of npm.
pub(super) const LOGINS: &[&str] = &["auth\"", "auth'", "auth\\", "auth:", "auth=", "auth ="];

/// The value of such a key, if it is a login.
pub(super) fn login(text: &str, at: &Range<usize>) -> Option<Hit> {
    if text[..at.start].ends_with(char::is_alphanumeric) {
        return None;
    }
    let all = part(text, at.end..at.end + 4_096);
    let sign = |c: char| c.is_whitespace() || ":=\"'`\\".contains(c);
    let rest = all.trim_start_matches(sign);
    let start = at.end + all.len() - rest.len();
    if !text[at.start..start].contains([':', '=']) {
        return None;
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || "+/-_=".contains(c);
    let value = &rest[..rest.find(|c| !fits(c)).unwrap_or(rest.len())];
    let login = base64::decoded(value.as_bytes());
    let printed = login.iter().all(|b| matches!(b, b' '..=b'~'));
    let parted =
        login.iter().position(|b| *b == b':').is_some_and(|n| n > 0 && n + 1 < login.len());
    let rule = "login in base64";
    let hit = || Hit { range: start..start + value.len(), rule, sureness: 2 };
    (value.len() >= 8 && printed && parted).then(hit)
}

/// Words that say how a request's credential is meant.
const SCHEMES: &[&str] =
    &["bearer", "token", "apikey", "api-key", "key", "ssws", "splunk", "geniekey", "bot", "pat"];

/// The credential in `Authorization: Basic …` or `Bearer …`.
pub(super) fn header(text: &str, at: &Range<usize>) -> Option<Hit> {
    let all = part(text, at.end..at.end + 400);
    let sign = |c: char| c.is_whitespace() || ":=\"'`,".contains(c);
    let line = all.trim_start_matches(sign);
    let first = &line[..line.find(|c: char| c.is_whitespace()).unwrap_or(line.len())];
    let scheme = first.to_ascii_lowercase();
    let schemed = scheme == "basic" || SCHEMES.contains(&scheme.as_str());
    let rest = if schemed { line[first.len()..].trim_start() } else { line };
    let start = at.end + all.len() - rest.len();
    let end = rest.find(|c: char| !c.is_ascii() || !in_value(c as u8)).unwrap_or(rest.len());
    let credential = &rest[..end];
    let found = match scheme.as_str() {
        "basic" => base64::decoded(credential.as_bytes()).contains(&b':'),
        _ if schemed => credential.len() >= 12 && value::is_token(credential, true),
        // Without a word for it only what cannot be anything else.
        _ => credential.len() >= 20 && value::is_surely_random(credential),
    };
    let rule = "credential of a request";
    found.then(|| Hit { range: start..start + credential.len(), rule, sureness: 2 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::{anchor, secret};

    fn is_found(text: &str) -> bool {
        !secret::find(text, &anchor::anchors(text)).is_empty()
    }

    #[test]
    fn every_word_that_calls_a_value_secret_can_fire() {
        let random = "wJalrXUtnFEMI7K3MDENGbPxRfiCYzq8Lk2mNvBt";
        let words = WORDS.iter().map(|(word, _)| format!("{word}: {random}"));
        let sure = WORDS.iter().filter(|(_, surely)| *surely);
        let sure = sure.map(|(word, _)| format!("our {word} for the database there {random}"));
        let passwords = PASSWORDS.iter().map(|word| match *word {
            "identified by" => format!("{word} 'hunter2'"),
            "secret" => format!("{word} = h8nt3r2x"),
            _ => format!("{word} = hunter2"),
        });
        let schemes = SCHEMES.iter().map(|scheme| format!("Authorization: {scheme} {random}"));
        let anchors = ANCHORS.iter().filter(|anchor| !anchor.contains('|'));
        let anchors = anchors.map(|anchor| format!("{anchor} = {random}"));
        let all = words.chain(sure).chain(passwords).chain(schemes).chain(anchors);
        let silent: Vec<String> = all.filter(|text| !is_found(text)).collect();
        assert_eq!(silent, [] as [String; 0]);
    }

    #[test]
    fn a_login_in_base64_behind_auth_is_found() {
        let found = |text: &str| -> Vec<String> {
            let secrets = secret::find(text, &anchor::anchors(text));
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
