//! The command line: flags in, one call, text out, an exit code.

mod accept;
mod build;
mod client;
mod for_path;
mod diff;
mod doctor;
mod context;
mod delivery;
mod draw;
mod exit;
mod explain;
mod graph;
mod hook;
mod init;
mod install;
mod installation;
mod lint;
mod list;
mod mcp;
mod next;
mod output;
mod progress;
mod project;
mod reference;
mod related;
mod refresh;
mod report;
mod reported;
mod review;
mod sarif;
mod schema;
mod session;
mod shell;
mod show;
mod uninstall;
mod usage;
mod status;
mod trust;
mod watch;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

pub use exit::Exit;
use session::Happened;

/// A compiler for what a coding agent knows about a project.
#[derive(Debug, Parser)]
#[command(
    name = "blue",
    version,
    about,
    after_help = "Examples:\n  blue init                      adopt blue in this repository\n  blue install                   connect coding agents to it\n  blue knowledge build           compile the documents\n  blue knowledge build --check   in CI: is what is committed current?\n  blue knowledge show blue://docs/adrs/5"
)]
pub struct Cli {
    /// Work in the project of this folder instead of the current one.
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true, default_value = ".")]
    directory: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build, list, show and check the project's knowledge.
    #[command(subcommand)]
    Knowledge(Knowledge),
    /// Adopt blue in a repository: find the documents, write a configuration, build.
    #[command(
        after_help = "Example:\n  cd my-repository && blue init\n\nNothing that exists is overwritten."
    )]
    Init(init::Init),
    /// Connect coding agents: register blue's hooks and server in their settings.
    #[command(
        after_help = "Examples:\n  blue install --dry-run   see what would change\n  blue install             Claude Code and Codex, in this project\n  blue install --user      Claude Code, in every project\n\nSettings keep their layout, comments and order; a second run changes nothing.\nExit codes: 0 done or current, 2 could not run; then nothing was changed."
    )]
    Install(install::Install),
    /// Disconnect coding agents: take out of their settings what `blue install` put in.
    #[command(
        after_help = "Examples:\n  blue uninstall --dry-run\n  blue uninstall\n  blue uninstall --user\n\nA settings file that nobody touched since gets its former bytes back."
    )]
    Uninstall(uninstall::Uninstall),
    /// Check the connection: what is built, what is registered, what an agent receives.
    #[command(
        after_help = "Examples:\n  blue doctor\n  blue doctor --format json\n\nExit codes: 0 all is well (warnings allowed), 1 problems, 2 could not run."
    )]
    Doctor(doctor::Doctor),
    /// What was built for agents, and what of it was really delivered.
    #[command(
        after_help = "Examples:\n  blue context\n  blue context show\n  blue context log --since 2h"
    )]
    Context(context::Context),
    /// Allow links of this project to lead out of it, on this machine.
    #[command(
        after_help = "Examples:\n  blue trust            allow the files that links of this project lead to now\n  blue trust --list     print what is allowed\n  blue trust --revoke   take it back\n\nA project asks with `security.allow_external: true` in .blue/config.yaml. The consent is\nstored in ~/.blue/trust.jsonl, never in the repository. After --revoke, restart `blue mcp`\nand `blue watch`: they read it when they start."
    )]
    Trust(trust::Trust),
    /// Where the project stands, and what would help.
    #[command(after_help = "Example:\n  blue status")]
    Status(status::Status),
    /// Build again whenever a document changes.
    #[command(after_help = "Example:\n  blue watch")]
    Watch(watch::Watch),
    /// Remember that an agent's session began; prints blue's name of it.
    #[command(after_help = "Example:\n  blue session-start --session abc123")]
    SessionStart(session::Session),
    /// Remember that an agent's session is alive.
    #[command(after_help = "Example:\n  blue session-heartbeat --session abc123")]
    SessionHeartbeat(session::Session),
    /// Remember that an agent's session is over.
    #[command(after_help = "Example:\n  blue session-end --session abc123")]
    SessionEnd(session::Session),
    /// What an agent's hooks call; reads the event's JSON on standard input and always exits 0.
    #[command(
        after_help = "Example:\n  echo '{\"session_id\":\"abc123\"}' | blue hook user-prompt-submit"
    )]
    Hook(hook::Hook),
    /// Serve the knowledge to an agent: an MCP server on standard input and output.
    #[command(
        after_help = "Examples:\n  blue mcp                                    what an agent starts\n  claude mcp add blue -- blue mcp             register it by hand; `blue install` does so too\n\nIt serves what was built, notices new builds by itself, and ends with its client."
    )]
    Mcp(mcp::Mcp),
    /// Explain the code of a finding, or list all codes.
    #[command(
        after_help = "Examples:\n  blue explain                 every code, with its severity\n  blue explain BLUE-REF-001    what it means, and what to do about it\n  blue explain ref-001 --format json\n\nExit codes: 0 explained, 2 no such code."
    )]
    Explain(explain::Explain),
    /// Print the JSON Schemas of blue's files, or check files against them.
    #[command(subcommand)]
    Schema(schema::Schema),
    /// Print completions for a shell.
    #[command(after_help = "Example:\n  blue completions bash > /etc/bash_completion.d/blue")]
    Completions(shell::Completions),
    /// Print the manual page.
    #[command(after_help = "Example:\n  blue man | man -l -")]
    Man,
}

