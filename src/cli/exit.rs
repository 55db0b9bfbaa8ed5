//! The exit codes.

use std::process::ExitCode;

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Exit {
    /// Done, or everything is current.
    Done,
    /// blue ran and found something wrong.
    FoundSomething,
    /// blue could not run.
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
