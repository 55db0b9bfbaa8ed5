//! Plans the changes that `blue install` and `blue uninstall` make to each file.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::OFlags;

use super::agent_files::{CLAUDE, Servers};
use super::{output, project};
use crate::emit;
use crate::model::Digest;
use crate::model::layout::{INSTALLED, folder_of};
use crate::root::{Content, Root};
use crate::wire::agent::{Agent, SCRIPTS, SessionBy, hooks};
use crate::wire::conflict;
use crate::wire::installed::{self, FileRecord, InstallRecord, Removed};
use crate::wire::jsonc::SettingsError;
use crate::wire::register::{self, Impostor, JsonEntry, Registration, ServerForm};

/// Maximum size of a settings file.
const MAX_BYTES: u64 = 16 << 20;

/// Digests of scripts that blue shipped before scripts had a mark.
const UNMARKED_SCRIPTS: &[&str] =
    &["blake3:87be2e4596433aeac2006fda561d7f426952de80cbf9f0962432f6b3472217dc"];

/// A file that blue is registered in.
pub(super) struct SettingsFile {
    /// Directory that it is opened below.
    pub(super) root: Root,
    /// Path below `root`.
    pub(super) path: String,
    /// Path in messages and in the record.
    pub(super) shown: String,
    /// Entry that blue writes into it.
    pub(super) registration: Registration,
}

/// Files of a project, or of a user's home, that blue is registered in.
pub(super) struct Installation {
    /// The project, or the user's home.
    pub(super) base: Root,
    /// Path of the record for `blue uninstall`, below `base`.
    pub(super) record_path: String,
    /// Settings files.
    pub(super) files: Vec<SettingsFile>,
    /// True for a project, which has hook scripts too.
    pub(super) is_project: bool,
}

/// Result of an installation or its removal for one file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum FileStatus {
    /// blue's entries were added.
    Added,
    /// Entries of another version were updated.
    Updated,
    /// All entries are present.
    Current,
    /// The file was not touched.
    Kept,
    /// blue's entries were removed.
    Restored,
    /// The file held only blue's entries and was removed.
    Removed,
    /// The file has no entries of blue's.
    Absent,
}

impl FileStatus {
    /// Returns the word for the report.
    pub(super) fn word(self) -> &'static str {
        match self {
            FileStatus::Added => "added",
            FileStatus::Updated => "updated",
            FileStatus::Current => "current",
            FileStatus::Kept => "kept",
            FileStatus::Restored => "restored",
            FileStatus::Removed => "removed",
            FileStatus::Absent => "absent",
        }
    }
}

/// Planned change of a settings file.
pub(super) struct FileChange {
    /// Result to report.
    pub(super) status: FileStatus,
    /// Reason after the path in the report; may be empty.
    pub(super) note: &'static str,
    /// Current text; `None` if there is no file.
    pub(super) before: Option<String>,
    /// New text; `None` if the file is to be removed.
    pub(super) after: Option<String>,
    /// Record for `blue uninstall`.
    pub(super) record: Option<FileRecord>,
}

