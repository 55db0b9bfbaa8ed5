//! Paths that try to lead a build out of the project.

mod links;
mod names;

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support;
use crate::support::Project;

/// Text that must not appear in any emitted file.
const SECRET: &str = "hunter2-must-not-leak";
const WIDE: &str = "documents: [{type: adr, paths: ['**/*.md']}]\n";

/// Runs blue with a time limit, because no path may block it.
fn run(project: &Project, arguments: &[&str]) -> support::Output {
    let mut child =
        project.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("{arguments:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!stderr.contains("this is a bug"), "{stderr}");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    support::Output { code: output.status.code().unwrap_or(-1), stdout, stderr }
}

fn assert_no_leak(project: &Project, what: &str) {
    for folder in ["knowledge", ".blue/context", ".blue/local"] {
        let mut open = vec![project.path().join(folder)];
        while let Some(at) = open.pop().filter(|at| at.symlink_metadata().is_ok_and(|m| m.is_dir()))
        {
            for path in support::entries(&at) {
                let kind = path.symlink_metadata().unwrap();
                if kind.is_dir() {
                    open.push(path);
                } else if kind.is_file() {
                    let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                    assert!(!text.contains(SECRET), "{what}: {} has it", path.display());
                }
            }
        }
    }
}
