//! Decides whether a file may be changed on a branch.
//!
//! Everything that is unknown is allowed: no build, no branch, an unreadable index.

use std::os::unix::fs::MetadataExt;

use crate::model::branch_rules::{BranchRules, Strictness, WrongBranch};
use crate::model::layout::{BLUE, DOCUMENTS, folder_of};
use crate::model::{FileName, Plan, Status, TextFormat, series};
use crate::root::Root;
use crate::serve::Bundles;
use crate::wire::jsonl::{BundleLine, DocumentLine};

/// The decision about one file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// It may be changed.
    Allowed,
    /// It may be changed, but probably should not; with the reason and a command.
    Warned(String),
    /// It must not be changed; with the reason and a command.
    Refused(String),
}

/// Everything that the decisions of one run have in common.
pub struct EditGuard<'a> {
    root: &'a Root,
    rules: BranchRules,
    /// Prefixes of branches that are named after an RFC.
    prefixes: Vec<String>,
    branch: String,
    /// The name of the current work, from the worktree file or the branch.
    work: String,
    bundles: Bundles,
    documents: String,
}

/// Size limit of the index of documents.
const MAX_INDEX: u64 = 1 << 28;

/// Kinds of documents that belong to a branch.
const KINDS: [&str; 2] = ["rfc", "plan"];

