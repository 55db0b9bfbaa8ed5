//! The commands that are printed under `Next:`; each can be typed as it is printed.

use std::path::Path;

use crate::discover::git;

/// Steps to go on with in a project, in order.
pub(super) struct Next {
    /// The flag that names the project where it is not the current folder.
    elsewhere: String,
    in_git: bool,
    steps: Vec<(String, String)>,
}

impl Next {
    /// Steps in a project, as typed in the current folder.
    pub(super) fn new(folder: &Path) -> Next {
        let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
        let elsewhere = match here.is_some_and(|here| here == *folder) {
            true => String::new(),
            false => format!(" -C '{}'", folder.display().to_string().replace('\'', "'\\''")),
        };
        Next { elsewhere, in_git: git::is_repository(folder), steps: Vec::new() }
    }

    /// A command of blue.
    pub(super) fn blue(&mut self, arguments: &str, why: &str) {
        let command = format!("blue{} {arguments}", self.elsewhere);
        self.steps.push((command, why.to_string()));
    }

    /// A command of git, left out where there is no repository.
    pub(super) fn git(&mut self, arguments: &str, why: &str) {
        if self.in_git {
            let command = format!("git{} {arguments}", self.elsewhere);
            self.steps.push((command, why.to_string()));
        }
    }

    /// All of them, below their heading.
    pub(super) fn text(&self) -> String {
        let width = self.steps.iter().map(|(step, _)| step.chars().count()).max().unwrap_or(0);
        let line = |(step, why): &(String, String)| format!("  {step:width$}   {why}\n");
        format!("\nNext:\n{}", self.steps.iter().map(line).collect::<String>())
    }
}
