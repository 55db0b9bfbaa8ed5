//! The exit codes.

use std::process::ExitCode;

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Exit {
    /// Success: exit code 0.
    Done,
    /// The command ran and found a problem: exit code 1.
    FoundSomething,
    /// The command could not run: exit code 2.
    CouldNotRun,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::FoundSomething => 1,
            Exit::CouldNotRun => 2,
        })
    }
}