impl Installation {
    /// Returns the given files of a project.
    pub(super) fn project(
        folder: &Path,
        files: Vec<(&'static str, Registration)>,
    ) -> anyhow::Result<Installation> {
        let file = |(path, registration): (&str, Registration)| {
            let (root, path) = (project::open(folder)?, path.to_string());
            Ok(SettingsFile { root, shown: path.clone(), path, registration })
        };
        let files = files.into_iter().map(file).collect::<anyhow::Result<_>>()?;
        let (base, record_path) = (project::open(folder)?, INSTALLED.to_string());
        Ok(Installation { base, record_path, files, is_project: true })
    }

    /// Returns the settings files of the user.
    pub(super) fn user(servers: Servers) -> anyhow::Result<Installation> {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let home = home.filter(|home| home.is_absolute());
        let home = home.context("$HOME is not set\nhint: set it to your home folder")?;
        let base = project::open(&home)?;
        // It is not in ~/.blue, because a user may delete or commit that folder.
        let record_path = ".local/state/blue/installed.json".to_string();
        let hooks = JsonEntry::Hooks(hooks(Agent::ClaudeUser, SessionBy::Hook));
        let mut files = vec![user_file(&home, CLAUDE, Registration::Json(vec![hooks]))?];
        if servers == Servers::Included {
            let server = JsonEntry::Server(ServerForm::McpServers);
            files.push(user_file(&home, ".claude.json", Registration::Json(vec![server]))?);
        }
        Ok(Installation { base, record_path, files, is_project: false })
    }

    /// Reads the record of the last installation; empty if there is none.
    pub(super) fn record(&self) -> anyhow::Result<InstallRecord> {
        let bytes = read_bytes(&self.base, &self.record_path, &self.record_path)?;
        let key = self.base.machine().key.as_ref();
        let read = bytes.zip(key).and_then(|(bytes, key)| installed::read(&bytes, key));
        Ok(read.unwrap_or_default())
    }

    /// Returns the folders that an installation may have to create, innermost first.
    pub(super) fn folders(&self) -> Vec<String> {
        let files = self.files.iter().filter(|file| file.root.path() == self.base.path());
        let mut paths: Vec<&str> = files.map(|file| file.path.as_str()).collect();
        match self.is_project {
            true => paths.extend(SCRIPTS.iter().map(|(path, _)| *path)),
            false => paths.push(&self.record_path),
        }
        let mut folders: Vec<String> = Vec::new();
        for path in paths {
            let mut at = folder_of(path);
            while !at.is_empty() {
                folders.push(at.to_string());
                at = folder_of(at);
            }
        }
        folders.sort_by_key(|folder| (std::cmp::Reverse(folder.len()), folder.clone()));
        folders.dedup();
        folders
    }
}

/// Returns a settings file of the user. Symbolic links are followed, because dotfile managers create
/// them.
fn user_file(home: &Path, path: &str, registration: Registration) -> anyhow::Result<SettingsFile> {
    let file = home.join(path);
    let folder = file.parent().unwrap_or(home);
    let name = path.rsplit('/').next().unwrap_or(path);
    let real = |path: &Path| {
        path.canonicalize().with_context(|| format!("follow the link {}", path.display()))
    };
    let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|stat| stat.is_symlink());
    let (below, below_path) = if is_link(&file) {
        let file = real(&file)?;
        let name = file.file_name().and_then(|name| name.to_str()).map(str::to_string);
        let name = name.with_context(|| format!("open {}", file.display()))?;
        (file.parent().unwrap_or(home).to_path_buf(), name)
    } else if folder != home && is_link(folder) {
        (real(folder)?, name.to_string())
    } else {
        (home.to_path_buf(), path.to_string())
    };
    Ok(SettingsFile {
        root: Root::open(&below).with_context(|| format!("open {}", below.display()))?,
        path: below_path,
        shown: format!("~/{path}"),
        registration,
    })
}

/// Reads a file below a root; `None` if there is no such file.
pub(super) fn read_bytes(root: &Root, path: &str, shown: &str) -> anyhow::Result<Option<Vec<u8>>> {
    match root.read(path, MAX_BYTES) {
        Ok(None) => Ok(None),
        Ok(Some(Content::Bytes(bytes, _))) => Ok(Some(bytes)),
        Ok(Some(Content::TooLarge(_))) => anyhow::bail!("{shown} is larger than 16 MiB"),
        Ok(Some(Content::NotRegular)) => {
            anyhow::bail!("{shown} is in the way: it is not a regular file\nhint: move it away")
        }
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            anyhow::bail!(
                "{shown} is a symbolic link or is below one; blue writes nothing through a link\nhint: replace the link by a real file or folder"
            )
        }
        Err(error) => Err(error).with_context(|| format!("read {shown}")),
    }
}

impl SettingsFile {
    /// Reads the text; `None` if there is no such file.
    pub(super) fn text(&self) -> anyhow::Result<Option<String>> {
        let Some(bytes) = read_bytes(&self.root, &self.path, &self.shown)? else { return Ok(None) };
        let text = String::from_utf8(bytes);
        text.map(Some).map_err(|_| {
            anyhow::anyhow!(
                "{} is not UTF-8\nhint: save it as UTF-8; nothing was changed",
                self.shown
            )
        })
    }

    fn error(&self, error: &SettingsError) -> anyhow::Error {
        anyhow::anyhow!("{}:{error}\nhint: correct it there; nothing was changed", self.shown)
    }

