//! The provenance header of every emitted file: put on, taken off, compared.

use super::jsonl::ProvenanceLine;
use crate::model::{Digest, Format};

/// What to type to make a file again; also the mark by which blue knows its own files.
pub const REGENERATE: &str = "blue knowledge build";

/// How a bundle in JSON begins.
const HOOK_JSON: &str = r#"{"hookSpecificOutput":{"hookEventName":""#;

/// A text as the JSON that some events of an agent want.
pub fn hook_json(event: &str, text: &str) -> String {
    let quoted = serde_json::to_string(text.trim_end()).expect("a text is JSON");
    format!("{HOOK_JSON}{event}\",\"additionalContext\":{quoted}}}}}\n")
}

/// The two facts that stay as they were while nothing else changes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Provenance {
    /// The date of the commit, RFC 3339.
    pub generated: Option<String>,
    /// The commit, twelve digits.
    pub commit: Option<String>,
}

/// A file taken apart.
#[derive(Debug, Eq, PartialEq)]
pub struct Undressed<'a> {
    /// The two sticky facts.
    pub provenance: Provenance,
    /// What it was made from.
    pub source: String,
    /// Everything below the header.
    pub body: &'a [u8],
}

/// The header of a file.
pub fn header(format: Format, provenance: &Provenance, source: &str) -> String {
    let facts = || {
        let generated = provenance.generated.iter().map(|date| format!("Generated: {date}"));
        let source = std::iter::once(format!("Source: {source}"));
        let commit = provenance.commit.iter().map(|commit| format!("Commit: {commit}"));
        let regenerate = std::iter::once(format!("Regenerate: {REGENERATE}"));
        generated.chain(source).chain(commit).chain(regenerate)
    };
    match format {
        Format::Bundle => String::new(),
        Format::Markdown => {
            let lines: Vec<String> = facts().map(|fact| fact.replace("-->", "--&gt;")).collect();
            format!("<!--\n{}\n-->\n", lines.join("\n"))
        }
        Format::Yaml => facts().map(|fact| format!("# {fact}\n")).collect(),
        Format::Jsonl => {
            let line = ProvenanceLine {
                generated: provenance.generated.clone(),
                source: source.to_string(),
                commit: provenance.commit.clone(),
                regenerate: REGENERATE.to_string(),
            };
            format!("{}\n", serde_json::to_string(&line).expect("a header is JSON"))
        }
    }
}

/// The digest of a file's header as it stands there, short: it tells an edit, it defends nothing.
/// `None` where there is no header.
pub fn seal(format: Format, bytes: &[u8]) -> Option<String> {
    let body = undress(format, bytes)?.body.len();
    seal_of(&bytes[..bytes.len() - body])
}

/// The same of a header by itself.
pub fn seal_of(header: &[u8]) -> Option<String> {
    (!header.is_empty()).then(|| Digest::of(header).short())
}

/// Takes a file apart. `None` if it does not carry blue's header.
pub fn undress(format: Format, bytes: &[u8]) -> Option<Undressed<'_>> {
    match format {
        Format::Bundle => {
            let ours = bytes.starts_with(b"<blue-") || bytes.starts_with(HOOK_JSON.as_bytes());
            ours.then(|| Undressed {
                provenance: Provenance::default(),
                source: String::new(),
                body: bytes,
            })
        }
        Format::Jsonl => {
            let end = memchr::memchr(b'\n', bytes)? + 1;
            let line: ProvenanceLine = serde_json::from_slice(&bytes[..end]).ok()?;
            let provenance = Provenance { generated: line.generated, commit: line.commit };
            (line.regenerate == REGENERATE).then(|| Undressed {
                provenance,
                source: line.source,
                body: &bytes[end..],
            })
        }
        Format::Markdown => {
            let rest = bytes.strip_prefix(b"<!--\n")?;
            let end = find(rest, b"\n-->\n")?;
            facts(&rest[..end], "", &rest[end + 5..])
        }
        Format::Yaml => {
            let mut end = 0;
            while bytes[end..].starts_with(b"# ") {
                end += memchr::memchr(b'\n', &bytes[end..])? + 1;
            }
            facts(&bytes[..end], "# ", &bytes[end..])
        }
    }
}

fn facts<'a>(head: &[u8], lead: &str, body: &'a [u8]) -> Option<Undressed<'a>> {
    let head = std::str::from_utf8(head).ok()?;
    let mut provenance = Provenance::default();
    let (mut source, mut ours) = (String::new(), false);
    for line in head.lines() {
        let (key, value) = line.strip_prefix(lead)?.split_once(": ")?;
        match key {
            "Generated" => provenance.generated = Some(value.to_string()),
            "Commit" => provenance.commit = Some(value.to_string()),
            "Source" => source = value.to_string(),
            "Regenerate" => ours = value == REGENERATE,
            _ => return None,
        }
    }
    ours.then_some(Undressed { provenance, source, body })
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(haystack, needle)
}

/// Whether a Markdown file was emitted by blue.
pub fn is_emitted(bytes: &[u8]) -> bool {
    undress(Format::Markdown, bytes).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_on_can_be_taken_off() {
        let provenance = Provenance {
            generated: Some("2026-01-25T12:00:00Z".into()),
            commit: Some("abc123def456".into()),
        };
        for format in [Format::Markdown, Format::Yaml, Format::Jsonl] {
            for provenance in [provenance.clone(), Provenance::default()] {
                let text =
                    format!("{}body\n", header(format, &provenance, "docs/*.md (2 documents)"));
                let undressed = undress(format, text.as_bytes()).expect("it is ours");
                assert_eq!(undressed.provenance, provenance);
                assert_eq!(undressed.source, "docs/*.md (2 documents)");
                assert_eq!(undressed.body, b"body\n");
            }
            assert_eq!(undress(format, b"somebody else's\n"), None);
        }
    }
}
