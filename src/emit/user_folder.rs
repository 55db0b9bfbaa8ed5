//! Writes private files in the user's own folder, `$BLUE_HOME`.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use rustix::fs::{Mode, OFlags};

use super::stage;
use crate::model::Key;
use crate::root::Root;

/// The file with this machine's key. It is in a folder that git ignores, because `$BLUE_HOME` can
/// be in a repository that the user commits.
pub const KEY: &str = "local/key";

/// Creates the key of this machine. If two processes create it at once, the second one fails and
/// has to read the key of the first.
pub fn create_key(home: &Path) -> anyhow::Result<()> {
    let mut bytes = [0; Key::BYTES];
    let n = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(std::io::Error::from)
        .context("read random bytes")?;
    anyhow::ensure!(n == Key::BYTES, "read random bytes: too few");
    let root = open_or_create(home)?;
    super::local_folder::create_folders(&root, "local")?;
    if !root.exists("local/.gitignore") {
        write_private(&root, "local/.gitignore", b"*\n")?;
    }
    let temporary = format!("{KEY}.{}.tmp", std::process::id());
    write_private(&root, &temporary, &bytes)?;
    // Unlike a rename, a link fails if another process has created the key in the meantime.
    let linked =
        rustix::fs::linkat(root.fd(), &*temporary, root.fd(), KEY, rustix::fs::AtFlags::empty());
    stage::remove(&root, &temporary)?;
    linked.map_err(std::io::Error::from).with_context(|| format!("create {KEY}"))
}

/// Replaces a private file of the user in one rename.
pub fn replace_private(home: &Path, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let root = open_or_create(home)?;
    let temporary = format!("{name}.{}.tmp", std::process::id());
    write_private(&root, &temporary, bytes)?;
    stage::rename(&root, &temporary, name)
}

/// Opens the user's folder, and creates it if it does not exist.
fn open_or_create(home: &Path) -> anyhow::Result<Root> {
    let opened = Root::open(home).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            // The folder above it is not created: a home directory has to exist.
            rustix::fs::mkdir(home, Mode::RWXU)?;
            Root::open(home)
        }
        _ => Err(error),
    });
    opened.with_context(|| format!("create {}", home.display()))
}

fn write_private(root: &Root, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    stage::remove(root, name)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let mut file = stage::open(root, name, flags, Mode::RUSR | Mode::WUSR)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.with_context(|| format!("write {name}"))
}
