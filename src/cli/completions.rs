//! `blue completions` and `blue man`.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Cli, Exit, output};

/// The flags of `blue completions`.
#[derive(Args, Debug)]
pub(super) struct CompletionsArgs {
    /// Name of the shell
    shell: Shell,
}

impl CompletionsArgs {
    pub(super) fn run(&self) -> anyhow::Result<Exit> {
        let mut bytes = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "blue", &mut bytes);
        output::copy(&bytes)?;
        Ok(Exit::Done)
    }
}

/// Prints the manual page, with a section for each subcommand.
pub(super) fn man() -> anyhow::Result<Exit> {
    let mut bytes = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut bytes)?;
    output::copy(&bytes)?;
    Ok(Exit::Done)
}
