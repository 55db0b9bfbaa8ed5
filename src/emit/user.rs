//! Files in the user's own folder, `$BLUE_HOME`, which only the user can read.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use rustix::fs::{Mode, OFlags};

use super::stage;
use crate::model::Key;
use crate::root::Root;

/// The file with this machine's key, in a folder that git ignores: `$BLUE_HOME` can be in a repository
/// that the user commits.
pub const KEY: &str = "local/key";

/// Creates the key of this machine. Of two processes that create it at once, the
/// later one fails, and reads what the other wrote.
pub fn create_key(home: &Path) -> anyhow::Result<()> {
    let mut bytes = [0; Key::BYTES];
    let n = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(std::io::Error::from)
        .context("read random bytes")?;
    anyhow::ensure!(n == Key::BYTES, "read random bytes: too few");
    let root = folder(home)?;
    super::local::folder(&root, "local")?;
    if !root.exists("local/.gitignore") {
        write_private(&root, "local/.gitignore", b"*\n")?;
    }
    let temporary = format!("{KEY}.{}.tmp", std::process::id());
    write_private(&root, &temporary, &bytes)?;
    // A link fails where a rename would replace the key that another process uses already.
    let linked =
        rustix::fs::linkat(root.fd(), &*temporary, root.fd(), KEY, rustix::fs::AtFlags::empty());
    stage::remove(&root, &temporary)?;
    linked.map_err(std::io::Error::from).with_context(|| format!("create {KEY}"))
}

/// Replaces a file of the user's in one rename.
pub fn replace_private(home: &Path, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let root = folder(home)?;
    let temporary = format!("{name}.{}.tmp", std::process::id());
    write_private(&root, &temporary, bytes)?;
    stage::rename(&root, &temporary, name)
}

/// The user's folder, created if it is not there.
fn folder(home: &Path) -> anyhow::Result<Root> {
    let opened = Root::open(home).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            // Only this folder: a home that does not exist is no place to write to.
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
