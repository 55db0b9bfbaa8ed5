//! A project in a scratch directory, and the real binary run in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run of blue gave.
#[derive(Debug)]
pub struct Output {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A project in a directory that is removed afterwards.
pub struct Space {
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

/// Keeps a command from climbing into the directory for temporary files, or above it.
pub fn ceiling(command: &mut Command) -> &mut Command {
    command.env("GIT_CEILING_DIRECTORIES", std::env::temp_dir())
}

impl Space {
    pub fn new() -> Space {
        Space::named("")
    }

    /// A project whose folder has a name, which blue may take for the project's.
    pub fn named(name: &str) -> Space {
        let folder = tempfile::Builder::new().prefix("blue space ").tempdir().unwrap();
        let path = folder.path().join(if name.is_empty() { "a project" } else { name });
        std::fs::create_dir_all(&path).unwrap();
        std::fs::create_dir_all(folder.path().join("home")).unwrap();
        Space { folder, path }
    }

    /// The home of the user who runs blue here; nothing of the real one is read or written.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Keeps a command from climbing out of this directory, and gives it a home of its own.
    pub fn isolate<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        ceiling(command).env("HOME", self.home());
        command.env_remove("BLUE_HOME").env_remove("CLAUDE_PROJECT_DIR")
    }

    /// The key that caches are sealed with here.
    pub fn key(&self) -> blue::model::Key {
        let bytes = std::fs::read(self.home().join(".blue/local/key")).unwrap();
        blue::model::Key::new(bytes.try_into().unwrap())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Space {
        write(&self.path().join(path), bytes);
        self
    }

    pub fn read(&self, path: &str) -> String {
        String::from_utf8(std::fs::read(self.path().join(path)).unwrap()).unwrap()
    }

    pub fn exists(&self, path: &str) -> bool {
        self.path().join(path).symlink_metadata().is_ok()
    }

    /// The binary, about to run in this project.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blue"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command.env_remove("SOURCE_DATE_EPOCH").env("NO_COLOR", "1");
        self.isolate(&mut command);
        command
    }

    pub fn blue(&self, arguments: &[&str]) -> Output {
        output(&mut self.command(arguments))
    }

    /// Builds and expects it to work.
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
        let output = output(&mut command);
        assert_eq!(output.code, 0, "git {arguments:?}: {}", output.stderr);
        output.stdout
    }

    /// Every file with its bytes, blue's own left out.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.walk()
            .into_iter()
            .filter(|(path, _)| !is_own(path))
            .map(|(path, file)| (path, std::fs::read(file).unwrap()))
            .collect()
    }

    /// Every file with the time it was last written, blue's own included.
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

fn output(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
