//! `blue worktree create`.

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use super::unfinished::{self, make};
use super::{RecordKeeper, WorktreeProject, absolute, refuse};
use crate::cli::responsibility::time;
use crate::cli::{Exit, output, project};
use crate::discover::{git, worktrees};
use crate::model::uri::slugify;
use crate::model::worktree::Worktree;
use crate::model::{FileName, branch_name, timestamp};
use crate::serve::activity::{ActivityLevel, ActivityReport, AssignedWorktree, age_text};
use crate::serve::next::LiveWork;
use crate::wire::jsonl::DocumentLine;
use crate::wire::worktree::{UnfinishedWorktree, WorktreeFile};

/// The flags of `blue worktree create`.
#[derive(Args, Debug)]
pub(in crate::cli) struct CreateArgs {
    /// RFC: address, number, slug or title
    rfc: String,
    /// Branch or commit to start from [default: worktree.base, else the default branch]
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// Folder of the worktree [default: one for the branch in $BLUE_HOME/worktrees]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// Take the branch of the RFC if it exists
    #[arg(long)]
    reuse: bool,
    /// Also for an RFC that is finished, rejected or not committed; do not ask
    #[arg(long)]
    force: bool,
    /// Print what would be made
    #[arg(long)]
    dry_run: bool,
    /// Use this time instead of the clock
    #[arg(long, value_name = "RFC 3339")]
    now: Option<String>,
}

