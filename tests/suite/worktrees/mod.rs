//! Worktrees of RFCs, the activity in them, and what to work on next.

mod activity;
mod bad_input;
mod context;
mod create;
mod hour;
mod interrupted;
mod names;
mod remove;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{self, Output, Project};

/// The time of all commits that `Project::git` makes.
const NOON: &str = "2026-01-25T12:00:00Z";

/// The text of an RFC with one open task and one that is done.
fn rfc(number: &str, title: &str, status: &str) -> String {
    format!(
        "# RFC {number}: {title}\n\n- Status: {status}\n\n## Summary\n\nAbout {title}.\n\n## Tasks\n\n- [x] plan it\n- [ ] write {title}\n\n## Success Criteria\n\n- {title} works\n"
    )
}

/// A committed and built project with RFCs 16 (accepted), 17 (in progress), 18 (draft), 19 (implemented)
/// and 20, which supersedes 15.
fn sample() -> Project {
    let project = Project::named("sample");
    project.git(&["init", "-q", "-b", "main"]);
    for (name, number, title, status) in [
        ("0015-old", "15", "Old", "superseded by RFC 0020"),
        ("0016-context-injection", "16", "Context injection", "accepted"),
        ("0017-other-work", "17", "Other work", "in progress"),
        ("0018-idea", "18", "Idea", "draft"),
        ("0019-done", "19", "Done", "implemented"),
        ("0020-new", "20", "New", "accepted"),
    ] {
        project.write(&format!(".blue/docs/rfcs/{name}.md"), rfc(number, title, status));
    }
    project.write(".blue/.gitignore", "/local/\n/worktree.json\n");
    project.write_hooks();
    project.build();
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "start"]);
    project
}

/// The folder of a worktree below the user's home.
fn worktree(project: &Project, branch: &str) -> PathBuf {
    project.home().join(".blue/worktrees").join(branch)
}

/// Runs blue in a folder of a project.
fn blue_in(project: &Project, folder: &Path, arguments: &[&str]) -> Output {
    support::run(project.command(arguments).current_dir(folder))
}

/// Runs git in a folder at a time. It must succeed.
fn git_in(project: &Project, folder: &Path, time: &str, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    project.isolate(&mut command);
    command.env("GIT_AUTHOR_DATE", time).env("GIT_COMMITTER_DATE", time);
    let output = support::run(&mut command);
    assert_eq!(output.code, 0, "git {arguments:?}: {}", output.stderr);
    output.stdout
}

/// Creates a worktree, which must succeed.
fn create(project: &Project, rfc: &str) -> Output {
    let output = project.blue(&["worktree", "create", rfc, "--now", NOON]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    output
}

/// The row of a folder in `blue worktree list`.
fn row(project: &Project, folder: &Path) -> Value {
    let list = project.json(&["worktree", "list", "--format", "json", "--now", NOON]);
    let folder = folder.canonicalize().unwrap_or(folder.to_path_buf());
    let rows = list["worktrees"].as_array().unwrap();
    let row = rows.iter().find(|row| row["path"] == folder.to_str().unwrap());
    row.unwrap_or_else(|| panic!("{}: {list}", folder.display())).clone()
}

/// Sets the modification time of a file.
fn set_time(path: &Path, time: &str) {
    let seconds = time.parse::<jiff::Timestamp>().unwrap().as_second();
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds as u64);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}
