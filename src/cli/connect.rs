//! Which files an installation is about, and what would become of each.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::OFlags;

use super::{output, project};
use crate::emit::{self, LOCAL};
use crate::model::Digest;
use crate::model::layout::folder_of;
use crate::root::{Content, Root};
use crate::wire::agent::{Agent, SCRIPTS, hooks};
use crate::wire::attributes::ATTRIBUTES;
use crate::wire::conflict;
use crate::wire::installed::{self, Installed};
use crate::wire::jsonc::JsonError;
use crate::wire::register::{self, Registration, UndoInfo};

/// Larger than any settings file.
const LIMIT: u64 = 16 << 20;

/// Scripts that blue shipped before they had a mark.
const OLDER: &[&str] = &["blake3:87be2e4596433aeac2006fda561d7f426952de80cbf9f0962432f6b3472217dc"];

/// A settings file.
pub(super) struct Target {
    /// The folder it is opened below.
    pub(super) root: Root,
    /// Its path there.
    pub(super) path: String,
    /// How it is called in messages and in the record.
    pub(super) shown: String,
    /// What shall stand in it.
    pub(super) wanted: Registration,
}

/// Everything one installation is about.
pub(super) struct Place {
    /// The project, or the person's home.
    pub(super) base: Root,
    /// Where it is remembered, below the base.
    pub(super) memory: String,
    /// The settings files.
    pub(super) targets: Vec<Target>,
    /// Whether the scripts are here too.
    pub(super) is_project: bool,
}

/// What becomes of a file, in one word.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fate {
    /// It gets what was not in it.
    Added,
    /// It gets what an earlier blue wrote otherwise.
    Updated,
    /// It has all of it.
    Current,
    /// It is left alone.
    Kept,
    /// It is as it was before blue came.
    Restored,
    /// It was only there for blue.
    Removed,
    /// There is nothing of blue's in it.
    Absent,
}

impl Fate {
    /// The word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Fate::Added => "added",
            Fate::Updated => "updated",
            Fate::Current => "current",
            Fate::Kept => "kept",
            Fate::Restored => "restored",
            Fate::Removed => "removed",
            Fate::Absent => "absent",
        }
    }
}

/// What would become of a file.
pub(super) struct Step {
    /// One word for it.
    pub(super) fate: Fate,
    /// What else there is to say.
    pub(super) note: &'static str,
    /// Its text; `None` if there is no such file.
    pub(super) before: Option<String>,
    /// Its text afterwards; `None` if there is to be none.
    pub(super) after: Option<String>,
    /// What to remember of it.
    pub(super) memory: Option<installed::File>,
}

impl Place {
    /// The files of a project.
    pub(super) fn project(folder: &Path, mcp: bool, codex: bool) -> anyhow::Result<Place> {
        let open = || project::open(folder);
        let mut targets = Vec::new();
        let mut add = |path: &str, wanted| -> anyhow::Result<()> {
            let (path, shown) = (path.to_string(), path.to_string());
            targets.push(Target { root: open()?, path, shown, wanted });
            Ok(())
        };
        add(".claude/settings.json", Registration::Hooks(hooks(Agent::Claude)))?;
        if mcp {
            add(".mcp.json", Registration::Server)?;
        }
        if codex {
            add(".codex/hooks.json", Registration::Hooks(hooks(Agent::Codex)))?;
        }
        add(ATTRIBUTES, Registration::Attributes)?;
        let memory = format!("{LOCAL}/installed.json");
        Ok(Place { base: open()?, memory, targets, is_project: true })
    }

    /// The settings of the person.
    pub(super) fn user() -> anyhow::Result<Place> {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let home = home.filter(|home| home.is_absolute());
        let home = home.context("$HOME is not set\nhint: set it to your home folder")?;
        let base = project::open(&home)?;
        // Outside ~/.blue, which a user can delete or commit.
        let memory = ".local/state/blue/installed.json".to_string();
        Ok(Place { base, memory, targets: vec![user_target(&home)?], is_project: false })
    }

    /// What the last installation remembered.
    pub(super) fn remembered(&self) -> anyhow::Result<Installed> {
        let bytes = bytes(&self.base, &self.memory, &self.memory)?;
        let key = self.base.machine().key.as_ref();
        let read = bytes.zip(key).and_then(|(bytes, key)| installed::read(&bytes, key));
        Ok(read.unwrap_or_default())
    }