    /// Plans an installation. `previous` is the record of an earlier installation.
    pub(super) fn install(&self, previous: Option<&FileRecord>) -> anyhow::Result<FileChange> {
        let before = self.text()?;
        let old = before.as_deref().unwrap_or_default();
        if let Some(reason) = register::taken(old, &self.registration) {
            return Ok(FileChange {
                status: FileStatus::Kept,
                note: reason,
                after: before.clone(),
                before,
                record: None,
            });
        }
        let registered = installed::register(before.as_deref(), previous, &self.registration);
        let (after, record) = registered.map_err(|error| self.error(&error))?;
        if let Some(impostor) = self.impostors(&after)?.first() {
            anyhow::bail!(
                "{}: {} looks like a hook of blue's, but blue did not write it\nhint: remove it there and run `blue install` again; nothing was changed",
                self.shown,
                output::visible(&format!("{:?}", impostor.command))
            );
        }
        let was_registered = register::is_registered(old, &self.registration);
        let status = match was_registered.map_err(|error| self.error(&error))? {
            true if after == old => FileStatus::Current,
            true => FileStatus::Updated,
            false => FileStatus::Added,
        };
        let record = if after == old { previous.cloned() } else { Some(record) };
        Ok(FileChange { status, note: "", before, after: Some(after), record })
    }

    /// Finds commands in a text of this file that pretend to be blue's.
    pub(super) fn impostors(&self, text: &str) -> anyhow::Result<Vec<Impostor>> {
        register::impostors(text, &self.registration).map_err(|error| self.error(&error))
    }

    /// Returns true if hooks of an agent are registered in it.
    pub(super) fn has_hooks(&self) -> bool {
        match &self.registration {
            Registration::Json(entries) => {
                entries.iter().any(|entry| matches!(entry, JsonEntry::Hooks(_)))
            }
            Registration::HookFile(_) => true,
            Registration::CodexServer | Registration::Attributes | Registration::Targets(_) => {
                false
            }
        }
    }

    /// Plans the removal of blue. `record` is the record of the installation.
    pub(super) fn uninstall(&self, record: Option<&FileRecord>) -> anyhow::Result<FileChange> {
        let before = self.text()?;
        let change =
            |status, before, after| FileChange { status, note: "", before, after, record: None };
        let Some(text) = &before else { return Ok(change(FileStatus::Absent, None, None)) };
        let removed = installed::unregister(text, record, &self.registration);
        Ok(match removed.map_err(|error| self.error(&error))? {
            Removed::Nothing => change(FileStatus::Absent, before.clone(), before),
            Removed::Text(text) => change(FileStatus::Restored, before, Some(text)),
            Removed::File => change(FileStatus::Removed, before, None),
        })
    }
}

/// Compares a hook script with the one that blue ships.
pub(super) fn script_state(root: &Root, path: &str, shipped: &[u8]) -> anyhow::Result<ScriptState> {
    let Some(found) = read_bytes(root, path, path)? else { return Ok(ScriptState::Absent) };
    // git may have checked it out with CR LF. The kernel cannot run such a script.
    let plain: Vec<u8> = found.iter().copied().filter(|byte| *byte != b'\r').collect();
    let digest = Digest::of(&plain).to_string();
    Ok(if found == shipped && is_executable(root, path) {
        ScriptState::Current
    } else if plain == shipped || UNMARKED_SCRIPTS.contains(&digest.as_str()) {
        ScriptState::Older
    } else if plain.starts_with(b"#!/bin/sh\n# blue hook") {
        ScriptState::Marked(found)
    } else {
        ScriptState::Edited
    })
}

/// Restores blue's scripts after a merge conflict in them or a conversion of their line endings,
/// because no shell runs them then. Returns their paths.
pub(super) fn restore_scripts(root: &Root) -> anyhow::Result<Vec<&'static str>> {
    let mut restored = Vec::new();
    for (path, shipped) in SCRIPTS {
        let Some(found) = read_bytes(root, path, path)? else { continue };
        let state = script_state(root, path, shipped)?;
        let has_markers = conflict::has_markers(&found);
        if !matches!(state, ScriptState::Older | ScriptState::Marked(_))
            || !has_markers && !found.contains(&b'\r')
        {
            continue;
        }
        if has_markers {
            emit::save_copy(root, path, &found)?;
        }
        emit::replace_script(root, path, shipped)?;
        restored.push(*path);
    }
    Ok(restored)
}

/// State of a hook script on disk.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum ScriptState {
    /// There is no such file.
    Absent,
    /// It is the script that this blue ships.
    Current,
    /// It is a script that blue shipped earlier, or one with CR LF, or one that is not executable.
    Older,
    /// It has blue's mark: a script of another version, possibly edited.
    Marked(Vec<u8>),
    /// It has no mark: a user wrote it.
    Edited,
}

fn is_executable(root: &Root, path: &str) -> bool {
    let opened = root.open_at(path, OFlags::RDONLY).map(File::from);
    let mode = opened.and_then(|file| file.metadata()).map(|stat| stat.permissions().mode());
    mode.is_ok_and(|mode| mode & 0o100 != 0)
}
