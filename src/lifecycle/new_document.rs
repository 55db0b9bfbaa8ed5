//! Plans a new document in the style of its collection.

use super::new_place::Place;
use super::{ChangeRefusal, DocumentSet, titles};
use crate::discover::git_names::{common_folder, names_elsewhere};
use crate::emit::{self, DocumentEdit};
use crate::model::layout::folder_of;
use crate::model::plural::counted;
use crate::model::{DocId, FileName, Status};
use crate::root::Root;

/// Types of documents that can be created.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NewKind {
    /// A decision.
    Adr,
    /// A request for comments.
    Rfc,
    /// An investigation.
    Spike,
    /// A product requirements document.
    Prd,
    /// A conversation.
    Dialogue,
    /// The plan of an RFC.
    Plan,
}

impl NewKind {
    /// All types.
    pub const ALL: [NewKind; 6] = [
        NewKind::Adr,
        NewKind::Rfc,
        NewKind::Spike,
        NewKind::Prd,
        NewKind::Dialogue,
        NewKind::Plan,
    ];

    /// Returns the name of the type.
    pub fn as_str(self) -> &'static str {
        match self {
            NewKind::Adr => "adr",
            NewKind::Rfc => "rfc",
            NewKind::Spike => "spike",
            NewKind::Prd => "prd",
            NewKind::Dialogue => "dialogue",
            NewKind::Plan => "plan",
        }
    }

    pub(super) fn template(self) -> &'static str {
        match self {
            NewKind::Adr => include_str!("../../templates/new/adr.md"),
            NewKind::Rfc => include_str!("../../templates/new/rfc.md"),
            NewKind::Spike => include_str!("../../templates/new/spike.md"),
            NewKind::Prd => include_str!("../../templates/new/prd.md"),
            NewKind::Dialogue => include_str!("../../templates/new/dialogue.md"),
            NewKind::Plan => include_str!("../../templates/new/plan.md"),
        }
    }

    pub(super) fn first_status(self) -> Status {
        match self {
            NewKind::Adr => Status::Proposed,
            NewKind::Spike => Status::Active,
            _ => Status::Draft,
        }
    }
}

/// The wanted document.
pub struct NewDocument<'a> {
    /// Its type.
    pub kind: NewKind,
    /// Its title, as typed.
    pub title: &'a str,
    /// Its number; the next free one if it is not given.
    pub number: Option<u64>,
    /// The document it comes from; for a plan, its RFC.
    pub from: Option<DocId>,
    /// The document that it is meant to replace.
    pub supersedes: Option<DocId>,
    /// The day, `2026-01-25`.
    pub date: &'a str,
    /// The time of names that have one, `0200Z`.
    pub time: &'a str,
}

/// A document that would be created.
#[derive(Debug)]
pub struct PlannedDocument {
    /// Its path below the root.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its number.
    pub number: Option<u64>,
    /// Things that the user should know.
    pub notes: Vec<String>,
    /// The file whose branch this one belongs to: for a plan, its RFC.
    guarded: String,
}

impl PlannedDocument {
    /// Returns the change that creates it.
    fn edit(&self) -> DocumentEdit {
        let after = Some(self.text.clone().into_bytes());
        DocumentEdit { path: self.path.clone(), before: None, after, like: None }
    }
}

/// Maximum length of a file name in bytes.
const MAX_FILE_NAME: usize = 255;

