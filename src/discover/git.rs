//! Runs git without hooks, filters or other code that a repository can configure.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use jiff::Timestamp;
use rustix::fs::{Mode, OFlags};

use super::project_root;
use crate::model::layout::folder_of;
use crate::model::text_format::EXTENSIONS;
use crate::root::{self, Content};

/// The commit that is checked out.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Head {
    /// The first twelve hexadecimal digits of its id.
    pub commit: Option<String>,
    /// Its date, or SOURCE_DATE_EPOCH, as RFC 3339 in UTC.
    pub generated: Option<String>,
}

impl Head {
    /// Starts a git process that prints HEAD, and returns without waiting for it.
    pub fn ask(root: &Path, source_date_epoch: Option<&str>) -> PendingHead {
        let git = root.join(".git").exists().then(|| start_cat_file(root, &["HEAD".to_string()]));
        let epoch = source_date_epoch.and_then(|text| text.trim().parse::<i64>().ok());
        PendingHead { git: git.flatten(), epoch }
    }
}

/// A running git process that prints HEAD.
pub struct PendingHead {
    git: Option<Child>,
    epoch: Option<i64>,
}

impl PendingHead {
    /// Waits for git. Without git, or outside a repository, both fields are `None`.
    pub fn wait(mut self) -> Head {
        let output = self.git.take().and_then(|git| git.wait_with_output().ok());
        let head = output.and_then(|output| parse_commit(&String::from_utf8_lossy(&output.stdout)));
        let (commit, seconds) = head.unzip();
        let date = self.epoch.or(seconds).and_then(|s| Timestamp::from_second(s).ok());
        Head { commit, generated: date.map(|date| date.to_string()) }
    }
}

/// Kills git if its output is no longer needed.
impl Drop for PendingHead {
    fn drop(&mut self) {
        if let Some(mut git) = self.git.take() {
            git.kill().and_then(|()| git.wait()).ok();
        }
    }
}

/// Returns the branch that is checked out in the repository of a folder, without starting a
/// process. `None` if there is no repository or HEAD is detached.
pub fn branch(folder: &Path) -> Option<String> {
    let head = short_text(&git_folder(folder)?.join("HEAD"))?;
    head.trim().strip_prefix("ref: refs/heads/").map(str::to_string)
}

/// Returns the folders at which the upward search for a repository or a project stops.
pub fn ceilings() -> Vec<PathBuf> {
    let listed = std::env::var_os(CEILINGS).unwrap_or_default();
    let folders = std::env::split_paths(&listed).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.canonicalize().unwrap_or(folder)).collect()
}

/// The variable that limits how far up git searches for a repository.
const CEILINGS: &str = "GIT_CEILING_DIRECTORIES";

/// Returns the `.git` of the repository that contains a folder.
pub(super) fn repository(folder: &Path) -> Option<PathBuf> {
    let ceilings = ceilings();
    let mut folders = project_root::below_ceilings(folder, &ceilings);
    folders.find_map(|folder| Some(folder.join(".git")).filter(|git| git.exists()))
}

/// Returns true if a folder is in a git repository.
pub fn is_repository(folder: &Path) -> bool {
    repository(folder).is_some()
}

/// Returns those of some files, and of the files below some folders, that git tracks.
pub fn tracked(root: &Path, paths: &[&str]) -> Vec<String> {
    let output = || {
        repository(root)?;
        let mut command = command(root)?;
        command.args(["--literal-pathspecs", "ls-files", "-z", "--cached", "--"]).args(paths);
        Some(command.stdin(Stdio::null()).output().ok()?.stdout)
    };
    let listed = String::from_utf8_lossy(&output().unwrap_or_default()).into_owned();
    listed.split_terminator('\0').map(str::to_string).collect()
}

/// Returns git's own folder for the working tree that contains a folder.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = repository(folder)?;
    match git.is_file() {
        true => Some(git.parent()?.join(short_text(&git)?.strip_prefix("gitdir:")?.trim())),
        false => Some(git),
    }
}

