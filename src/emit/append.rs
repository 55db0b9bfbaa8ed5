//! Appends to files that people and other programs append to as well.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;

use anyhow::Context;
use rustix::fs::OFlags;

use super::local_folder::create_folders;
use super::stage;
use crate::model::layout::folder_of;
use crate::root::Root;

/// Appends lines to a file in one write, and creates it with `opening` if it does not exist. Bytes
/// that are there are never changed. If the disk is full, the part that was written is cut off.
pub fn append(root: &Root, path: &str, opening: &str, lines: &str) -> anyhow::Result<()> {
    if !folder_of(path).is_empty() {
        create_folders(root, folder_of(path))?;
    }
    stage::refuse_link(root, path)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::APPEND;
    let mut file = stage::open(root, path, flags, stage::FOR_ALL)?;
    let size = file.metadata().with_context(|| format!("stat {path}"))?.len();
    let text = match size {
        0 => format!("{opening}{lines}"),
        _ if ends_line(&file, size) => lines.to_string(),
        _ => format!("\n{lines}"),
    };
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        file.set_len(size).ok();
    }
    written.with_context(|| format!("write {path}"))
}

/// Returns true if the file ends with a line end.
fn ends_line(file: &File, size: u64) -> bool {
    let mut last = [0];
    file.read_exact_at(&mut last, size - 1).is_ok() && last == *b"\n"
}