/// Plans a document. The caller holds a lock that all working trees share.
fn new_document(
    root: &Root,
    set: &DocumentSet,
    new: &NewDocument<'_>,
) -> anyhow::Result<Result<PlannedDocument, ChangeRefusal>> {
    let title = match titles::clean(new.title) {
        Ok(title) => title,
        Err(reason) => return Ok(Err(ChangeRefusal::Name(reason))),
    };
    let slug = match titles::slug(&title) {
        Ok(slug) => slug,
        Err(reason) => return Ok(Err(ChangeRefusal::Name(reason))),
    };
    let place = match Place::find(set, new) {
        Ok(place) => place,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mut notes = Vec::new();
    let number = match (&place.plan_of, &place.style.prefix, new.number) {
        (Some(rfc), ..) => rfc.number.as_ref().and_then(|number| number.value()),
        (None, None, None) => None,
        (None, _, Some(number)) => {
            let taken = numbers(root, set, &place, &mut notes).contains(&number);
            if taken {
                let reason = format!("number {number} is in use\nhint: leave out --number");
                return Ok(Err(ChangeRefusal::Name(reason)));
            }
            Some(number)
        }
        (None, Some(_), None) => {
            let highest = numbers(root, set, &place, &mut notes).into_iter().max();
            Some(highest.map_or(1, |highest| highest + 1))
        }
    };
    let file = place.file_name(new, number, &slug);
    if file.len() > MAX_FILE_NAME {
        let reason = format!("the name would have {} bytes\nhint: a shorter title", file.len());
        return Ok(Err(ChangeRefusal::Name(reason)));
    }
    let path = format!("{}/{file}", place.folder);
    let text = place.text(root, set, new, &title, number, &path)?;
    let guarded = place.plan_of.map_or(&path, |rfc| &rfc.path).clone();
    Ok(Ok(PlannedDocument { path, text, number, notes, guarded }))
}

/// The result of creating a document.
#[derive(Debug)]
pub enum CreateOutcome {
    /// The document that was created, or would be.
    Planned(PlannedDocument),
    /// Nothing was created.
    Refused(ChangeRefusal),
}

/// Number of times that the next number is tried if another program creates the same file.
const MAX_ATTEMPTS: u32 = 16;

/// Creates a document, unless `dry_run`. All working trees of the repository take turns, so that each
/// finds the numbers of the others. The caller holds the lock of this one. `refusal` is the reason why
/// a file must not be changed on this branch.
pub fn create(
    root: &Root,
    set: &DocumentSet,
    new: &NewDocument<'_>,
    dry_run: bool,
    refusal: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<CreateOutcome> {
    let common = common_folder(root.path());
    let _turn = match (&common, dry_run) {
        (Some(folder), false) => Some(emit::lock_folder(folder)?),
        _ => None,
    };
    for attempt in 1.. {
        let planned = match new_document(root, set, new)? {
            Ok(planned) => planned,
            Err(refusal) => return Ok(CreateOutcome::Refused(refusal)),
        };
        if let Some(reason) = refusal(&planned.guarded) {
            return Ok(CreateOutcome::Refused(ChangeRefusal::Name(reason)));
        }
        if dry_run {
            return Ok(CreateOutcome::Planned(planned));
        }
        match emit::edit_documents(root, &[planned.edit()]) {
            Ok(()) => return Ok(CreateOutcome::Planned(planned)),
            // A program that takes no turn, such as an editor, created the file first.
            Err(_)
                if attempt < MAX_ATTEMPTS
                    && new.number.is_none()
                    && planned.number.is_some()
                    && root.exists(&planned.path) => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("the last attempt returns")
}

/// Returns the numbers that are in use: in this tree, in other branches and other working trees.
fn numbers(root: &Root, set: &DocumentSet, place: &Place<'_>, notes: &mut Vec<String>) -> Vec<u64> {
    let value = |name: &FileName| name.number.as_ref().and_then(|number| number.value());
    let mut numbers: Vec<u64> = Vec::new();
    let own = place.documents.iter().filter_map(|document| document.number.as_ref()?.value());
    numbers.extend(own);
    let plans = set.survey.graph.documents.iter();
    let beside = plans.filter(|document| folder_of(&document.path) == place.folder);
    numbers.extend(beside.filter_map(|document| document.number.as_ref()?.value()));
    let elsewhere = names_elsewhere(root.path(), &place.folder);
    let entries = root.entries(&place.folder).unwrap_or_default();
    let here = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    for name in here.chain(elsewhere.names) {
        let name = if name.contains('.') { name } else { format!("{name}.md") };
        numbers.extend(value(&FileName::parse(&name)));
    }
    if elsewhere.unknown {
        notes.push("git cannot be asked; only this working tree was searched for numbers".into());
    }
    if elsewhere.n_skipped > 0 {
        notes.push(format!(
            "{} not searched for numbers",
            counted(elsewhere.n_skipped, "branch").replace("branchs", "branches")
        ));
    }
    numbers
}
