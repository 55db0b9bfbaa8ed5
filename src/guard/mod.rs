//! Scans text for secrets, hidden characters and prompt injection before any other module reads it.
//!
//! `secrets` finds and redacts credentials, `prompt_injection` recognises text that is meant to
//! direct an agent. Both look only near the anchors that `anchors` finds in one pass. Their rules
//! are data files in `src/guard/rules/`.

mod anchors;
mod file_names;
mod hidden_characters;
mod line_columns;
mod mixed_scripts;
mod prompt_injection;
mod rules;
mod scan_context;
mod secrets;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};

use crate::model::hidden_chars::hidden_in;
use crate::model::{Allowance, Code, Digest, Hasher, Note};

pub use file_names::{NameCheck, check_name, has_secret, redacted};
use scan_context::ScanContext;

/// The exceptions of the configuration, compiled.
#[derive(Default)]
pub struct Guard {
    hidden: Vec<(GlobMatcher, String)>,
    secrets: Arc<[String]>,
}

/// The exceptions for one document.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    /// Hidden characters that the document may contain.
    pub characters: String,
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

    /// Returns the exceptions for the document at a path.
    pub fn allowed_for(&self, path: &str) -> Allowed {
        let rules = self.hidden.iter().filter(|(glob, _)| glob.is_match(path));
        let characters = rules.map(|(_, chars)| chars.as_str()).collect();
        Allowed { characters, secrets: self.secrets.clone() }
    }
}

impl Allowed {
    /// Returns the cache key of a document's facts, which depend on its content and its exceptions.
    pub fn cache_key(&self, content: Digest) -> Digest {
        if self.characters.is_empty() && self.secrets.is_empty() {
            return content;
        }
        let mut hasher = Hasher::new();
        hasher.field(content.as_bytes()).field(self.characters.as_bytes());
        for secret in self.secrets.iter() {
            hasher.field(secret.as_bytes());
        }
        hasher.digest()
    }
}

/// A text without secrets and hidden characters, and the findings in it.
pub struct Clean<'a> {
    /// The text with secrets redacted and hidden characters visible. Line numbers are unchanged.
    pub text: Cow<'a, str>,
    /// The findings, with lines and columns of the original text.
    pub notes: Vec<Note>,
}

/// A problem in a text.
struct TextFinding {
    range: Range<usize>,
    code: Code,
    message: String,
    hint: &'static str,
    /// The text that replaces the range, if it is not passed through.
    replacement: Option<String>,
}

/// Findings of one code beyond this number are only counted.
const MAX_PER_CODE: usize = 100;

/// Redacts secrets, makes hidden characters visible and reports both, as well as prompt injection.
pub fn clean<'a>(text: &'a str, allowed: &Allowed) -> Clean<'a> {
    let hidden = hidden_in(text);
    let context = ScanContext::new(text, &hidden);
    let anchors = anchors::find(&context.text);
    let mut findings = hidden_characters::findings(&hidden, allowed);
    findings.extend(mixed_scripts::findings(&context));
    for secret in secrets::find(&context.text, &anchors) {
        let range = context.original_range(&secret.range);
        findings.extend(secret.finding(text, range, allowed));
    }
    for mut finding in prompt_injection::findings(&context.text, &anchors) {
        finding.range = context.original_range(&finding.range);
        findings.push(finding);
    }
    if findings.is_empty() {
        return Clean { text: Cow::Borrowed(text), notes: Vec::new() };
    }
    findings.sort_by_key(|finding| (finding.range.start, finding.range.end));
    let notes = notes(text, &findings);
    Clean { text: replace(text, findings), notes }
}

/// Returns true if nothing is found in some texts. They are scanned at once, which is many times
/// faster than a scan of each of thousands of short texts.
pub fn are_clean<'a>(texts: impl Iterator<Item = &'a str>, allowed: &Allowed) -> bool {
    let joined = texts.collect::<Vec<&str>>().join("\n");
    let clean = clean(&joined, allowed);
    clean.notes.is_empty() && matches!(clean.text, Cow::Borrowed(_))
}

/// Applies the replacements of findings. Of two that overlap, the first one replaces both ranges.
fn replace(text: &str, findings: Vec<TextFinding>) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    for finding in findings {
        let Some(replacement) = finding.replacement else { continue };
        if finding.range.start >= done {
            out.push_str(&text[done..finding.range.start]);
            out.push_str(&replacement);
        }
        done = done.max(finding.range.end);
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Returns a fingerprint of the line at an offset. It is part of the message, so that an accepted
/// finding does not cover another text that later replaces the line.
fn line_fingerprint(text: &str, at: usize) -> String {
    let start = memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |end| end + 1);
    let line = text[start..].split('\n').next().unwrap_or_default();
    fingerprint("blue order", line, 6)
}

/// Returns hexadecimal digits that identify a text without revealing it. The same text has a
/// different fingerprint for each purpose.
fn fingerprint(purpose: &str, text: &str, n_digits: usize) -> String {
    let mut hasher = Hasher::new();
    hasher.field(purpose.as_bytes()).field(text.as_bytes());
    hasher.digest().short()[..n_digits].to_string()
}

/// Converts findings to notes with lines and columns.
fn notes(text: &str, findings: &[TextFinding]) -> Vec<Note> {
    let mut line_columns = line_columns::LineColumns::new(text);
    let mut counts: Vec<(Code, usize)> = Vec::new();
    let mut notes = Vec::new();
    for finding in findings {
        let n = match counts.iter_mut().find(|(code, _)| *code == finding.code) {
            Some((_, n)) => n,
            None => {
                counts.push((finding.code, 0));
                &mut counts.last_mut().expect("an entry was just pushed").1
            }
        };
        *n += 1;
        if *n <= MAX_PER_CODE {
            let (line, column) = line_columns.at(finding.range.start);
            let code = finding.code;
            let message = match code.is_prompt_injection() {
                true => {
                    let fingerprint = line_fingerprint(text, finding.range.start);
                    format!("{} [{fingerprint}]", finding.message)
                }
                false => finding.message.clone(),
            };
            notes.push(Note { code, line, column, message, hint: Some(finding.hint.to_string()) });
        }
    }
    for (code, n) in counts.into_iter().filter(|(_, n)| *n > MAX_PER_CODE) {
        let message = format!("{} more: {}", n - MAX_PER_CODE, code.title());
        notes.push(Note { code, line: 0, column: 0, message, hint: None });
    }
    notes
}
