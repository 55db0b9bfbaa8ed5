//! Compares the artifacts on disk with the manifest and with the result of a build.

use anyhow::Context;

use crate::model::artifact::content_digest;
use crate::model::build_target::{CLAUDE_RULES, COPILOT_RULES, CURSOR_RULES};
use crate::model::layout::{CONTEXT, MANIFEST, is_below, is_role_file};
use crate::model::source::with_lf;
use crate::model::{Code, Diagnostic, Digest, Format};
use crate::root::{Content, Root};
use crate::wire::conflict;
use crate::wire::header::{self, Provenance};
use crate::wire::manifest::{Manifest, ManifestEntry, Unusable};

/// The file at the path of an artifact.
#[derive(Debug)]
pub enum OnDisk {
    /// No file.
    Absent,
    /// The artifact as the manifest describes it: its provenance, digest and bytes.
    Ours(Provenance, Digest, Vec<u8>),
    /// The artifact with CRLF line ends: its digest, and its bytes with LF.
    Crlf(Digest, Vec<u8>),
    /// Text of several builds. It can be replaced, because blue wrote all of its lines.
    Mixed(Cause),
    /// An artifact whose content or header differs from the manifest.
    Edited(Vec<u8>),
    /// A file that blue did not write.
    Foreign,
}

/// Reasons why an emitted file contains text of more than one build.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cause {
    /// A merge left conflict markers in it.
    Conflict,
    /// A merge put lines of two commits together.
    Merge,
    /// A build was killed before it had written everything.
    Interrupted,
}

impl Cause {
    /// Returns a description for messages.
    pub fn words(self) -> &'static str {
        match self {
            Cause::Conflict => "a merge left it in conflict",
            Cause::Merge => "a merge mixed two versions of it",
            Cause::Interrupted => "a build was interrupted",
        }
    }
}

/// Folders of files that must begin with front matter.
const RULE_FOLDERS: [&str; 3] = [CLAUDE_RULES, COPILOT_RULES, CURSOR_RULES];

/// Returns the format in which an artifact stores its provenance, by its path.
pub fn format_of(path: &str) -> Format {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("jsonl") => Format::Jsonl,
        Some("yaml") => Format::Yaml,
        _ if is_role_file(path) => Format::RoleFile,
        _ if is_below(path, CONTEXT) => Format::Bundle,
        _ if RULE_FOLDERS.iter().any(|folder| is_below(path, folder)) => Format::FrontMatter,
        _ => Format::Markdown,
    }
}

/// Reads the file at the path of an artifact and compares it with the manifest.
pub fn on_disk(root: &Root, path: &str, entry: Option<&ManifestEntry>) -> anyhow::Result<OnDisk> {
    let format = format_of(path);
    let bytes = match root.read(path, 1 << 40) {
        Ok(Some(Content::Bytes(bytes, _))) => bytes,
        Ok(None) => return Ok(OnDisk::Absent),
        Ok(Some(_)) => return Ok(OnDisk::Foreign),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Ok(OnDisk::Foreign);
        }
        Err(error) => return Err(error).with_context(|| format!("read {path}")),
    };
    if let Some(converted) = with_lf(&bytes)
        && let OnDisk::Ours(_, digest, converted) = compared(format, entry, converted)
    {
        return Ok(OnDisk::Crlf(digest, converted));
    }
    Ok(compared(format, entry, bytes))
}

/// Compares the bytes of a file with the manifest.
fn compared(format: Format, entry: Option<&ManifestEntry>, bytes: Vec<u8>) -> OnDisk {
    let Some(parsed) = header::parse(format, &bytes) else {
        let is_ours = entry.is_some() || conflict_is_ours(format, &bytes);
        return if is_ours { OnDisk::Edited(bytes) } else { OnDisk::Foreign };
    };
    let digest = content_digest(format, &parsed.source, &[parsed.body]);
    let recorded = entry.and_then(|entry| Digest::parse(&entry.hash));
    let sealed = entry
        .is_none_or(|entry| entry.seal.is_none() || entry.seal == header::seal(format, &bytes));
    match recorded {
        Some(recorded) if recorded != digest || !sealed => OnDisk::Edited(bytes),
        // Without a manifest entry, a file with blue's header counts as written by blue.
        _ => OnDisk::Ours(parsed.provenance, digest, bytes),
    }
}

/// Returns true if a text has conflict markers and one of its sides has blue's header.
fn conflict_is_ours(format: Format, bytes: &[u8]) -> bool {
    conflict::has_markers(bytes)
        && conflict::sides(bytes).iter().any(|side| header::parse(format, side).is_some())
}

/// Reads the manifest. Returns it with its text, which has LF line ends, or `None` if there is
/// none.
pub fn manifest(root: &Root) -> anyhow::Result<Option<Result<(Manifest, String), Unusable>>> {
    let content = root.read(MANIFEST, 1 << 28).with_context(|| format!("read {MANIFEST}"))?;
    let bytes = match content {
        None => return Ok(None),
        Some(Content::Bytes(bytes, _)) => bytes,
        Some(_) => anyhow::bail!("{MANIFEST} is not a regular file\nhint: move it away"),
    };
    let bytes = with_lf(&bytes).unwrap_or(bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Some(Manifest::read(&text).map(|manifest| (manifest, text))))
}

/// Returns the finding of `--check` for an artifact, or `None` if it is up to date.
pub fn finding(path: &str, on_disk: &OnDisk, wanted: &Digest) -> Option<Diagnostic> {
    let rebuild = "run `blue knowledge build` and commit the result";
    let stale = |message: &str| (Code::Stale, message.to_string(), rebuild);
    let (code, message, hint) = match on_disk {
        OnDisk::Ours(_, digest, _) if digest == wanted => return None,
        OnDisk::Ours(..) => stale("stale"),
        OnDisk::Crlf(..) => stale("stale: its lines end in CRLF"),
        OnDisk::Mixed(cause) => stale(&format!("stale: {}", cause.words())),
        OnDisk::Absent => (Code::Missing, "missing".to_string(), rebuild),
        OnDisk::Edited(_) => (
            Code::Edited,
            "edited by hand".to_string(),
            "edit the documents instead, then run `blue knowledge build`; it saves a copy of the edit in .blue/local/rescued/",
        ),
        OnDisk::Foreign => (
            Code::Foreign,
            "not written by blue".to_string(),
            "move it away; blue never overwrites a file that it did not write",
        ),
    };
    Some(Diagnostic::new(code, path, message).hint(hint))
}
