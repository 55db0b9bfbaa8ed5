//! Judges a text before it is read: what hides in it, what must not leave, what gives orders.

mod address;
mod anchor;
mod base64;
mod command;
mod comment;
mod form;
mod format;
mod hidden;
mod keyed;
mod name;
mod order;
mod pem;
mod phrase;
mod place;
mod script;
mod secret;
mod sight;
mod special;
mod table;
mod tag;
mod tongue;
mod url;
mod value;
mod vocabulary;
mod wrapped;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};

use crate::model::hidden_chars::hidden_in;
use crate::model::{Allowance, Code, Digest, Hasher, Note};

pub use name::{Named, has_secret, judge_name, shown};
use sight::Sight;

/// What the configuration lets through, ready to be asked for a path.
#[derive(Default)]
pub struct Guard {
    hidden: Vec<(GlobMatcher, String)>,
    secrets: Arc<[String]>,
}

/// What one document may have.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    /// Hidden characters that are not shown.
    pub kept: String,
    secrets: Arc<[String]>,
}

impl Guard {
    /// Compiles the globs.
    pub fn new(allowance: &Allowance) -> Result<Guard, globset::Error> {
        let matcher = |glob: &str| {
            Ok(GlobBuilder::new(glob).literal_separator(true).build()?.compile_matcher())
        };
        let rules = allowance.hidden.iter();
        let hidden = rules.map(|rule| Ok((matcher(&rule.path)?, rule.chars.clone())));
        Ok(Guard {
            hidden: hidden.collect::<Result<_, globset::Error>>()?,
            secrets: allowance.secrets.clone().into(),
        })
    }

    /// What the document at a path may have.
    pub fn of(&self, path: &str) -> Allowed {
        let rules = self.hidden.iter().filter(|(glob, _)| glob.is_match(path));
        let kept = rules.map(|(_, chars)| chars.as_str()).collect();
        Allowed { kept, secrets: self.secrets.clone() }
    }
}

impl Allowed {
    /// Under which digest a document's facts are kept: what is let through decides them, too.
    pub fn key(&self, content: Digest) -> Digest {
        if self.kept.is_empty() && self.secrets.is_empty() {
            return content;
        }
        let mut hasher = Hasher::new();
        hasher.field(content.as_bytes()).field(self.kept.as_bytes());
        for secret in self.secrets.iter() {
            hasher.field(secret.as_bytes());
        }
        hasher.digest()
    }
}

/// A text that may be read, and what was found in it.
pub struct Clean<'a> {
    /// The text with secrets redacted and hidden characters shown; its lines are where they were.
    pub text: Cow<'a, str>,
    /// What was found, at its place in the text as it was.
    pub notes: Vec<Note>,
}

/// Something found in a text.
struct Finding {
    range: Range<usize>,
    code: Code,
    message: String,
    hint: &'static str,
    /// What stands in its place from now on.
    instead: Option<String>,
}

/// At most this many findings of a kind are placed one by one; the rest are counted.
const MAX_PLACED: usize = 100;

/// Redacts, shows and notes.
pub fn clean<'a>(text: &'a str, allowed: &Allowed) -> Clean<'a> {
    let hides = hidden_in(text);
    let sight = Sight::new(text, &hides);
    let mut findings = hidden::findings(&hides, allowed);
    findings.extend(script::findings(&sight));
    let anchors = anchor::anchors(&sight.text);
    for secret in secret::find(&sight.text, &anchors) {
        let range = sight.original(&secret.range);
        findings.extend(secret.finding(text, range, allowed));
    }
    let mut orders = order::findings(&sight.text, &anchors);
    orders.extend(comment::findings(&sight.text, &anchors));
    orders.extend(tag::findings(&sight.text, &anchors));
    for mut order in orders {
        order.range = sight.original(&order.range);
        findings.push(order);
    }
    if findings.is_empty() {
        return Clean { text: Cow::Borrowed(text), notes: Vec::new() };
    }
    findings.sort_by_key(|finding| (finding.range.start, finding.range.end));
    let notes = notes(text, &findings);
    Clean { text: replaced(text, findings), notes }
}

/// The text with every finding replaced that asks for it. Where two overlap, all is taken out.
fn replaced(text: &str, findings: Vec<Finding>) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    for finding in findings {
        let Some(instead) = finding.instead else { continue };
        if finding.range.start >= done {
            out.push_str(&text[done..finding.range.start]);
            out.push_str(&instead);
        }
        done = done.max(finding.range.end);
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Names what stands in a line, so that another text in its place is another finding: who accepted
/// the one did not see the other.
fn mark_of(text: &str, at: usize) -> String {
    let start = memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |end| end + 1);
    let line = text[start..].split('\n').next().unwrap_or_default();
    mark("blue order", line, 6)
}

/// Digits that name a text without telling it, other ones for every use.
fn mark(what_for: &str, text: &str, n_digits: usize) -> String {
    let mut hasher = Hasher::new();
    hasher.field(what_for.as_bytes()).field(text.as_bytes());
    hasher.digest().short()[..n_digits].to_string()
}

fn notes(text: &str, findings: &[Finding]) -> Vec<Note> {
    let mut places = place::Places::new(text);
    let mut counts: Vec<(Code, usize)> = Vec::new();
    let mut notes = Vec::new();
    for finding in findings {
        let n = match counts.iter_mut().find(|(code, _)| *code == finding.code) {
            Some((_, n)) => n,
            None => {
                counts.push((finding.code, 0));
                &mut counts.last_mut().expect("one was just pushed").1
            }
        };
        *n += 1;
        if *n <= MAX_PLACED {
            let (line, column) = places.place(finding.range.start);
            let code = finding.code;
            let message = match code.is_prompt_injection() {
                true => format!("{} [{}]", finding.message, mark_of(text, finding.range.start)),
                false => finding.message.clone(),
            };
            notes.push(Note { code, line, column, message, hint: Some(finding.hint.to_string()) });
        }
    }
    for (code, n) in counts.into_iter().filter(|(_, n)| *n > MAX_PLACED) {
        let message = format!("{} more: {}", n - MAX_PLACED, code.title());
        notes.push(Note { code, line: 0, column: 0, message, hint: None });
    }
    notes
}