impl CreateArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let now = time(self.now.as_deref())?;
        let open = WorktreeProject::open(directory, now)?;
        let found = open.find_rfc(&self.rfc)?;
        let [line] = found.as_slice() else {
            let paths: Vec<&str> = found.iter().map(|line| line.path.as_str()).collect();
            return Ok(refuse(&format!(
                "{:?} fits {} RFCs: {}\nhint: type the path of one",
                self.rfc,
                paths.len(),
                paths.join(" and ")
            )));
        };
        let assigned = AssignedWorktree::read_all(&open.repository);
        if let Some(refusal) = self.refusal(&open, line) {
            return Ok(refuse(&refusal));
        }
        let keeper = RecordKeeper::open(&open.repository)?;
        if let Some(record) = unfinished::read(&keeper.root, id_of(line)).filter(|_| !self.dry_run)
        {
            if unfinished::recover(&keeper, &open.repository, &record)? {
                output::say("blue: finished a worktree that was interrupted");
                return print(&record, &open);
            }
            output::say("blue: took back a worktree that was interrupted");
        }
        if let Some(tree) =
            open.worktree_of(&assigned, &line.uri).filter(|tree| still_there(&open, tree))
        {
            return Ok(refuse(&has_worktree(line, tree)));
        }
        if !warn_and_ask(&open, &assigned, line, now, self.force || self.dry_run)? {
            return Ok(Exit::FoundSomething);
        }
        let record = match self.plan(directory, &open, line, now)? {
            Ok(record) => record,
            Err(refusal) => return Ok(refuse(&refusal)),
        };
        if self.dry_run {
            output::say("blue: nothing was made (--dry-run)");
            return print(&record, &open);
        }
        make(&keeper, &open.repository, &record)?;
        print(&record, &open)
    }

    /// Returns the reason for which an RFC gets no worktree, if there is one.
    fn refusal(&self, open: &WorktreeProject, line: &DocumentLine) -> Option<String> {
        let status = line.status.as_str();
        let head = format!("{} is {status}", line.path);
        if ["draft", "proposed"].contains(&status) {
            output::say(&format!(
                "blue: {head}: it may still change\nhint: have it accepted first"
            ));
        }
        let is_finished = !line.live || ["implemented", "recorded"].contains(&status);
        if !is_finished || self.force {
            return None;
        }
        let by = line.replaced_by.first().filter(|uri| open.project.built.document(uri).is_some());
        let hint = match by.map(|uri| uri.rsplit('/').next().unwrap_or_default()) {
            Some(id) => format!("blue worktree create {id}, which replaces it, or add --force"),
            None => "add --force".to_string(),
        };
        Some(format!("{head}: there is nothing left to do\nhint: {hint}"))
    }

    /// Decides branch, folder and commit. Everything that can be checked is checked here, before
    /// anything is made. The inner error is a refusal.
    fn plan(
        &self,
        directory: &Path,
        open: &WorktreeProject,
        line: &DocumentLine,
        now: i64,
    ) -> anyhow::Result<Result<UnfinishedWorktree, String>> {
        let folder = open.folder();
        let name = work_name(open, line);
        let branch = format!("{}{name}", open.plan.branch_prefix);
        anyhow::ensure!(
            branch_name::is_valid(&branch),
            "git accepts no branch named {branch:?}\nhint: change worktree.branch_prefix in .blue/config.yaml"
        );
        let branches = worktrees::branches(folder);
        let clash = branches.iter().find(|other| clashes(other, &branch));
        if let Some(other) = clash {
            anyhow::bail!(
                "the branch {other} exists, so git cannot have {branch}\nhint: rename it, or change worktree.branch_prefix in .blue/config.yaml"
            );
        }
        let has_branch = branches.contains(&branch);
        if has_branch && !self.reuse {
            return Ok(Err(format!(
                "the branch {branch} exists\nhint: blue worktree create {} --reuse",
                id_of(line)
            )));
        }
        let base = self.base.as_deref().or(open.repository.base.as_deref()).unwrap_or("HEAD");
        let start = if has_branch { branch.as_str() } else { base };
        let commit = worktrees::commit_id(folder, start).with_context(|| {
            format!("no commit is named {start:?}\nhint: commit something, or name one with --base")
        })?;
        let names = [format!("{commit}:./{}", line.path)];
        let is_committed = git::files(folder, &names).first().is_some_and(Option::is_some);
        if !is_committed && !self.force {
            return Ok(Err(format!(
                "{} is not in {start}, so the worktree would not have it\nhint: commit it there, choose another --base, or add --force",
                line.path
            )));
        }
        let path = self.folder(directory, open, &branch)?;
        let file = WorktreeFile {
            version: 1,
            rfc: id_of(line).to_string(),
            uri: line.uri.clone(),
            branch,
            base: base.to_string(),
            base_commit: commit[..commit.len().min(12)].to_string(),
            created: timestamp::format(now),
        };
        let path =
            path.to_str().context("the path is not UTF-8\nhint: name another with --path")?;
        let is_own_branch = !has_branch;
        Ok(Ok(UnfinishedWorktree { path: path.to_string(), file, commit, is_own_branch }))
    }

    /// Returns the folder of the worktree, which does not exist or is empty.
    fn folder(
        &self,
        directory: &Path,
        open: &WorktreeProject,
        branch: &str,
    ) -> anyhow::Result<PathBuf> {
        if let Some(path) = &self.path {
            let path = absolute(directory, path)?;
            check_free(&path)?;
            return Ok(path);
        }
        let home = project::home().context("there is no home folder\nhint: set BLUE_HOME")?;
        let home = absolute(Path::new("/"), &home)?;
        let path = home.join("worktrees").join(branch);
        if !path.exists() || !is_of_another_repository(&path, &open.repository.common_folder) {
            check_free(&path)?;
            return Ok(path);
        }
        let name = open.folder().file_name().and_then(|name| name.to_str()).unwrap_or("project");
        let name = slugify(open.plan.project.as_deref().unwrap_or(name));
        let other = home.join("worktrees").join(format!("{branch}~{name}"));
        check_free(&other)?;
        output::say(&format!(
            "blue: {} belongs to another repository; the folder is {}",
            output::shown(&path.display().to_string()),
            output::shown(&other.display().to_string())
        ));
        Ok(other)
    }
}

/// Returns the last part of an address: number and slug.
fn id_of(line: &DocumentLine) -> &str {
    line.uri.rsplit('/').next().unwrap_or_default()
}

/// Returns the name of an RFC in branches: its slug, or number and slug if the slug fits another one.
fn work_name(open: &WorktreeProject, line: &DocumentLine) -> String {
    let id = id_of(line).to_string();
    let slug = FileName::parse(&format!("{id}.md")).slug;
    let is_own = |name: &str| open.document_of(name).is_some_and(|other| other.uri == line.uri);
    if !slug.is_empty() && is_own(&slug) {
        return slug;
    }
    output::say(&format!(
        "blue: the name {slug:?} fits several documents; the branch is named {id}"
    ));
    id
}

