//! A project in a temporary directory, and the real binary that runs in it.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::Value;

pub mod mcp_client;

/// Exit code and output of a command.
#[derive(Debug)]
pub struct Output {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A project in a directory that is removed afterwards.
pub struct Project {
    folder: tempfile::TempDir,
    path: PathBuf,
}

/// The entries of a folder, sorted.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Writes a file and the folders above it.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Sets the permissions of a file or folder.
pub fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Changes the owner of a file, folder or link. Returns false where only root could do so.
pub fn give_to_another_user(path: &Path) -> bool {
    let is_given = std::os::unix::fs::lchown(path, Some(54_321), Some(54_321)).is_ok();
    if !is_given {
        println!("skipped: only root can give files to another user");
    }
    is_given
}

/// Keeps a command from searching for a project in the directory for temporary files or above.
pub fn ceiling(command: &mut Command) -> &mut Command {
    command.env("GIT_CEILING_DIRECTORIES", std::env::temp_dir())
}

impl Project {
    pub fn new() -> Project {
        Project::named("")
    }

    /// A project in a folder of this name, which is also the default name of the project.
    pub fn named(name: &str) -> Project {
        let folder = tempfile::Builder::new().prefix("blue project ").tempdir().unwrap();
        let path = folder.path().join(if name.is_empty() { "a project" } else { name });
        std::fs::create_dir_all(&path).unwrap();
        std::fs::create_dir_all(folder.path().join("home")).unwrap();
        Project { folder, path }
    }

    /// The home directory of the user who runs blue here. The real one is neither read nor written.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Keeps a command from searching above this directory, and gives it its own home.
    pub fn isolate<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        ceiling(command).env("HOME", self.home());
        command.env_remove("BLUE_HOME").env_remove("CLAUDE_PROJECT_DIR")
    }

    /// The key that authenticates the caches of this project.
    pub fn key(&self) -> blue::model::Key {
        let bytes = std::fs::read(self.home().join(".blue/local/key")).unwrap();
        blue::model::Key::new(bytes.try_into().unwrap())
    }

    /// A project with one file.
    pub fn with(path: &str, bytes: impl AsRef<[u8]>) -> Project {
        let project = Project::new();
        project.write(path, bytes);
        project
    }

    /// Two accepted decisions, of which the second mentions the first.
    pub fn with_two_decisions() -> Project {
        let project = Project::with(
            "docs/adr/0001-use-rust.md",
            "# 1. Use Rust\n\n## Status\n\nAccepted\n\n## Decision\n\nWe use Rust.\n",
        );
        project.write(
            "docs/adr/0002-use-yaml.md",
            "# 2. Use YAML\n\n## Status\n\nAccepted\n\n## Decision\n\nWe use YAML, as ADR 1 allows.\n",
        );
        project
    }

    /// Installs the hook scripts of this repository.
    pub fn write_hooks(&self) {
        for name in ["session-start", "session-workflow", "session-responsibility"] {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks").join(name);
            self.write(&format!(".blue/hooks/{name}"), std::fs::read(from).unwrap());
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Project {
        write(&self.path().join(path), bytes);
        self
    }

    pub fn read(&self, path: &str) -> String {
        String::from_utf8(std::fs::read(self.path().join(path)).unwrap()).unwrap()
    }

    pub fn exists(&self, path: &str) -> bool {
        self.path().join(path).symlink_metadata().is_ok()
    }

    /// A command that runs blue in this project.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blue"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command.env_remove("SOURCE_DATE_EPOCH").env("NO_COLOR", "1");
        self.isolate(&mut command);
        command
    }

    pub fn blue(&self, arguments: &[&str]) -> Output {
        run(&mut self.command(arguments))
    }

    /// Runs a command that reads standard input and returns its output. Fails if the command does.
    pub fn blue_with_input(&self, arguments: &[&str], input: &str) -> String {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?} {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command that prints JSON.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.blue(arguments);
        serde_json::from_str(&output.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", output.stderr))
    }

    /// The lines of the audit log.
    pub fn audit_log(&self) -> Vec<Value> {
        let text = self.read(".blue/local/audit.jsonl");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Runs a build, which must succeed.
    pub fn build(&self) -> Output {
        let output = self.blue(&["knowledge", "build"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        output
    }

    /// Runs git with an identity and a fixed date.
    pub fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args([
            "-c",
            "user.name=T",
            "-c",
            "user.email=t@example.org",
            "-c",
            "init.defaultBranch=main",
        ]);
        command.args(["-c", "commit.gpgsign=false"]).args(arguments).current_dir(self.path());
        self.isolate(&mut command);
        for date in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
            command.env(date, "2026-01-25T12:00:00Z");
        }
        let output = run(&mut command);
        assert_eq!(output.code, 0, "git {arguments:?}: {}", output.stderr);
        output.stdout
    }

    /// Every file with its bytes. Local state and `.git` are left out.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.walk()
            .into_iter()
            .filter(|(path, _)| !is_own(path))
            .map(|(path, file)| (path, std::fs::read(file).unwrap()))
            .collect()
    }

    /// The files that a build emitted.
    pub fn emitted(&self) -> BTreeMap<String, Vec<u8>> {
        let is_emitted =
            |path: &String| path.starts_with("knowledge/") || path.starts_with(".blue/context");
        self.files().into_iter().filter(|(path, _)| is_emitted(path)).collect()
    }

    /// Every file with the time it was last written, local state included.
    pub fn stamps(&self) -> BTreeMap<String, std::time::SystemTime> {
        let stamp = |file: PathBuf| file.symlink_metadata().unwrap().modified().unwrap();
        self.walk().into_iter().map(|(path, file)| (path, stamp(file))).collect()
    }

    fn walk(&self) -> Vec<(String, PathBuf)> {
        let mut files = Vec::new();
        let mut open = vec![self.path().to_path_buf()];
        while let Some(at) = open.pop() {
            for path in entries(&at) {
                let below = path.strip_prefix(self.path()).unwrap().to_string_lossy().into_owned();
                match path.symlink_metadata().unwrap().is_dir() {
                    true if below != ".git" => open.push(path),
                    true => {}
                    false => files.push((below, path)),
                }
            }
        }
        files
    }
}

fn is_own(path: &str) -> bool {
    path.starts_with(".blue/local/")
}

/// The processor time that this thread has used, in contrast to the wall clock, which also counts
/// the time of other tests and programs. Where the kernel does not report it, it is the wall clock.
pub fn thread_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let n_nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    n_nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