#[derive(Debug, Subcommand)]
enum Knowledge {
    /// Compile the documents into knowledge files, an index and a manifest.
    #[command(
        after_help = "Examples:\n  blue knowledge build\n  blue knowledge build --check --format github\n  blue knowledge build --explain\n\nExit codes: 0 done or current, 1 --check found something or a finding is an error, 2 could not run."
    )]
    Build(build::Build),
    /// List every document with its address and status.
    #[command(
        after_help = "Examples:\n  blue knowledge list\n  blue knowledge list rfcs --live\n  blue knowledge list --format json"
    )]
    List(list::List),
    /// Print the document, digest or bundle behind an address.
    #[command(
        after_help = "Examples:\n  blue knowledge show blue://docs/adrs/\n  blue knowledge show blue://docs/rfcs/0016\n  blue knowledge show blue://context/session"
    )]
    Show(show::Show),
    /// Find the documents near one, or about some words.
    #[command(
        after_help = "Examples:\n  blue knowledge related blue://docs/rfcs/16 --why\n  blue knowledge related docs/adr/0007-cache.md --limit 5\n  blue knowledge related \"who owns the cache\" --format json\n\nExit codes: 0 something is near, 1 nothing is, 2 could not run."
    )]
    Related(related::Related),
    /// Say why one document is near another.
    #[command(after_help = "Example:\n  blue knowledge why blue://docs/rfcs/16 blue://docs/adrs/5")]
    Why(related::Why),
    /// Draw documents and their references: all, a collection, or what is near one.
    #[command(
        after_help = "Examples:\n  blue knowledge graph adrs > adrs.mmd\n  blue knowledge graph blue://docs/rfcs/16 --depth 2 --format dot | dot -Tsvg > rfc.svg\n  blue knowledge graph --format json"
    )]
    Graph(graph::Draw),
    /// Say which decisions bind a file or a folder, the most specific first.
    #[command(
        after_help = "Examples:\n  blue knowledge for src/parse/mod.rs\n  blue knowledge for src/parse --format json\n\nA document binds what it names: in a code span, by a link, or in `affects:` of its header.\nExit codes: 0 something binds it, 1 nothing does, 2 could not run."
    )]
    For(for_path::For),
    /// Report what is wrong in the documents; write nothing.
    #[command(
        after_help = "Examples:\n  blue knowledge lint\n  blue knowledge lint --format sarif > blue.sarif\n  blue knowledge lint --accept BLUE-REF-001 docs/old --reason \"kept as they were written\"\n  blue knowledge lint --prune      forget accepted findings that are gone\n\nExit codes: 0 nothing wrong, 1 warnings or errors, 2 could not run.\n`blue explain CODE` says what a finding means."
    )]
    Lint(lint::Lint),
}