    /// Every folder that an installation may have to make, the innermost first.
    pub(super) fn folders(&self) -> Vec<String> {
        let files = self.targets.iter().filter(|target| target.root.path() == self.base.path());
        let mut paths: Vec<&str> = files.map(|target| target.path.as_str()).collect();
        match self.is_project {
            true => paths.extend(SCRIPTS.iter().map(|(path, _)| *path)),
            false => paths.push(&self.memory),
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

/// The settings file of a person, at its target if it is a link, as dotfile managers make it.
pub(super) fn user_target(home: &Path) -> anyhow::Result<Target> {
    let folder = home.join(".claude");
    let file = folder.join("settings.json");
    let real = |path: &Path| {
        path.canonicalize().with_context(|| format!("follow the link {}", path.display()))
    };
    let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|stat| stat.is_symlink());
    let (below, path) = if is_link(&file) {
        let file = real(&file)?;
        let name = file.file_name().and_then(|name| name.to_str()).map(str::to_string);
        let name = name.with_context(|| format!("open {}", file.display()))?;
        (file.parent().unwrap_or(home).to_path_buf(), name)
    } else if is_link(&folder) {
        (real(&folder)?, "settings.json".to_string())
    } else {
        (home.to_path_buf(), ".claude/settings.json".to_string())
    };
    Ok(Target {
        root: Root::open(&below).with_context(|| format!("open {}", below.display()))?,
        path,
        shown: "~/.claude/settings.json".to_string(),
        wanted: Registration::Hooks(hooks(Agent::ClaudeUser)),
    })
}

/// The bytes of a file below a root; `None` if there is no such file.
pub(super) fn bytes(root: &Root, path: &str, shown: &str) -> anyhow::Result<Option<Vec<u8>>> {
    match root.read(path, LIMIT) {
        Ok(None) => Ok(None),
        Ok(Some(Content::Bytes(bytes, _))) => Ok(Some(bytes)),
        Ok(Some(Content::TooLarge(_))) => anyhow::bail!("{shown} is larger than 16 MiB"),
        Ok(Some(Content::NotRegular)) => {
            anyhow::bail!("{shown} is in the way: it is not a regular file\nhint: move it away")
        }
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            anyhow::bail!(
                "{shown} is, or lies behind, a symbolic link; blue writes nothing through a link\nhint: replace the link by a real file or folder"
            )
        }
        Err(error) => Err(error).with_context(|| format!("read {shown}")),
    }
}

impl Target {
    /// Its text; `None` if there is no such file.
    pub(super) fn text(&self) -> anyhow::Result<Option<String>> {
        let Some(bytes) = bytes(&self.root, &self.path, &self.shown)? else { return Ok(None) };
        let text = String::from_utf8(bytes);
        text.map(Some).map_err(|_| {
            anyhow::anyhow!(
                "{} is not UTF-8\nhint: save it as UTF-8; nothing was changed",
                self.shown
            )
        })
    }

    fn fault(&self, fault: &JsonError) -> anyhow::Error {
        anyhow::anyhow!("{}:{fault}\nhint: correct it there; nothing was changed", self.shown)
    }

    /// What installing would do to it.
    pub(super) fn install(&self, known: Option<&installed::File>) -> anyhow::Result<Step> {
        let before = self.text()?;
        let old = before.as_deref().unwrap_or_default();
        if matches!(self.wanted, Registration::Server) && register::is_name_taken(old) {
            let note = " (another server is called blue)";
            return Ok(Step {
                fate: Fate::Kept,
                note,
                after: before.clone(),
                before,
                memory: None,
            });
        }
        let planned = self.registered(before.as_deref(), known);
        let (after, memory) = planned.map_err(|fault| self.fault(&fault))?;
        if let Some((command, _)) = self.posing(&after)?.first() {
            anyhow::bail!(
                "{}: {} poses as blue's; blue did not write it\nhint: remove it there and run `blue install` again; nothing was changed",
                self.shown,
                output::visible(&format!("{command:?}"))
            );
        }
        let had = register::is_registered(old, &self.wanted).map_err(|fault| self.fault(&fault))?;
        let fate = match had {
            true if after == old => Fate::Current,
            true => Fate::Updated,
            false => Fate::Added,
        };
        // What blue did not touch, it need not remember anew.
        let memory = if after == old { known.cloned() } else { Some(memory) };
        Ok(Step { fate, note: "", before, after: Some(after), memory })
    }

    /// The commands in a text of its that name blue's hooks and are not blue's.
    pub(super) fn posing(&self, text: &str) -> anyhow::Result<Vec<(String, bool)>> {
        match self.wanted {
            Registration::Hooks(_) => register::impostors(text).map_err(|fault| self.fault(&fault)),
            Registration::Server | Registration::Attributes => Ok(Vec::new()),
        }
    }