/// Returns the possible documents below a folder that a sparse checkout leaves out, relative to the
/// folder. Only an index of version 3 or later can mark such files. Most have version 2, and then
/// git is not started.
pub fn not_checked_out(folder: &Path) -> Vec<String> {
    match index_version(folder) {
        Some(version) if version > 2 => list_skipped(folder).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// Reads the version of git's index from its first twelve bytes: `DIRC`, version, entry count.
fn index_version(folder: &Path) -> Option<u32> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::fs::open(git_folder(folder)?.join("index"), flags, Mode::empty()).ok()?;
    let mut head = [0; 12];
    File::from(fd).read_exact(&mut head).ok()?;
    let version = u32::from_be_bytes(head[4..8].try_into().expect("four bytes"));
    head.starts_with(b"DIRC").then_some(version)
}

/// Lists the possible documents that have the skip-worktree bit in git's index.
fn list_skipped(folder: &Path) -> Option<Vec<String>> {
    let mut command = command(folder)?;
    command.args(["-c", "advice.sparseIndexExpanded=false", "ls-files", "-t", "-z", "--cached"]);
    let patterns = EXTENSIONS.iter().map(|(extension, _)| format!(":(icase)*.{extension}"));
    command.arg("--").args(patterns).stdin(Stdio::null());
    let output = command.spawn().ok()?.wait_with_output().ok()?;
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(
        listed.split('\0').filter_map(|line| line.strip_prefix("S ")).map(str::to_string).collect(),
    )
}

/// Reads a small regular file as text. Returns `None` for anything else.
fn short_text(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty())).ok()?;
    match root::read_fd(fd, 1 << 16).ok()? {
        Content::Bytes(bytes, _) => String::from_utf8(bytes).ok(),
        Content::TooLarge(_) | Content::NotRegular => None,
    }
}

/// Returns the contents of files named `<commit>:./<path>`, or `None` for each that does not exist.
pub fn files(root: &Path, names: &[String]) -> Vec<Option<Vec<u8>>> {
    // `cat-file` reads one name per line, so a name with a line end cannot be looked up.
    let one_line: Vec<String> = names.iter().filter(|name| !name.contains('\n')).cloned().collect();
    let output = cat_file(root, &one_line).unwrap_or_default();
    let mut blobs = parse_blobs(&output);
    names.iter().map(|name| (!name.contains('\n')).then(|| blobs.next()?).flatten()).collect()
}

/// Parses the output of `git cat-file --batch`: the content of each blob, or `None`.
fn parse_blobs(mut output: &[u8]) -> impl Iterator<Item = Option<Vec<u8>>> {
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', output)?;
        let (line, rest) = (&output[..end], &output[end + 1..]);
        let mut words = line.rsplit(|byte| *byte == b' ');
        let size = words.next().and_then(|size| std::str::from_utf8(size).ok()?.parse().ok());
        let kind = words.next().unwrap_or_default();
        let size = size.filter(|size| matches!(kind, b"blob" | b"tree") && *size < rest.len());
        output = size.map_or(rest, |size| &rest[size + 1..]);
        Some(size.filter(|_| kind == b"blob").map(|size| rest[..size].to_vec()))
    })
}

/// Returns the ids of the trees that commits have at a folder below the root, each once.
pub(super) fn trees_at(root: &Path, commits: &[String], folder: &str) -> BTreeSet<String> {
    let mut trees = BTreeSet::new();
    // The names of a chunk fit into a pipe; see `start_cat_file`.
    for chunk in commits.chunks(16) {
        let names: Vec<String> =
            chunk.iter().map(|commit| format!("{commit}:./{folder}")).collect();
        let check = || {
            let mut command = command(root)?;
            command.args(["cat-file", "--batch-check"]).stdin(Stdio::piped());
            let mut child = command.spawn().ok()?;
            let input: String = names.iter().map(|name| format!("{name}\n")).collect();
            child.stdin.take()?.write_all(input.as_bytes()).ok()?;
            Some(child.wait_with_output().ok()?.stdout)
        };
        let output = check().unwrap_or_default();
        let output = String::from_utf8_lossy(&output).into_owned();
        let found = output.lines().filter_map(|line| line.split_once(" tree "));
        trees.extend(found.map(|(id, _)| id.to_string()));
    }
    trees
}

/// Returns the output of `git cat-file --batch` for a list of names.
fn cat_file(root: &Path, names: &[String]) -> Option<Vec<u8>> {
    Some(start_cat_file(root, names)?.wait_with_output().ok()?.stdout)
}

/// Starts `git cat-file --batch` for a short list of names. All names are written before any output
/// is read, so a long list would fill the pipe and block.
fn start_cat_file(root: &Path, names: &[String]) -> Option<Child> {
    let mut child =
        command(root)?.args(["cat-file", "--batch"]).stdin(Stdio::piped()).spawn().ok()?;
    let input: String = names.iter().map(|name| format!("{name}\n")).collect();
    child.stdin.take()?.write_all(input.as_bytes()).ok()?;
    Some(child)
}