/// How findings are written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people, on standard error.
    #[default]
    Text,
    /// One JSON object, on standard output.
    Json,
    /// GitHub workflow commands, on standard output.
    Github,
    /// SARIF 2.1.0, on standard output.
    Sarif,
}

/// Stack sizes that are tried, in bytes. Expressions in a template nest on the stack, which is only
/// reserved until it is used; where the system reserves no more (`ulimit -v`), the least is enough for
/// what templates may have.
const STACKS: [usize; 3] = [256 << 20, 64 << 20, 16 << 20];

/// Runs blue with the given arguments on a thread with a large stack.
pub fn start(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut refused = None;
    for size in STACKS {
        let arguments = arguments.clone();
        match std::thread::Builder::new().stack_size(size).spawn(|| run(arguments)) {
            Ok(thread) => return thread.join().unwrap_or(Exit::CouldNotRun),
            Err(error) => refused = Some(error),
        }
    }
    let refused = refused.map_or(String::new(), |error| error.to_string());
    output::error(&format!(
        "start a thread: {refused}\nhint: raise the limits on memory (ulimit -v) and processes (ulimit -u)"
    ));
    Exit::CouldNotRun
}

/// Runs blue with the given arguments.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    std::panic::set_hook(Box::new(|panic| {
        output::error(&format!(
            "this is a bug in blue: {panic}\nhint: please report it with the command you typed"
        ));
    }));
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody is left to be told if this cannot be printed; `--help | head` is fine.
            error.print().ok();
            return if error.use_stderr() { Exit::CouldNotRun } else { Exit::Done };
        }
    };
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| dispatch(&cli)));
    match outcome {
        Ok(Ok(exit)) => exit,
        Ok(Err(error)) if is_closed_pipe(&error) => Exit::Done,
        Ok(Err(error)) => {
            output::error(&format!("{error:#}"));
            Exit::CouldNotRun
        }
        Err(_) => Exit::CouldNotRun,
    }
}

fn dispatch(cli: &Cli) -> anyhow::Result<Exit> {
    match &cli.command {
        Command::Knowledge(Knowledge::Build(build)) => build.run(&cli.directory),
        Command::Knowledge(Knowledge::List(list)) => list.run(&cli.directory),
        Command::Knowledge(Knowledge::Show(show)) => show.run(&cli.directory),
        Command::Knowledge(Knowledge::Related(related)) => related.run(&cli.directory),
        Command::Knowledge(Knowledge::Why(why)) => why.run(&cli.directory),
        Command::Knowledge(Knowledge::Graph(graph)) => graph.run(&cli.directory),
        Command::Knowledge(Knowledge::For(code)) => code.run(&cli.directory),
        Command::Knowledge(Knowledge::Lint(lint)) => lint.run(&cli.directory),
        Command::Init(init) => init.run(&cli.directory),
        Command::Install(install) => install.run(&cli.directory),
        Command::Uninstall(uninstall) => uninstall.run(&cli.directory),
        Command::Doctor(doctor) => doctor.run(&cli.directory),
        Command::Context(context) => context.run(&cli.directory),
        Command::Trust(trust) => trust.run(&cli.directory),
        Command::Watch(watch) => watch.run(&cli.directory),
        Command::Status(status) => status.run(&cli.directory),
        Command::SessionStart(session) => session.run(&cli.directory, Happened::Start),
        Command::SessionHeartbeat(session) => session.run(&cli.directory, Happened::Heartbeat),
        Command::SessionEnd(session) => session.run(&cli.directory, Happened::End),
        Command::Hook(hook) => hook.run(&cli.directory),
        Command::Mcp(mcp) => mcp.run(&cli.directory),
        Command::Explain(explain) => explain.run(),
        Command::Schema(schema) => schema.run(),
        Command::Completions(completions) => completions.run(),
        Command::Man => shell::man(),
    }
}

/// A reader that has seen enough, as `head` has, is not an error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
