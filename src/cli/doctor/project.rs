//! What is built in the project, and whether it is current.

use rustix::fs::FileType;

use super::Check;
use crate::emit::{self, LOCAL};
use crate::model::layout::{MANIFEST, SESSION};
use crate::model::plural::counted;
use crate::root::{Content, Root};
use crate::verify;

const WORKFLOW: &str = ".blue/context/workflow";
const AUDIT: &str = ".blue/local/audit.jsonl";

/// An agent cuts a longer text silently.
const MAX_BYTES: usize = 9_500;

/// Whether blue was adopted here.
pub(super) fn folder(root: &Root) -> Check {
    match root.stat(".blue") {
        Ok(Some((_, FileType::Directory))) => Check::ok(
            ".blue",
            format!("in {}", crate::guard::shown(&root.path().display().to_string())),
        ),
        Ok(None) => Check::problem(".blue", "is not there", "run `blue init`"),
        _ => Check::problem(".blue", "is not a folder", "move it away and run `blue init`"),
    }
}

/// Whether there is a valid manifest, and whether what is built is current.
pub(super) fn built(root: &Root) -> Vec<Check> {
    let build = "run `blue knowledge build` and commit the result";
    let manifest = match verify::manifest(root) {
        Ok(Some(Ok((manifest, _)))) => {
            Check::ok(MANIFEST, format!("valid, {}", counted(manifest.artifacts.len(), "file")))
        }
        Ok(Some(Err(_))) => Check::problem(MANIFEST, "is damaged or not written by blue", build),
        Ok(None) => Check::problem(MANIFEST, "is not there: nothing was built", build),
        Err(error) => Check::problem(MANIFEST, format!("{error:#}"), "look at it"),
    };
    let current = match crate::cli::build::build(root, true, false, false) {
        Ok(outcome) if outcome.not_current().next().is_some() => {
            let paths: Vec<String> =
                outcome.not_current().take(3).map(|d| d.path.clone()).collect();
            let more = match outcome.not_current().count() {
                n if n > 3 => format!(" and {} more", n - 3),
                _ => String::new(),
            };
            Check::problem("knowledge", format!("not current: {}{more}", paths.join(", ")), build)
        }
        Ok(outcome) => {
            Check::ok("knowledge", format!("current, {}", counted(outcome.n_documents, "document")))
        }
        Err(error) => {
            let error = format!("{error:#}");
            let first = error.lines().next().unwrap_or_default();
            Check::problem("knowledge", first, "run `blue knowledge build` and read what it says")
        }
    };
    vec![manifest, current]
}

/// Whether every text that a hook prints can reach an agent whole.
pub(super) fn bundles(root: &Root) -> Vec<Check> {
    let mut paths = vec![SESSION.to_string()];
    if let Ok(entries) = root.entries(WORKFLOW) {
        let names = entries.iter().map(|e| e.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
        names.sort();
        paths.extend(names.into_iter().map(|name| format!("{WORKFLOW}/{name}")));
    }
    paths.iter().map(|path| bundle(root, path)).collect()
}

fn bundle(root: &Root, path: &str) -> Check {
    let build = "run `blue knowledge build`";
    let bytes = match root.read(path, 1 << 28) {
        Ok(Some(Content::Bytes(bytes, _))) => bytes,
        Ok(None) => return Check::problem(path, "is not there", build),
        _ => return Check::problem(path, "is not a regular file", "move it away"),
    };
    match bytes.first() {
        _ if bytes.len() > MAX_BYTES => {
            let detail = format!("{} bytes; an agent cuts what is over {MAX_BYTES}", bytes.len());
            Check::problem(path, detail, "lower its budget in .blue/config.yaml and build")
        }
        Some(b'<') => Check::ok(path, format!("{} bytes of at most {MAX_BYTES}", bytes.len())),
        _ => Check::problem(path, "does not begin with `<`; an agent may take it for JSON", build),
    }
}

/// Whether blue can keep its caches and write its log.
pub(super) fn local(root: &Root) -> Check {
    if !root.exists(LOCAL) {
        let detail = "is not there yet; the first build makes it";
        return Check::warning(LOCAL, detail, "run `blue knowledge build`");
    }
    match emit::can_write(root, LOCAL, AUDIT) {
        Ok(()) if root.exists(AUDIT) => Check::ok(LOCAL, "writable, the log too"),
        Ok(()) => Check::ok(LOCAL, "writable"),
        Err(error) => {
            Check::problem(LOCAL, format!("cannot be written: {error}"), "look at its permissions")
        }
    }
}