/// Returns the time of the last commit of each file, in seconds since 1970. Files whose commit is
/// not in the history are left out. This may read the whole history, which takes seconds in a large
/// one.
pub fn dates(root: &Path, paths: &BTreeSet<&str>) -> BTreeMap<String, i64> {
    // In a shallow clone, the oldest commit appears to have changed every file.
    if paths.is_empty() || root.join(".git/shallow").exists() {
        return BTreeMap::new();
    }
    log(root, paths).unwrap_or_default()
}

/// With more folders than this, the log is not limited to folders.
const MAX_FOLDERS: usize = 256;

fn log(root: &Path, paths: &BTreeSet<&str>) -> Option<BTreeMap<String, i64>> {
    let mut folders: BTreeSet<&str> = paths.iter().map(|path| folder_of(path)).collect();
    if folders.contains("") || folders.len() > MAX_FOLDERS {
        folders = BTreeSet::from(["."]);
    }
    let mut command = command(root)?;
    command.args(["-c", "core.quotePath=false", "-c", "log.showSignature=false"]);
    command.args(["--literal-pathspecs", "log", "--relative", "--format=%x00%ct"]);
    command.args(["--name-only", "--no-renames", "--no-ext-diff", "--"]).args(folders);
    let mut child = command.stdin(Stdio::null()).spawn().ok()?;
    let mut dates = BTreeMap::new();
    let mut seconds = None;
    for line in BufReader::new(child.stdout.take()?).lines() {
        let Ok(line) = line else { break };
        if let Some(time) = line.strip_prefix('\0') {
            seconds = time.parse::<i64>().ok();
        } else if let Some(seconds) = seconds.filter(|_| paths.contains(line.as_str())) {
            dates.entry(line).or_insert(seconds);
            if dates.len() == paths.len() {
                break;
            }
        }
    }
    // git may still be writing older commits.
    child.kill().ok();
    child.wait().ok();
    Some(dates)
}

/// Returns the contents of files in HEAD, by path. Unlike `git diff`, this runs no filter that
/// the repository configures.
pub fn committed(root: &Path, paths: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let mut contents = BTreeMap::new();
    // The names of a chunk fit into a pipe; see `start_cat_file`.
    for chunk in paths.chunks(16) {
        let names: Vec<String> = chunk.iter().map(|path| format!("HEAD:./{path}")).collect();
        let found = chunk.iter().zip(files(root, &names));
        contents.extend(found.filter_map(|(path, bytes)| Some((path.to_string(), bytes?))));
    }
    contents
}

/// Returns a git command with hooks, monitors and lazy fetching turned off, and without variables
/// that would redirect it.
pub(super) fn command(root: &Path) -> Option<Command> {
    let mut command = Command::new(program(root)?);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") && name != CEILINGS {
            command.env_remove(name);
        }
    }
    command
        .args(["--no-optional-locks", "-c", "core.fsmonitor=false"])
        .args(["-c", "core.hooksPath=/dev/null"])
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("LC_ALL", "C")
        .current_dir(root)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    Some(command)
}

/// Parses the output of `git cat-file --batch` for a commit.
fn parse_commit(output: &str) -> Option<(String, i64)> {
    let mut lines = output.lines();
    let first = lines.next()?;
    let (commit, rest) = first.split_once(' ')?;
    if !rest.starts_with("commit ") || commit.len() < 12 {
        return None;
    }
    let committer = lines.find(|line| line.starts_with("committer "))?;
    let seconds = committer.rsplit(' ').nth(1)?.parse().ok()?;
    Some((commit[..12].to_string(), seconds))
}

/// Returns the `git` to run, from an absolute entry of PATH that is outside the project.
pub fn program(root: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute() && !folder.starts_with(root))
        .map(|folder| folder.join("git"))
        .find(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_object_has_an_id_and_a_time() {
        let output = "0123456789abcdef commit 120\ntree x\nauthor A <a@b> 1 +0000\ncommitter C <c@d> 1700000000 +0100\n\nsubject\n";
        assert_eq!(parse_commit(output), Some(("0123456789ab".to_string(), 1_700_000_000)));
        assert_eq!(parse_commit("HEAD missing\n"), None);
    }

    #[test]
    fn the_output_of_cat_file_is_split_into_blobs() {
        let output = b"MERGE_HEAD:./a b missing\n0123 blob 4\nx\ny\n\n4567 blob 0\n\n";
        let all: Vec<Option<Vec<u8>>> = parse_blobs(output).collect();
        assert_eq!(all, [None, Some(b"x\ny\n".to_vec()), Some(Vec::new())]);
    }
}
