//! Provenance headers of emitted files: rendering, parsing and sealing.

use super::jsonl::ProvenanceLine;
use crate::model::{Digest, Format};

/// Command that rebuilds a file. blue recognizes its own files by it.
pub const REGENERATE: &str = "blue knowledge build";

/// Line that begins front matter. Agents look for it in the first bytes of a file.
const FENCE: &str = "---\n";

/// Start of a bundle in JSON.
const HOOK_JSON: &str = r#"{"hookSpecificOutput":{"hookEventName":""#;

/// Wraps a text in the JSON that some events of agents expect.
pub fn hook_json(event: &str, text: &str) -> String {
    let quoted = serde_json::to_string(text.trim_end()).expect("a text is JSON");
    format!("{HOOK_JSON}{event}\",\"additionalContext\":{quoted}}}}}\n")
}

/// Returns the JSON that refuses the use of a tool, for Claude Code and Codex.
pub fn deny_json(reason: &str) -> String {
    let quoted = serde_json::to_string(reason.trim_end()).expect("a text is JSON");
    format!(
        "{HOOK_JSON}PreToolUse\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":{quoted}}}}}\n"
    )
}

/// The form in which an agent takes the output of a hook.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HookForm {
    /// The text itself, for Claude Code and Codex.
    Plain,
    /// JSON with the text under `hookSpecificOutput`, for Gemini CLI.
    Gemini,
    /// JSON with the text at the top level, for Copilot CLI.
    Copilot,
}

impl HookForm {
    /// Returns the output for a text. `hooks/session-start` prints the same.
    pub fn output(self, event: &str, text: &str) -> String {
        let quoted = || serde_json::to_string(text).expect("a text is JSON");
        match self {
            HookForm::Plain => text.to_string(),
            HookForm::Gemini => {
                format!("{HOOK_JSON}{event}\",\"additionalContext\":{}}}}}\n", quoted())
            }
            HookForm::Copilot => format!("{{\"additionalContext\":{}}}\n", quoted()),
        }
    }
}

/// Date and commit of a file. They change only if the content changes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Provenance {
    /// Date of the commit, RFC 3339.
    pub generated: Option<String>,
    /// Commit, twelve digits.
    pub commit: Option<String>,
    /// Date of the commit at which the file was first written; only in [`Format::RoleFile`].
    pub created: Option<String>,
}

/// An emitted file, parsed.
#[derive(Debug, Eq, PartialEq)]
pub struct EmittedFile<'a> {
    /// Date and commit.
    pub provenance: Provenance,
    /// Description of its sources.
    pub source: String,
    /// Bytes below the header.
    pub body: &'a [u8],
}

/// Renders the header of a file.
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
        Format::RoleFile => role_header(provenance, source),
        Format::FrontMatter => std::iter::once(FENCE.to_string())
            .chain(facts().map(|fact| format!("# {fact}\n")))
            .collect(),
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

/// Renders the keys of front matter that say where a file of a responsibility comes from. The
/// command that makes it is the first line of its body.
fn role_header(provenance: &Provenance, source: &str) -> String {
    let created = provenance.created.as_ref().or(provenance.generated.as_ref());
    let facts = [
        ("created_at", created),
        ("updated_at", provenance.generated.as_ref()),
        ("commit", provenance.commit.as_ref()),
        ("source", Some(&source.to_string())),
    ]
    .map(|(key, value)| value.map_or(String::new(), |value| format!("{key}: {value}\n")));
    [FENCE, &facts.concat()].concat()
}

/// Start of the body of a file of a responsibility.
pub const ROLE_BODY: &str = "regenerate: blue ";

/// Parses a file of a responsibility.
fn parse_role_file(bytes: &[u8]) -> Option<EmittedFile<'_>> {
    let mut body = bytes.strip_prefix(FENCE.as_bytes())?;
    let (mut provenance, mut source) = (Provenance::default(), String::new());
    while !body.starts_with(ROLE_BODY.as_bytes()) {
        let end = memchr::memchr(b'\n', body)?;
        let (key, value) = std::str::from_utf8(&body[..end]).ok()?.split_once(": ")?;
        match key {
            "created_at" => provenance.created = Some(value.to_string()),
            "updated_at" => provenance.generated = Some(value.to_string()),
            "commit" => provenance.commit = Some(value.to_string()),
            "source" => source = value.to_string(),
            _ => return None,
        }
        body = &body[end + 1..];
    }
    Some(EmittedFile { provenance, source, body })
}

