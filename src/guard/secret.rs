//! What looks like a credential, found and redacted.

use std::ops::Range;

use super::anchor::{self, Anchor, Kind};
use super::{Allowed, Finding, command, format, keyed, pem, table, url, wrapped};
use crate::model::Code;

/// Something that looks like a credential.
pub(super) struct Secret {
    pub(super) range: Range<usize>,
    /// What it is called in messages.
    pub(super) rule: &'static str,
    fingerprint: String,
}

/// A place that a rule points at. The surest rule names what several point at.
pub(super) struct Hit {
    pub(super) range: Range<usize>,
    pub(super) rule: &'static str,
    pub(super) sureness: u8,
}

/// Everything that looks like a credential, in order, nothing twice.
pub(super) fn find(text: &str, anchors: &[Anchor]) -> Vec<Secret> {
    let mut hits = Vec::new();
    let mut done = 0;
    for at in anchor::of(anchors, Kind::Pem).filter(|at| at.end < text.len()) {
        if at.start >= done
            && let Some(hit) = pem::find(text, at)
        {
            done = hit.range.end;
            hits.push(hit);
        }
    }
    hits.extend(anchor::of(anchors, Kind::Url).filter_map(|at| url::find(text, at)));
    hits.extend(anchor::of(anchors, Kind::Password).filter_map(|at| keyed::short(text, at)));
    hits.extend(anchor::of(anchors, Kind::Authorization).filter_map(|at| keyed::header(text, at)));
    hits.extend(anchor::of(anchors, Kind::Login).filter_map(|at| keyed::login(text, at)));
    anchor::of(anchors, Kind::Command).for_each(|at| command::find(text, at, &mut hits));
    table::find(text, anchors, &mut hits);
    // The keys of one service are so short that a line can end before they are long enough to be seen.
    for at in anchor::of(anchors, Kind::Word).filter(|at| &text[Range::clone(at)] == "AKIA") {
        let n = text[at.end..].bytes().take(MIN_RUN).take_while(u8::is_ascii_alphanumeric).count();
        wrapped::find(text, &(at.start..at.end + n), &mut hits);
    }
    let words = keyed::places(anchors);
    for run in runs(text) {
        format::find(text, &run, &mut hits);
        wrapped::find(text, &run, &mut hits);
        if keyed::is_near(&words, &run) {
            keyed::long(text, &run, &mut hits);
        }
    }
    merged(text, hits)
}

fn merged(text: &str, mut hits: Vec<Hit>) -> Vec<Secret> {
    hits.sort_by_key(|hit| (hit.range.start, hit.range.end));
    let mut apart: Vec<Hit> = Vec::new();
    for hit in hits {
        match apart.last_mut().filter(|last| hit.range.start < last.range.end) {
            Some(last) => {
                last.range.end = last.range.end.max(hit.range.end);
                if hit.sureness > last.sureness {
                    (last.rule, last.sureness) = (hit.rule, hit.sureness);
                }
            }
            None => apart.push(hit),
        }
    }
    let secret = |Hit { range, rule, .. }| Secret {
        fingerprint: fingerprint(&text[Range::clone(&range)]),
        range,
        rule,
    };
    apart.into_iter().map(secret).collect()
}

/// Names a secret without telling it. Twelve digits: enough to tell two apart, too few to be
/// sure of a guess at a short password.
fn fingerprint(secret: &str) -> String {
    super::mark("blue secret", secret, 12)
}

impl Secret {
    /// What is said of it, unless its fingerprint is allowed.
    pub(super) fn finding(
        self,
        text: &str,
        range: Range<usize>,
        allowed: &Allowed,
    ) -> Option<Finding> {
        let Secret { rule, fingerprint, .. } = self;
        if allowed.secrets.contains(&fingerprint) {
            return None;
        }
        let mut instead = format!("[redacted: {rule}]");
        // Later lines stay where they are, and so do the signs that make them a quotation.
        for line in text[range.clone()].split('\n').skip(1) {
            let sign = |c: char| matches!(c, ' ' | '\t' | '>');
            instead.push('\n');
            instead.push_str(&line[..line.len() - line.trim_start_matches(sign).len()]);
        }
        Some(Finding {
            range,
            code: Code::Secret,
            message: format!(
                "what looks like a secret is redacted: {rule}, fingerprint {fingerprint}"
            ),
            hint: "revoke it and take it out; if it is none, allow its fingerprint with a reason: security.allow_secrets",
            instead: Some(instead),
        })
    }
}

/// The shortest run of signs that is looked at without an anchor.
const MIN_RUN: usize = 16;

/// Signs of which tokens, and addresses with tokens in them, are made.
const IN_RUN: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = b'!';
    while b <= b'~' {
        table[b as usize] = !matches!(
            b,
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b'"' | b'\'' | b'|' | b','
        );
        b += 1;
    }
    table
};

/// Long runs of such signs. Words are short, so most bytes are never looked at: the first sign
/// that ends a run, looking back from where one would have its sixteenth, skips all before it.
fn runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        loop {
            let window = bytes.get(start..start + MIN_RUN)?;
            match window.iter().rposition(|b| !IN_RUN[*b as usize]) {
                Some(at) => start += at + 1,
                None => break,
            }
        }
        let after = start + MIN_RUN;
        let n_more = bytes[after..].iter().position(|b| !IN_RUN[*b as usize]);
        let run = start..n_more.map_or(bytes.len(), |n| after + n);
        start = run.end + 1;
        Some(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_runs_are_looked_at() {
        let text = "short words (sixteen-signs-ok) and abcdefghijklmno then\nabcdefghijklmnopqrst";
        let found: Vec<&str> = runs(text).map(|run| &text[run]).collect();
        assert_eq!(found, ["sixteen-signs-ok", "abcdefghijklmnopqrst"]);
    }
}
