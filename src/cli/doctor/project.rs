//! Checks that the project is built and current, and that blue can write its files.

use rustix::fs::FileType;

use super::DoctorCheck;
use crate::emit::{self, LOCAL};
use crate::model::layout::{AUDIT, BLUE, CONFIG, KNOWLEDGE_BUNDLE, MANIFEST, SESSION, WORKFLOW};
use crate::model::plan::HOOK_BYTES;
use crate::model::plural::counted;
use crate::root::{Content, Root};
use crate::verify;

/// Checks that the project has a `.blue` folder.
pub(super) fn folder(root: &Root) -> DoctorCheck {
    match root.stat(BLUE) {
        Ok(Some((_, FileType::Directory))) => DoctorCheck::ok(
            BLUE,
            format!("in {}", crate::guard::redacted(&root.path().display().to_string())),
        ),
        Ok(None) => DoctorCheck::problem(BLUE, "does not exist", "run `blue init`"),
        _ => DoctorCheck::problem(BLUE, "is not a folder", "move it away and run `blue init`"),
    }
}

/// Checks that the manifest is valid and that all artifacts are current.
pub(super) fn built(root: &Root) -> Vec<DoctorCheck> {
    let build = "run `blue knowledge build` and commit the result";
    let manifest = match verify::manifest(root) {
        Ok(Some(Ok((manifest, _)))) => DoctorCheck::ok(
            MANIFEST,
            format!("valid, {}", counted(manifest.artifacts.len(), "file")),
        ),
        Ok(Some(Err(_))) => {
            DoctorCheck::problem(MANIFEST, "is damaged or not written by blue", build)
        }
        Ok(None) => DoctorCheck::problem(MANIFEST, "does not exist: nothing was built", build),
        Err(error) => {
            DoctorCheck::problem(MANIFEST, format!("{error:#}"), "check that it is readable")
        }
    };
    let current = match crate::cli::build::BuildArgs::check().build(root) {
        Ok(outcome) if outcome.not_current().next().is_some() => {
            let paths: Vec<String> =
                outcome.not_current().take(3).map(|d| d.path.clone()).collect();
            let more = match outcome.not_current().count() {
                n if n > 3 => format!(" and {} more", n - 3),
                _ => String::new(),
            };
            DoctorCheck::problem(
                "knowledge",
                format!("not current: {}{more}", paths.join(", ")),
                build,
            )
        }
        Ok(outcome) => DoctorCheck::ok(
            "knowledge",
            format!("current, {}", counted(outcome.n_documents, "document")),
        ),
        Err(error) => {
            let error = format!("{error:#}");
            let first = error.lines().next().unwrap_or_default();
            DoctorCheck::problem(
                "knowledge",
                first,
                "run `blue knowledge build` and read its messages",
            )
        }
    };
    vec![manifest, current]
}

/// Checks that every text that a hook prints can reach an agent whole. Of the workflow bundles, only
/// those with a problem are listed.
pub(super) fn bundles(root: &Root) -> Vec<DoctorCheck> {
    let mut paths = Vec::new();
    if let Ok(entries) = root.entries(WORKFLOW) {
        let names = entries.iter().map(|e| e.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
        names.sort();
        paths.extend(names.into_iter().map(|name| format!("{WORKFLOW}/{name}")));
    }
    let checks: Vec<DoctorCheck> = paths.iter().map(|path| bundle(root, path)).collect();
    let detail = format!("{}, each at most {HOOK_BYTES} bytes", counted(checks.len(), "bundle"));
    let mut all = vec![bundle(root, SESSION)];
    if root.exists(KNOWLEDGE_BUNDLE) {
        all.push(bundle(root, KNOWLEDGE_BUNDLE));
    }
    if !checks.is_empty() {
        all.extend(DoctorCheck::group(WORKFLOW, detail, checks));
    }
    all
}

fn bundle(root: &Root, path: &str) -> DoctorCheck {
    let build = "run `blue knowledge build`";
    let bytes = match root.read(path, 1 << 28) {
        Ok(Some(Content::Bytes(bytes, _))) => bytes,
        Ok(None) => return DoctorCheck::problem(path, "does not exist", build),
        _ => return DoctorCheck::problem(path, "is not a regular file", "move it away"),
    };
    match bytes.first() {
        // An agent truncates a longer text without a message.
        _ if bytes.len() as u64 > HOOK_BYTES => {
            let detail = format!(
                "{} bytes; an agent truncates texts of more than {HOOK_BYTES}",
                bytes.len()
            );
            DoctorCheck::problem(path, detail, &format!("lower its budget in {CONFIG} and build"))
        }
        Some(b'<') => {
            DoctorCheck::ok(path, format!("{} bytes of at most {HOOK_BYTES}", bytes.len()))
        }
        _ => DoctorCheck::problem(
            path,
            "does not begin with `<`; an agent may take it for JSON",
            build,
        ),
    }
}

/// Checks that blue can write its caches and its log.
pub(super) fn local(root: &Root) -> DoctorCheck {
    if !root.exists(LOCAL) {
        let detail = "does not exist yet; the first build creates it";
        return DoctorCheck::warning(LOCAL, detail, "run `blue knowledge build`");
    }
    match emit::can_write(root, LOCAL, AUDIT) {
        Ok(()) if root.exists(AUDIT) => DoctorCheck::ok(LOCAL, "writable, and so is the log"),
        Ok(()) => DoctorCheck::ok(LOCAL, "writable"),
        Err(error) => DoctorCheck::problem(
            LOCAL,
            format!("cannot be written: {error}"),
            "check its permissions",
        ),
    }
}
