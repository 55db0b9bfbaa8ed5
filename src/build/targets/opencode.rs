//! The files that opencode includes, in `opencode.json`.

use super::shared_files::SharedFile;
use crate::emit;
use crate::model::build_target::OPENCODE;
use crate::model::layout::INSTALLED;
use crate::model::{BuildTarget, Code, Digest};
use crate::root::Root;
use crate::wire::installed::{self, FileRecord, InstallRecord, Removed};
use crate::wire::register::{self, JsonEntry, Registration, ServerForm};

/// Plans the instructions. They are removed only if this machine added them, because people can write
/// the same entries.
pub(super) fn plan(
    root: &Root,
    before: Option<String>,
    targets: &[BuildTarget],
) -> anyhow::Result<Option<SharedFile>> {
    let files = register::opencode_files(targets);
    let registration = Registration::Json(vec![JsonEntry::Instructions(files)]);
    let error = |error| anyhow::anyhow!("{OPENCODE}:{error}\nhint: correct it there");
    let record = record(root).files.remove(OPENCODE);
    let finding = (Code::Stale, "its instructions do not have the right files of blue's");
    if targets.contains(&BuildTarget::Opencode) {
        let registered = installed::register(before.as_deref(), record.as_ref(), &registration);
        let (after, record) = registered.map_err(error)?;
        let reason = "it did not include the right files";
        let file = SharedFile::new(OPENCODE, before, Some(after), reason, finding);
        return Ok(Some(file.with_record(Some(record))));
    }
    let added = record.filter(|record| !record.undo.elements.is_empty());
    let (Some(text), Some(mut record)) = (&before, added) else { return Ok(None) };
    let server = Registration::Json(vec![JsonEntry::Server(ServerForm::Opencode)]);
    let has_server = register::is_registered(text, &server).map_err(error)?;
    if has_server {
        // The original is the text without the server, too.
        record.original = None;
    }
    let removed = installed::unregister(text, Some(&record), &registration).map_err(error)?;
    let after = match removed {
        Removed::Nothing => return Ok(None),
        Removed::Text(text) => Some(text),
        Removed::File => None,
    };
    record.undo.elements.clear();
    record.undo.created.remove("instructions");
    record.written = Digest::of(after.as_deref().unwrap_or_default().as_bytes()).to_string();
    let reason = "removed: no target asks for it any more";
    let file = SharedFile::new(OPENCODE, before, after, reason, finding);
    Ok(Some(file.with_record(has_server.then_some(record))))
}

fn record(root: &Root) -> InstallRecord {
    let bytes = root.readable_bytes(INSTALLED, 16 << 20);
    let read = bytes.zip(root.machine().key.as_ref());
    read.and_then(|(bytes, key)| installed::read(&bytes, key)).unwrap_or_default()
}

/// Saves the record of the change for `blue uninstall`, or removes it.
pub(super) fn save_record(root: &Root, file: Option<&FileRecord>) -> anyhow::Result<()> {
    let Some(key) = &root.machine().key else { return Ok(()) };
    let mut record = record(root);
    match file {
        Some(file) => record.files.insert(OPENCODE.to_string(), file.clone()),
        None => record.files.remove(OPENCODE),
    };
    emit::write_local(root, INSTALLED, &installed::write(&record, key))
}
