//! Addresses with a password in them: `postgres://user:password@host`, `jdbc:oracle:thin:user/password@host`.

use std::ops::Range;

use super::anchor::part;
use super::secret::Hit;
use super::value;

/// No user and password are longer than this together.
const MAX_BYTES: usize = 512;

/// What the addresses of Oracle's driver begin with, which has no `://`.
pub(super) const ORACLE: &str = "jdbc:oracle:";

/// The password in the address whose `://`, or whose beginning, is an anchor.
pub(super) fn find(text: &str, at: &Range<usize>) -> Option<Hit> {
    let rest = part(text, at.end..at.end + MAX_BYTES);
    memchr::memchr(b'@', rest.as_bytes())?;
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '|');
    if text[at.clone()].eq_ignore_ascii_case(ORACLE) {
        let rest = rest.split(|c| ends(c) && !matches!(c, '<' | '>')).next().unwrap_or_default();
        let driver = rest.find(':')? + 1;
        let password = slashed(&rest[driver..])?;
        let start = at.end + driver + password.start;
        let range = start..start + password.len();
        return Some(Hit { range, rule: "password in an address", sureness: 2 });
    }
    let rest = rest.split(ends).next().unwrap_or_default();
    let scheme = part(text, at.start.saturating_sub(24)..at.start);
    let scheme = scheme.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '+').next()?;
    // In an address of the web a slash ends the host; elsewhere it may be part of a password.
    let web = matches!(scheme, "http" | "https" | "ws" | "wss" | "blue" | "");
    let rest = if web { rest.split(['/', '?', '#', ')']).next()? } else { rest };
    let (user, _) = rest.rsplit_once('@')?;
    let colon = user.find(':')?;
    let password = &user[colon + 1..];
    if password.is_empty() || value::is_stand_in(password) || user[..colon].contains('/') {
        return None;
    }
    let start = at.end + colon + 1;
    Some(Hit { range: start..start + password.len(), rule: "password in an address", sureness: 2 })
}

/// Where the password is in `name/password@host`.
pub(super) fn slashed(word: &str) -> Option<Range<usize>> {
    let (who, _) = word.rsplit_once('@')?;
    let slash = who.find('/')?;
    let password = &who[slash + 1..];
    let given = slash > 0 && !password.is_empty() && !value::is_stand_in(password);
    (given && !who[..slash].contains(':')).then_some(slash + 1..who.len())
}