impl<'a> EditGuard<'a> {
    /// Opens the indexes of the last build. `None` if nothing can be decided.
    pub fn open(root: &'a Root, plan: &Plan, branch: Option<&str>) -> Option<EditGuard<'a>> {
        let branch = branch?.to_string();
        let rules = plan.branch_rules;
        let is_off = rules.wrong_branch == WrongBranch::Off
            && rules.unaccepted_code == Strictness::Off
            && rules.stray_documents == Strictness::Off;
        if is_off {
            return None;
        }
        let bundles = Bundles::open(root).ok()??;
        let work = crate::serve::bundles::stated_work(root, Some(&branch))?;
        let bytes = root.readable_bytes(DOCUMENTS, MAX_INDEX)?;
        let documents = String::from_utf8(bytes).ok()?;
        let prefixes = plan.branch_prefixes().into_iter().filter(|prefix| !prefix.is_empty());
        let prefixes = prefixes.map(str::to_string).collect();
        Some(EditGuard { root, rules, prefixes, branch, work, bundles, documents })
    }

    /// Decides about a path below the root.
    pub fn judge(&self, path: &str) -> Verdict {
        match self.line_of(path) {
            Some(document) => self.judge_document(&document),
            None if self.is_code(path) => self.judge_code(path),
            None => self.judge_stray(path),
        }
    }

    /// Returns the line of a document. On a file system that ignores case, any spelling finds it.
    fn line_of(&self, path: &str) -> Option<DocumentLine> {
        let exact = format!(",\"path\":{}", serde_json::to_string(path).ok()?);
        let found = memchr::memmem::find(self.documents.as_bytes(), exact.as_bytes());
        if let Some(at) = found {
            let start = self.documents[..at].rfind('\n').map_or(0, |at| at + 1);
            let line = self.documents[start..].lines().next()?;
            return serde_json::from_str(line).ok();
        }
        let same_file = |other: &str| {
            let inode = |path: &str| {
                let stat = self.root.path().join(path).metadata().ok()?;
                Some((stat.dev(), stat.ino()))
            };
            inode(path).is_some() && inode(path) == inode(other)
        };
        let lower = path.to_lowercase();
        if !self.root.exists(path) {
            return None;
        }
        let lines = self.documents.lines().filter(|line| line.to_lowercase().contains(&lower));
        let mut lines = lines.filter_map(|line| serde_json::from_str::<DocumentLine>(line).ok());
        lines.find(|line| line.path.to_lowercase() == lower && same_file(&line.path))
    }

    /// Returns the bundle of the RFC that the branch is for.
    fn own(&self) -> Option<&BundleLine> {
        self.bundles.of_work(&self.work)
    }

    fn judge_document(&self, document: &DocumentLine) -> Verdict {
        if self.rules.wrong_branch == WrongBranch::Off || !KINDS.contains(&document.kind.as_str()) {
            return Verdict::Allowed;
        }
        if self.is_own(document) {
            return Verdict::Allowed;
        }
        let head = document.number.as_ref().map_or(document.title.clone(), |number| {
            format!("{} {number}", document.kind.to_uppercase())
        });
        let help = format!("switch to the branch of {head}, or set BLUE_GUARD=off for one command");
        let own = self.own().and_then(|own| own.work.as_ref());
        match own {
            Some(work) => Verdict::Refused(format!(
                "{} belongs to {head}, and branch {} is for {}\nhint: {help}",
                document.path, self.branch, work.head
            )),
            None if !self.is_prefixed() => Verdict::Allowed,
            None => {
                let reason = format!(
                    "{} belongs to {head}, and branch {} is not its branch\nhint: {help}",
                    document.path, self.branch
                );
                match self.rules.wrong_branch {
                    WrongBranch::Any => Verdict::Refused(reason),
                    _ => Verdict::Warned(reason),
                }
            }
        }
    }

    fn is_prefixed(&self) -> bool {
        self.prefixes.iter().any(|prefix| self.branch.starts_with(prefix))
    }

    /// Returns true if the branch is that of a document or of its plan.
    fn is_own(&self, document: &DocumentLine) -> bool {
        let in_bundle = self.own().is_some_and(|own| {
            let plans = own.work.iter().flat_map(|work| &work.plans);
            own.names.contains(&document.uri)
                || own.work.as_ref().is_some_and(|work| work.path == document.path)
                || plans.into_iter().any(|plan| plan.path == document.path)
        });
        // RFCs without a bundle, such as implemented ones, are known by their names.
        let name = self.work.rsplit('/').next().unwrap_or(&self.work).to_lowercase();
        let parsed = FileName::parse(document.path.rsplit('/').next().unwrap_or_default());
        let of_name = FileName::parse(&format!("{name}.md"));
        let same_number = of_name.number.is_some() && of_name.number == parsed.number;
        in_bundle
            || !parsed.slug.is_empty() && of_name.slug == parsed.slug
            || same_number && of_name.slug.is_empty()
    }

    /// Returns true for a file that is neither a document nor one of blue's own.
    fn is_code(&self, path: &str) -> bool {
        let is_blue = path == BLUE || path.starts_with(".blue/");
        TextFormat::of_path(path).is_none() && !is_blue
    }

    fn judge_code(&self, path: &str) -> Verdict {
        let Some(own) = self.own() else { return Verdict::Allowed };
        let document = own.work.as_ref().and_then(|work| self.line_of(&work.path));
        let Some(document) = document else { return Verdict::Allowed };
        let is_accepted = [Status::Accepted, Status::Active, Status::Implemented]
            .iter()
            .any(|status| status.as_str() == document.status);
        if is_accepted {
            return Verdict::Allowed;
        }
        let reason = format!(
            "{path} is code, and the RFC of branch {}, {}, is {}\nhint: blue status set {} accepted",
            self.branch, document.path, document.status, document.uri
        );
        strict(self.rules.unaccepted_code, reason)
    }

    fn judge_stray(&self, path: &str) -> Verdict {
        if self.root.exists(path) || !is_document_name(path) {
            return Verdict::Allowed;
        }
        let folder = folder_of(path);
        let below = |text: &str| {
            let text = serde_json::to_string(text).unwrap_or_default();
            self.documents.contains(&format!(",\"path\":{}", text.trim_end_matches('"')))
        };
        if below(&format!("{folder}/")) || below(&format!("{}/", folder_of(folder))) {
            return Verdict::Allowed;
        }
        let reason = format!(
            "{path} has the name of a document, and no collection is in {}\nhint: blue new adr|rfc|spike|prd|dialogue \"Title\"",
            if folder.is_empty() { "the root folder" } else { folder }
        );
        strict(self.rules.stray_documents, reason)
    }
}

fn strict(strictness: Strictness, reason: String) -> Verdict {
    match strictness {
        Strictness::Off => Verdict::Allowed,
        Strictness::Warn => Verdict::Warned(reason),
        Strictness::Deny => Verdict::Refused(reason),
    }
}

/// Returns true if only a document has such a name: a number of four digits or after the prefix of a
/// known series, and a slug.
fn is_document_name(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let name = FileName::parse(file);
    let in_known_folder =
        [".blue/docs/", "docs/adr", "doc/adr", "docs/rfc", "docs/decisions", "rfcs/"]
            .iter()
            .any(|folder| path.starts_with(folder));
    let is_series =
        name.prefix.as_deref().is_some_and(|prefix| series::known_series(prefix).is_some());
    let is_numbered = name.number_text.len() == 4 && name.prefix.is_none();
    TextFormat::of_path(file).is_some()
        && !name.slug.is_empty()
        && name.date.is_none()
        && (is_numbered || is_series)
        && !in_known_folder
}
