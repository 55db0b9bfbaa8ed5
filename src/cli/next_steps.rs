//! Formats the commands under `Next:`, so that they can be pasted into a shell.

use std::path::Path;

use crate::discover::git;

/// The next steps in a project.
pub(super) struct NextSteps {
    /// `-C` with the project's folder if that is not the current one.
    directory_flag: String,
    in_git: bool,
    steps: Vec<(String, String)>,
}

impl NextSteps {
    /// Creates an empty list for a project.
    pub(super) fn new(folder: &Path) -> NextSteps {
        let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
        let directory_flag = match here.is_some_and(|here| here == *folder) {
            true => String::new(),
            false => format!(" -C '{}'", folder.display().to_string().replace('\'', "'\\''")),
        };
        NextSteps { directory_flag, in_git: git::is_repository(folder), steps: Vec::new() }
    }

    /// Adds a command of blue.
    pub(super) fn blue(&mut self, arguments: &str, why: &str) {
        let command = format!("blue{} {arguments}", self.directory_flag);
        self.steps.push((command, why.to_string()));
    }

    /// Adds a command of git, if the project is in a repository.
    pub(super) fn git(&mut self, arguments: &str, why: &str) {
        if self.in_git {
            let command = format!("git{} {arguments}", self.directory_flag);
            self.steps.push((command, why.to_string()));
        }
    }

    /// Formats the steps below their heading.
    pub(super) fn text(&self) -> String {
        let width = self.steps.iter().map(|(step, _)| step.chars().count()).max().unwrap_or(0);
        let line = |(step, why): &(String, String)| format!("  {step:width$}   {why}\n");
        format!("\nNext:\n{}", self.steps.iter().map(line).collect::<String>())
    }
}
