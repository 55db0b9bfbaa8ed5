//! The guard in git's `pre-commit` hook: `blue install --git` adds it, `blue uninstall` removes it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::Context;

use super::{Exit, output, project};
use crate::discover::git_names;
use crate::emit;
use crate::root::Root;
use crate::wire::marked_block::{self, HASH};

use super::diff::diff;
use super::installation::read_bytes;

/// The lines of the block. Only exit code 1 stops a commit, so a blue that cannot run does not.
const BLOCK: &str = "if command -v blue >/dev/null 2>&1; then\n  blue branch-guard --staged || [ $? -ne 1 ] || exit 1\nfi\n";

/// The first line of a hook that blue creates.
const SHEBANG: &str = "#!/bin/sh\n";

/// Shells that can run the block.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];

/// Word in the label of a block whose file blue created.
const CREATED: &str = " (blue created this file)";

/// The hook of a repository: its folder, held open, its path below it, and its path in messages.
struct PreCommit {
    root: Root,
    path: String,
    shown: String,
}

impl PreCommit {
    /// Finds the hook; `None` outside a repository.
    fn find(directory: &Path) -> anyhow::Result<Option<PreCommit>> {
        let folder = project::find(directory)?;
        let Some((hooks, top)) = git_names::hooks_folder(&folder) else { return Ok(None) };
        let common = git_names::common_folder(&folder);
        let hooks = normal(&hooks);
        let bases = [Some(top), common].into_iter().flatten().map(|base| normal(&base));
        let base = bases.into_iter().filter(|base| hooks.starts_with(base)).max();
        let Some(base) = base else {
            anyhow::bail!(
                "core.hooksPath is {}, which other repositories use, too\nhint: add `blue branch-guard --staged` to the hook there yourself",
                hooks.display()
            );
        };
        let below = hooks.strip_prefix(&base).unwrap_or(Path::new(""));
        let path = below.join("pre-commit").to_string_lossy().into_owned();
        let shown = hooks.join("pre-commit").display().to_string();
        Ok(Some(PreCommit { root: project::open(&base)?, path, shown }))
    }

    /// Reads the hook. Each byte becomes one character, because scripts need not be UTF-8.
    fn text(&self) -> anyhow::Result<Option<String>> {
        let bytes = read_bytes(&self.root, &self.path, &self.shown)?;
        Ok(bytes.map(|bytes| bytes.into_iter().map(char::from).collect()))
    }
}

/// Resolves the links in the part of a path that exists.
fn normal(path: &Path) -> std::path::PathBuf {
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Ok(real), ..) => real,
        (Err(_), Some(parent), Some(name)) => normal(parent).join(name),
        _ => path.to_path_buf(),
    }
}

/// Turns characters back into bytes.
fn to_bytes(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).expect("every character was a byte")).collect()
}

/// Returns true if a shell runs a script.
fn is_shell(script: &str) -> bool {
    let Some(first) = script.lines().next().and_then(|line| line.strip_prefix("#!")) else {
        // git runs a script without this line with a shell; a program starts with other bytes.
        return !script.contains('\0');
    };
    let mut words = first.split_whitespace().filter(|word| !word.starts_with('-'));
    let program = words.next().and_then(|path| path.rsplit('/').next());
    let program = if program == Some("env") { words.next() } else { program };
    program.is_some_and(|program| SHELLS.contains(&program))
}

/// Adds the block to the hook, or creates the hook.
pub(super) fn install(directory: &Path, dry_run: bool) -> anyhow::Result<Exit> {
    let hook = PreCommit::find(directory)?;
    let hook = hook.context("this is not a git repository\nhint: git init")?;
    let before = hook.text()?;
    anyhow::ensure!(
        before.as_deref().is_none_or(is_shell),
        "{} is not a shell script\nhint: call `blue branch-guard --staged` in it and stop at exit code 1",
        hook.shown
    );
    let label = |note: &str| format!(" {}{note}", marked_block::digest_of(BLOCK));
    let after = match &before {
        None => marked_block::set_below_first_line(SHEBANG, HASH, &label(CREATED), BLOCK),
        Some(text) => marked_block::set_below_first_line(text, HASH, &label(""), BLOCK),
    };
    let word = match &before {
        Some(text) if *text == after => "current",
        Some(text) if marked_block::find(text, HASH).is_some() => "updated",
        _ => "added",
    };
    if dry_run {
        let shown = |text: &str| String::from_utf8_lossy(&to_bytes(text)).into_owned();
        let old = before.as_deref().map(shown);
        output::out(&diff(&hook.shown, old.as_deref(), Some(&shown(&after))))?;
        output::say("blue: nothing was written (--dry-run)");
        return Ok(Exit::Done);
    }
    match before {
        None => emit::replace_script(&hook.root, &hook.path, &to_bytes(&after))?,
        Some(text) if text != after => emit::replace(&hook.root, &hook.path, &to_bytes(&after))?,
        Some(_) => {}
    }
    output::out(&format!("{word:8} {}\n", output::visible(&hook.shown)))?;
    let mode = hook.root.path().join(&hook.path).metadata().map(|stat| stat.permissions().mode());
    if mode.is_ok_and(|mode| mode & 0o111 == 0) {
        output::say(&format!(
            "blue: git ignores {0}, because it is not executable\nhint: chmod +x {0}",
            output::visible(&hook.shown)
        ));
    }
    Ok(Exit::Done)
}

/// Removes the block, and the hook if blue created it.
pub(super) fn uninstall(directory: &Path, dry_run: bool) -> anyhow::Result<()> {
    // Without a repository, or with shared hooks, nothing was installed.
    let Ok(Some(hook)) = PreCommit::find(directory) else { return Ok(()) };
    let Some(text) = hook.text()? else { return Ok(()) };
    let Some(block) = marked_block::find(&text, HASH) else { return Ok(()) };
    let rest = marked_block::remove(&text, HASH).unwrap_or_default();
    let is_created = block.has_note(CREATED) && rest == SHEBANG;
    if !dry_run {
        match is_created {
            true => emit::discard(&hook.root, &hook.path)?,
            false => emit::replace(&hook.root, &hook.path, &to_bytes(&rest))?,
        }
    }
    let word = if is_created { "removed" } else { "restored" };
    output::out(&format!("{word:8} {}\n", output::visible(&hook.shown)))
}