    /// The text with blue in it, and what must be known to take it out again.
    fn registered(
        &self,
        before: Option<&str>,
        known: Option<&installed::File>,
    ) -> Result<(String, installed::File), JsonError> {
        let old = before.unwrap_or_default();
        let had = register::is_registered(old, &self.wanted)?;
        let mut memory = match known.filter(|_| had) {
            Some(known) => known.clone(),
            None => installed::File {
                created: before.is_none(),
                left: String::new(),
                traces: UndoInfo::default(),
                original: None,
            },
        };
        if had && known.is_none() {
            memory.traces = UndoInfo::assumed(&self.wanted);
            let bare = register::remove(old, &self.wanted, &memory.traces)?;
            memory.created = register::is_empty_object(&bare);
        }
        let after = register::add(old, &self.wanted, &mut memory.traces)?;
        memory.left = Digest::of(after.as_bytes()).to_string();
        let back = register::remove(&after, &self.wanted, &memory.traces)?;
        memory.original = match before {
            Some(text) if !had => (back != text).then(|| text.to_string()),
            _ => memory.original,
        };
        Ok((after, memory))
    }

    /// What uninstalling would do to it.
    pub(super) fn uninstall(&self, known: Option<&installed::File>) -> anyhow::Result<Step> {
        let before = self.text()?;
        let step = |fate, before, after| Step { fate, note: "", before, after, memory: None };
        let Some(text) = &before else { return Ok(step(Fate::Absent, None, None)) };
        let original = known.and_then(|known| known.original.clone());
        let untouched = known.is_some_and(|k| k.left == Digest::of(text.as_bytes()).to_string());
        if untouched && original.is_some() {
            return Ok(step(Fate::Restored, before, original));
        }
        if !register::is_registered(text, &self.wanted).map_err(|fault| self.fault(&fault))? {
            return Ok(step(Fate::Absent, before.clone(), before));
        }
        let unknown = UndoInfo::assumed(&self.wanted);
        let traces = known.map_or(&unknown, |known| &known.traces);
        let left = register::remove(text, &self.wanted, traces);
        let left = left.map_err(|fault| self.fault(&fault))?;
        let bare = register::is_empty_object(&left);
        Ok(match original {
            Some(original) if bare => step(Fate::Restored, before, Some(original)),
            _ if bare && known.is_none_or(|known| known.created) => {
                step(Fate::Removed, before, None)
            }
            _ => step(Fate::Restored, before, Some(left)),
        })
    }
}

/// What installing would do to a script of the hooks.
pub(super) fn script(root: &Root, path: &str, shipped: &[u8]) -> anyhow::Result<Script> {
    let Some(found) = bytes(root, path, path)? else { return Ok(Script::Absent) };
    // git may have checked it out with CR LF, which no kernel takes for the name of a shell.
    let plain: Vec<u8> = found.iter().copied().filter(|byte| *byte != b'\r').collect();
    let known = Digest::of(&plain).to_string();
    let marked = plain.starts_with(b"#!/bin/sh\n# blue hook");
    Ok(match () {
        () if found == shipped && is_runnable(root, path) => Script::Current,
        () if plain == shipped || OLDER.contains(&known.as_str()) => Script::Older,
        () if marked => Script::Marked(found),
        () => Script::Edited,
    })
}

/// Gives scripts of blue's own their text back where a merge left it in conflict or git converted its
/// line ends: no shell runs them. Returns their paths.
pub(super) fn restore_scripts(root: &Root) -> anyhow::Result<Vec<&'static str>> {
    let mut restored = Vec::new();
    for (path, shipped) in SCRIPTS {
        let Some(found) = bytes(root, path, path)? else { continue };
        let has_markers = conflict::has_markers(&found);
        let marked = script(root, path, shipped)?;
        if !matches!(marked, Script::Older | Script::Marked(_))
            || !has_markers && !found.contains(&b'\r')
        {
            continue;
        }
        if has_markers {
            emit::rescue(root, path, &found)?;
        }
        emit::replace(root, path, shipped, true)?;
        restored.push(*path);
    }
    Ok(restored)
}

/// State of a hook script on disk.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Script {
    /// Nothing.
    Absent,
    /// What blue ships.
    Current,
    /// A script that blue shipped earlier, or one with CRLF or without permission to run.
    Older,
    /// It has blue's mark: an earlier one, or one that somebody changed a little.
    Marked(Vec<u8>),
    /// Somebody's own.
    Edited,
}

/// Whether everybody who can read a file may run it.
pub(super) fn is_runnable(root: &Root, path: &str) -> bool {
    let opened = root.open_at(path, OFlags::RDONLY).map(File::from);
    let mode = opened.and_then(|file| file.metadata()).map(|stat| stat.permissions().mode());
    mode.is_ok_and(|mode| mode & 0o100 != 0)
}
