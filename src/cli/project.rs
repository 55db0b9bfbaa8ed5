//! Finds the project of a command, and reads the user's own files.

use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::OFlags;

use crate::discover::git;
use crate::discover::project_root::{self, Uid};
use crate::emit;
use crate::model::layout::{BLUE, MANIFEST};
use crate::model::{Key, Machine};
use crate::root::Root;
use crate::wire::user::{self, TrustLine, UserConfig};

/// The file with the user's consents.
pub(super) const TRUST: &str = "trust.jsonl";

/// The user's configuration.
const USER_CONFIG: &str = "config.yaml";

/// Size limit of a file in the user's folder.
const MAX_BYTES: u64 = 1 << 20;

/// Finds the root of the project that contains a folder. Refuses a project of another user.
pub(super) fn find(directory: &Path) -> anyhow::Result<PathBuf> {
    let root = project_root::find(directory, home().as_deref(), &git::ceilings())?;
    let Some(place) = project_root::owned_by_another(&root, &users()) else { return Ok(root) };
    if user_config()?.is_safe(&root) {
        return Ok(root);
    }
    let place = place.display();
    let config = home().unwrap_or_else(|| PathBuf::from("~/.blue")).join(USER_CONFIG);
    anyhow::bail!(
        "{place} belongs to another user, who can change what an agent receives\nhint: if you trust it, write `safe_directories: [{:?}]` into {}",
        root.display().to_string(),
        config.display()
    )
}

/// Opens a project's root, with this user's key and consents.
pub(super) fn open(folder: &Path) -> anyhow::Result<Root> {
    let root = Root::open(folder).with_context(|| format!("open {}", folder.display()))?;
    let home = home();
    let key = home.as_deref().and_then(read_key);
    let is_global = home.as_deref().is_some_and(|home| is_same_folder(home, folder));
    // A file that other users can write allows nothing; `blue trust` reports it.
    let trust = home.and_then(|home| private_file(&home.join(TRUST))).unwrap_or_default();
    let lines = user::trust_lines(&String::from_utf8_lossy(&trust)).into_iter();
    let external = lines.filter(|line| line.root == folder).flat_map(|line| line.external);
    Ok(root.with_machine(Machine { key, external: external.collect(), is_global }))
}

fn is_same_folder(folder: &Path, other: &Path) -> bool {
    let real = |folder: &Path| folder.canonicalize().ok();
    real(folder).is_some_and(|folder| real(other) == Some(folder))
}

/// Returns the folder of the user's own knowledge, if it was built.
pub(super) fn global_folder() -> Option<PathBuf> {
    home().filter(|home| home.join(MANIFEST).is_file())
}

/// Opens a project for a command that writes caches: creates this machine's key if there is none.
pub(super) fn open_to_write(folder: &Path) -> anyhow::Result<Root> {
    create_key();
    open(folder)
}

/// Creates this machine's key if there is none. If it cannot be written, nothing is cached.
pub(super) fn create_key() {
    if let Some(home) = home().filter(|home| !home.join(emit::KEY).exists()) {
        emit::create_key(&home).ok();
    }
}

/// Returns the folder of the user's configuration and knowledge: `$BLUE_HOME`, or `~/.blue`.
pub(super) fn home() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = set("BLUE_HOME").map(PathBuf::from);
    let home = home.or_else(|| set("HOME").map(|home| Path::new(&home).join(BLUE)));
    home.filter(|home| home.is_absolute())
}

/// Returns the users whose projects are trusted: this user, and under sudo the calling user.
fn users() -> Vec<Uid> {
    let own = rustix::process::geteuid();
    let sudo = std::env::var_os("SUDO_UID").and_then(|uid| uid.to_str()?.parse().ok());
    std::iter::once(own.as_raw()).chain(sudo.filter(|_| own.is_root())).collect()
}

/// Reads the user's configuration.
pub(super) fn user_config() -> anyhow::Result<UserConfig> {
    let Some(path) = home().map(|home| home.join(USER_CONFIG)) else {
        return Ok(UserConfig::default());
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => UserConfig::read(&text).with_context(|| path.display().to_string()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(UserConfig::default()),
        Err(error) => Err(error).with_context(|| format!("read {}", path.display())),
    }
}

/// Reads the consents of all projects, for the command that changes them.
pub(super) fn trust_lines() -> anyhow::Result<Vec<TrustLine>> {
    let Some(path) = home().map(|home| home.join(TRUST)) else { return Ok(Vec::new()) };
    match private_file(&path) {
        Some(bytes) => Ok(user::trust_lines(&String::from_utf8_lossy(&bytes))),
        None if path.exists() => anyhow::bail!(
            "{} is ignored: it must be a regular file that only you can open\nhint: chmod 600 {0}",
            path.display()
        ),
        None => Ok(Vec::new()),
    }
}

/// Reads this machine's key. A key that other users can read is ignored.
fn read_key(home: &Path) -> Option<Key> {
    let bytes = private_file(&home.join(emit::KEY))?;
    Some(Key::new(bytes.try_into().ok()?))
}

/// Reads a regular file that belongs to this user and that no other user can open.
fn private_file(path: &Path) -> Option<Vec<u8>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().try_into().ok()?;
    let file = std::fs::File::options().read(true).custom_flags(flags).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let is_private = metadata.is_file()
        && metadata.uid() == rustix::process::geteuid().as_raw()
        && metadata.permissions().mode() & 0o077 == 0
        && metadata.len() <= MAX_BYTES;
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut is_private.then_some(&file)?, &mut bytes).ok()?;
    Some(bytes)
}