/// Returns true if git cannot have both branches, because one is a folder of the other.
fn clashes(other: &str, branch: &str) -> bool {
    let is_above = |a: &str, b: &str| b.strip_prefix(a).is_some_and(|rest| rest.starts_with('/'));
    is_above(other, branch) || is_above(branch, other)
}

/// Refuses a folder that exists and is not empty.
fn check_free(path: &Path) -> anyhow::Result<()> {
    let is_empty = || path.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    let is_free = path.symlink_metadata().is_err() || is_empty();
    anyhow::ensure!(
        is_free,
        "{} is in the way\nhint: move it, or name another folder with --path",
        path.display()
    );
    Ok(())
}

/// Returns true if a folder is a worktree of another repository.
fn is_of_another_repository(path: &Path, common: &Path) -> bool {
    let other = worktrees::list(path, None).map(|repository| repository.common_folder);
    other.is_some_and(|other| other != common)
}

/// Returns true if a worktree was not taken back just now.
fn still_there(open: &WorktreeProject, tree: &Worktree) -> bool {
    unfinished::listed(open.folder(), &tree.path).is_some()
}

fn has_worktree(line: &DocumentLine, tree: &Worktree) -> String {
    let path = tree.path.display();
    let hint = match tree.is_missing {
        true => "blue worktree prune, because the folder is gone".to_string(),
        false => format!("cd '{path}'"),
    };
    format!("{} has a worktree: {path}\nhint: {hint}", line.path)
}

/// Warns if an RFC is worked on elsewhere. On a terminal, asks whether to continue.
fn warn_and_ask(
    open: &WorktreeProject,
    assigned: &[AssignedWorktree<'_>],
    line: &DocumentLine,
    now: i64,
    is_decided: bool,
) -> anyhow::Result<bool> {
    let report = ActivityReport::new(&open.project.built.bundles, &open.repository, assigned, now);
    let own = |work: &LiveWork| work.uri == line.uri;
    let Some(work) = LiveWork::all(&report, assigned).into_iter().find(own) else {
        return Ok(true);
    };
    if !matches!(work.activity.level, ActivityLevel::Active | ActivityLevel::Changes) {
        return Ok(true);
    }
    let age = work.activity.age.map_or(String::new(), |age| format!(", {} ago", age_text(age)));
    output::say(&format!(
        "blue: warning: {} is {} elsewhere: session {} in {}{age}",
        output::shown(&line.path),
        work.activity.level.as_str(),
        output::shown(work.activity.session.as_deref().unwrap_or("unknown")),
        output::shown(work.activity.place.as_deref().unwrap_or("another worktree")),
    ));
    if is_decided || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(true);
    }
    output::say("Make a second worktree? [y/N]");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Prints path, branch and set-up commands.
fn print(record: &UnfinishedWorktree, open: &WorktreeProject) -> anyhow::Result<Exit> {
    let folder = Path::new(&record.path);
    // Before the worktree exists, the current one shows what the project uses.
    let of = if folder.exists() { folder } else { open.folder() };
    let mut text = format!(
        "path     {}\nbranch   {}\n",
        output::visible(&record.path),
        output::visible(&record.file.branch)
    );
    for command in setup_commands(of) {
        text += &format!("set up   {command}\n");
    }
    output::out(&text)?;
    Ok(Exit::Done)
}

/// Returns the commands that probably prepare a worktree. A script of the project replaces all others.
fn setup_commands(folder: &Path) -> Vec<&'static str> {
    let rules = include_str!("../rules/setup_commands.txt");
    let rules = rules.lines().filter_map(|line| line.split_once('\t'));
    let mut commands: Vec<&str> =
        rules.filter(|(file, _)| folder.join(file).is_file()).map(|(_, command)| command).collect();
    let n_script = usize::from(commands.first().is_some_and(|command| command.starts_with("sh ")));
    if n_script > 0 {
        commands.truncate(n_script);
    }
    // A lock file says more than the file that it was made from.
    if commands.iter().any(|command| ["uv sync", "poetry install"].contains(command)) {
        commands.retain(|command| !command.starts_with("pip "));
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_cannot_be_a_folder_of_another() {
        assert!(clashes("feature", "feature/x") && clashes("feature/x/y", "feature/x"));
        assert!(!clashes("feature/x", "feature/x") && !clashes("feature-x", "feature/x"));
    }
}