/// Returns a short digest of a file's header, which detects edits but is no protection. `None` if there
/// is no header.
pub fn seal(format: Format, bytes: &[u8]) -> Option<String> {
    let body = parse(format, bytes)?.body.len();
    seal_of(&bytes[..bytes.len() - body])
}

/// Returns the short digest of a header.
pub fn seal_of(header: &[u8]) -> Option<String> {
    (!header.is_empty()).then(|| Digest::of(header).short())
}

/// Parses an emitted file. `None` if it does not have blue's header.
pub fn parse(format: Format, bytes: &[u8]) -> Option<EmittedFile<'_>> {
    match format {
        Format::Bundle => {
            let ours = bytes.starts_with(b"<blue-") || bytes.starts_with(HOOK_JSON.as_bytes());
            ours.then(|| EmittedFile {
                provenance: Provenance::default(),
                source: String::new(),
                body: bytes,
            })
        }
        Format::Jsonl => {
            let end = memchr::memchr(b'\n', bytes)? + 1;
            let line: ProvenanceLine = serde_json::from_slice(&bytes[..end]).ok()?;
            let provenance =
                Provenance { generated: line.generated, commit: line.commit, created: None };
            (line.regenerate == REGENERATE).then(|| EmittedFile {
                provenance,
                source: line.source,
                body: &bytes[end..],
            })
        }
        Format::Markdown => {
            let rest = bytes.strip_prefix(b"<!--\n")?;
            let end = memchr::memmem::find(rest, b"\n-->\n")?;
            parse_facts(&rest[..end], "", &rest[end + 5..])
        }
        Format::Yaml => parse_comments(bytes),
        Format::FrontMatter => parse_comments(bytes.strip_prefix(FENCE.as_bytes())?),
        Format::RoleFile => parse_role_file(bytes),
    }
}

/// Parses a header in comment lines of YAML.
fn parse_comments(bytes: &[u8]) -> Option<EmittedFile<'_>> {
    let mut end = 0;
    while bytes[end..].starts_with(b"# ") {
        end += memchr::memchr(b'\n', &bytes[end..])? + 1;
    }
    parse_facts(&bytes[..end], "# ", &bytes[end..])
}

fn parse_facts<'a>(head: &[u8], prefix: &str, body: &'a [u8]) -> Option<EmittedFile<'a>> {
    let head = std::str::from_utf8(head).ok()?;
    let mut provenance = Provenance::default();
    let (mut source, mut ours) = (String::new(), false);
    for line in head.lines() {
        let (key, value) = line.strip_prefix(prefix)?.split_once(": ")?;
        match key {
            "Generated" => provenance.generated = Some(value.to_string()),
            "Commit" => provenance.commit = Some(value.to_string()),
            "Source" => source = value.to_string(),
            "Regenerate" => ours = value == REGENERATE,
            _ => return None,
        }
    }
    ours.then_some(EmittedFile { provenance, source, body })
}

/// Returns true if blue emitted a Markdown file.
pub fn is_emitted(bytes: &[u8]) -> bool {
    parse(Format::Markdown, bytes).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rendered_header_can_be_parsed() {
        let provenance = Provenance {
            generated: Some("2026-01-25T12:00:00Z".into()),
            commit: Some("abc123def456".into()),
            created: None,
        };
        for format in [Format::Markdown, Format::Yaml, Format::Jsonl, Format::FrontMatter] {
            for provenance in [provenance.clone(), Provenance::default()] {
                let text =
                    format!("{}body\n", header(format, &provenance, "docs/*.md (2 documents)"));
                let file = parse(format, text.as_bytes()).expect("it is ours");
                assert_eq!(file.provenance, provenance);
                assert_eq!(file.source, "docs/*.md (2 documents)");
                assert_eq!(file.body, b"body\n");
            }
            assert_eq!(parse(format, b"a note\n"), None);
        }
        let source = "mandate_run:w.refresh_ai_context@2026-01-25T12:00:00Z";
        let text = format!("{}regenerate: blue x\n", header(Format::RoleFile, &provenance, source));
        let file = parse(Format::RoleFile, text.as_bytes()).expect("it is ours");
        assert_eq!((file.source.as_str(), file.body), (source, &b"regenerate: blue x\n"[..]));
        assert_eq!(file.provenance.created, provenance.generated);
        assert_eq!(parse(Format::RoleFile, b"---\ncontext_role: request\n---\n"), None);
    }
}
