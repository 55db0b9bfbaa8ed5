//! Passwords in URLs: `postgres://user:password@host`, `jdbc:oracle:thin:user/password@host`.

use std::ops::Range;

use super::{Hit, randomness, slice};

/// The longest user name and password together, in bytes.
const MAX_BYTES: usize = 512;

/// The scheme of Oracle's driver, which has no `://`.
const ORACLE: &str = "jdbc:oracle:";

pub(super) const ANCHORS: [&str; 2] = ["://", ORACLE];

/// Finds the password in the URL of an anchor.
pub(super) fn find(text: &str, at: &Range<usize>) -> Option<Hit> {
    let rest = slice(text, at.end..at.end + MAX_BYTES);
    memchr::memchr(b'@', rest.as_bytes())?;
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '|');
    if text[at.clone()].eq_ignore_ascii_case(ORACLE) {
        let rest = rest.split(|c| ends(c) && !matches!(c, '<' | '>')).next().unwrap_or_default();
        let driver = rest.find(':')? + 1;
        let password = password_behind_slash(&rest[driver..])?;
        let start = at.end + driver + password.start;
        let range = start..start + password.len();
        return Some(Hit { range, rule: "password in an address", confidence: 2 });
    }
    let rest = rest.split(ends).next().unwrap_or_default();
    let scheme = slice(text, at.start.saturating_sub(24)..at.start);
    let scheme = scheme.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '+').next()?;
    // In a web address a slash ends the host; elsewhere it may be part of a password.
    let web = matches!(scheme, "http" | "https" | "ws" | "wss" | "blue" | "");
    let rest = if web { rest.split(['/', '?', '#', ')']).next()? } else { rest };
    let (user, host) = rest.rsplit_once('@')?;
    let colon = user.find(':')?;
    let password = &user[colon + 1..];
    if password.is_empty() || randomness::is_placeholder(password) || user[..colon].contains('/') {
        return None;
    }
    // `guest:guest@localhost` is the default of a service on the author's machine or network.
    if *password == user[..colon] && is_local(host) {
        return None;
    }
    let is_word = password.bytes().all(|b| b.is_ascii_lowercase())
        || password.bytes().all(|b| b.is_ascii_digit());
    // `https://abc:xyz@example.com`
    if is_word && password.len() <= 4 && is_reserved(host) {
        return None;
    }
    let start = at.end + colon + 1;
    Some(Hit {
        range: start..start + password.len(),
        rule: "password in an address",
        confidence: 2,
    })
}

/// Returns true for a host that exists only in documentation (RFC 2606).
fn is_reserved(host: &str) -> bool {
    let name = host.split([':', '/', '?', '#']).next().unwrap_or_default().trim_end_matches('.');
    [".example", "example.com", "example.org", "example.net", ".test", ".invalid"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// Returns true for this machine and for a name without a domain.
fn is_local(host: &str) -> bool {
    let name = host.split([':', '/', '?', '#']).next().unwrap_or_default();
    !name.is_empty() && !name.contains('.') || name.starts_with("127.") || host.starts_with("[::1]")
}

/// Returns the range of the password in `name/password@host`.
pub(super) fn password_behind_slash(word: &str) -> Option<Range<usize>> {
    let (login, _) = word.rsplit_once('@')?;
    let slash = login.find('/')?;
    let password = &login[slash + 1..];
    let is_password = slash > 0 && !password.is_empty() && !randomness::is_placeholder(password);
    (is_password && !login[..slash].contains(':')).then_some(slash + 1..login.len())
}
