//! The command line: parses flags, runs a command and prints its result.

mod accept;
mod agent_files;
mod branch_guard;
mod build;
mod client;
mod completions;
mod connected;
mod context;
mod diff;
mod doctor;
mod document_changes;
mod exit;
mod explain;
mod for_path;
mod git_hook;
mod graph;
mod graph_formats;
mod hook;
mod hook_edits;
mod hook_input;
mod init;
mod install;
mod installation;
mod known_warnings;
mod lint;
mod list;
mod mandate;
mod mandate_model;
mod mandate_run;
mod mcp;
mod next;
mod new;
mod next_steps;
mod open;
mod output;
mod progress;
mod project;
mod queue_changes;
mod reference;
mod refresh;
mod related;
mod rename;
mod report;
mod responsibility;
mod responsibility_files;
mod review;
mod sarif;
mod schema;
mod session;
mod show;
mod status;
mod status_set;
mod trust;
mod uninstall;
mod watch;
mod worktree;
mod worktree_context;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Parser, Subcommand, ValueEnum};

pub use exit::Exit;
use session::SessionEvent;

/// Compiles decision documents into context for coding agents
#[derive(Debug, Parser)]
#[command(
    name = "blue",
    version,
    about,
    after_help = "Examples:\n  blue init                      adopt blue in this repository\n  blue install                   connect coding agents to it\n  blue knowledge build           compile the documents\n  blue knowledge build --check   check in CI that the committed files are current\n  blue knowledge show blue://docs/adrs/5"
)]
pub struct Cli {
    /// Run as if started in DIR
    #[arg(short = 'C', long = "directory", value_name = "DIR", global = true, default_value = ".")]
    directory: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build, list, show and check documents
    #[command(subcommand)]
    Knowledge(Knowledge),
    /// Set up blue in a repository: find the documents, write a configuration, build
    #[command(
        after_help = "Example:\n  cd my-repository && blue init\n\nNothing that exists is overwritten."
    )]
    Init(init::InitArgs),
    /// Register blue's hooks and server in the settings of coding agents
    #[command(
        after_help = "Examples:\n  blue install --dry-run   see what would change\n  blue install             Claude Code and Codex, in this project\n  blue install --agent gemini,opencode,copilot,cursor\n  blue install --user      Claude Code, in every project\n  blue install --git       the branch guard, in git's pre-commit hook\n\nSettings keep their layout, comments and order; a second run changes nothing.\nExit codes: 0 done or current, 2 could not run; then nothing was changed."
    )]
    Install(install::InstallArgs),
    /// Remove blue from the settings of coding agents
    #[command(
        after_help = "Examples:\n  blue uninstall --dry-run\n  blue uninstall\n  blue uninstall --user\n\nA settings file that was not edited since `blue install` is restored byte for byte."
    )]
    Uninstall(uninstall::UninstallArgs),
    /// Check the installation: what is built, what is registered, what an agent receives
    #[command(
        after_help = "Examples:\n  blue doctor\n  blue doctor --format json\n\nExit codes: 0 all is well (warnings allowed), 1 problems, 2 could not run."
    )]
    Doctor(doctor::DoctorArgs),
    /// Show the context that is delivered to agents
    #[command(
        after_help = "Examples:\n  blue context\n  blue context show\n  blue context log --since 2h"
    )]
    Context(context::ContextArgs),
    /// Allow symbolic links of this project to point outside it, on this machine
    #[command(
        after_help = "Examples:\n  blue trust            allow the current targets of this project's links\n  blue trust --list     print all allowed files\n  blue trust --revoke   allow none of them any more\n\nA project asks with `security.allow_external: true` in .blue/config.yaml. The consent is\nstored in ~/.blue/trust.jsonl, never in the repository. After --revoke, restart `blue mcp`\nand `blue watch`: they read the consent when they start."
    )]
    Trust(trust::TrustArgs),
    /// Run a mandate of the context worker: read queue, clock and model, write the state
    #[command(
        after_help = "Examples:\n  blue mandate refresh_ai_context parenting_cos\n  blue mandate update_open_requests --all --alerts\n  blue mandate compact_memory_events --all\n  blue mandate check_model_preferences parenting_cos --detected gpt-4o-mini\n\nThe queue is opened read-only. It has a table `requests` with id, target_responsibility_id,\nworkspace_id, status, priority, created_at, subject and summary, or the older table `rfas`.\nExit codes: 0 done, 1 found something (a missed deadline, a held publication, rewritten\nmemory), 2 could not run."
    )]
    Mandate(mandate::MandateArgs),
    /// List, show, check and create responsibilities
    #[command(subcommand)]
    Responsibility(responsibility::ResponsibilityCommand),
    /// Make, list and remove worktrees, one for each RFC
    #[command(subcommand)]
    Worktree(worktree::WorktreeCommand),
    /// Show the state of the project, and what to do next; change the status of a document
    #[command(
        after_help = "Examples:\n  blue status\n  blue status --format json\n  blue status set blue://docs/rfcs/16 accepted\n\nOf each unfinished RFC it shows how much it is worked on: ACTIVE (a heartbeat in the\nlast 5 minutes), RECENT (30 minutes), CHANGES (uncommitted), IDLE (a day), STALE, NONE."
    )]
    Status(status::StatusArgs),
    /// Recommend what to work on next
    #[command(
        after_help = "Examples:\n  blue next\n  blue next --limit 3 --format json\n\nWork of active sessions is left out. Abandoned work comes first, then uncommitted changes,\naccepted RFCs without a worktree, paused work, drafts, and what is probably in use."
    )]
    Next(next::NextArgs),
    /// Print the context of the current work, as hooks/session-workflow does
    #[command(
        after_help = "Examples:\n  blue worktree-context\n  blue worktree-context --format json\n\nThe delivery is a line in the audit log. If the RFC differs on the base branch, a line on\nstandard error says how; this worktree's own copy is printed.\nExit codes: 0 printed, 1 there is no current work, 2 could not run."
    )]
    WorktreeContext(worktree_context::WorktreeContextArgs),
    /// Create a document with the next free number, in the style of its collection
    #[command(
        after_help = "Examples:\n  blue new adr \"Use one cache\"\n  blue new rfc \"Context injection\" --from blue://docs/spikes/context --dry-run\n  blue new plan \"Steps\" --from blue://docs/rfcs/16\n\nThe number is one more than the highest in this tree, in every other working tree, and in all\nlocal and fetched branches. `.blue/templates/new/<type>.md` replaces the template of a type.\nExit codes: 0 created and built, 1 refused, 2 could not run."
    )]
    New(new::NewArgs),
    /// Give a document another title or number; links to it follow
    #[command(
        after_help = "Examples:\n  blue rename blue://docs/rfcs/16 --title \"Context injection\" --dry-run\n  blue rename 0016 --number 20\n\nThe plan of an RFC is renamed with it. All files change in one transaction or none.\nExit codes: 0 done, 1 refused, 2 could not run; nothing changed unless 0."
    )]
    Rename(rename::RenameArgs),
    /// Build whenever a document changes
    #[command(after_help = "Example:\n  blue watch")]
    Watch(watch::WatchArgs),
    /// Record the start of an agent's session; print its name in blue
    #[command(after_help = "Example:\n  blue session-start --session abc123")]
    SessionStart(session::SessionArgs),
    /// Record that an agent's session is alive
    #[command(after_help = "Example:\n  blue session-heartbeat --session abc123")]
    SessionHeartbeat(session::SessionArgs),
    /// Record the end of an agent's session
    #[command(after_help = "Example:\n  blue session-end --session abc123")]
    SessionEnd(session::SessionArgs),
    /// Check that files may be changed on the current branch
    #[command(
        after_help = "Examples:\n  blue branch-guard --staged                                  for a pre-commit hook; see `blue install --git`\n  blue branch-guard --path .blue/docs/rfcs/0016-context.md\n\n`branch_guard:` in .blue/config.yaml has the rules. BLUE_GUARD=off lets a person through.\nExit codes: 0 allowed, 1 refused. What cannot be decided is allowed."
    )]
    BranchGuard(branch_guard::BranchGuardArgs),
    /// Handle an event of an agent: read its JSON on standard input, always exit 0
    #[command(
        after_help = "Example:\n  echo '{\"session_id\":\"abc123\"}' | blue hook user-prompt-submit"
    )]
    Hook(hook::HookArgs),
    /// Run the MCP server on standard input and output
    #[command(
        after_help = "Examples:\n  blue mcp                          started by an agent\n  claude mcp add blue -- blue mcp   register it by hand; `blue install` does it too\n\nIt serves the last build, notices new builds, and ends when its client disconnects."
    )]
    Mcp(mcp::McpArgs),
    /// Explain the code of a finding, or list all codes
    #[command(
        after_help = "Examples:\n  blue explain                 list every code with its severity\n  blue explain BLUE-REF-001    print its meaning and the fix\n  blue explain ref-001 --format json\n\nExit codes: 0 explained, 2 no such code."
    )]
    Explain(explain::ExplainArgs),
    /// Print the JSON Schemas of blue's files, or check files against them
    #[command(subcommand)]
    Schema(schema::SchemaCommand),
    /// Print completions for a shell
    #[command(after_help = "Example:\n  blue completions bash > /etc/bash_completion.d/blue")]
    Completions(completions::CompletionsArgs),
    /// Print the manual page
    #[command(after_help = "Example:\n  blue man | man -l -")]
    Man,
}

#[derive(Debug, Subcommand)]
enum Knowledge {
    /// Compile the documents into digests, bundles, indexes and a manifest
    #[command(
        after_help = "Examples:\n  blue knowledge build\n  blue knowledge build --check --format github\n  blue knowledge build --explain\n\nExit codes: 0 done or current, 1 --check found something or a finding is an error, 2 could not run."
    )]
    Build(build::BuildArgs),
    /// List documents with their paths and statuses
    #[command(
        after_help = "Examples:\n  blue knowledge list\n  blue knowledge list rfcs --live\n  blue knowledge list cache --status accepted --since 2024\n  blue knowledge list --format json\n\nAt most 50 documents are listed as text; --all and --format json list all.\n`-` marks a document that is not live. Exit codes: 0 done, 1 nothing matches, 2 could not run."
    )]
    List(list::ListArgs),
    /// Print a document, a part of it or its headings; a digest or a bundle
    #[command(
        after_help = "Examples:\n  blue knowledge show ADR 5\n  blue knowledge show docs/adr/0005-queue.md --section decision\n  blue knowledge show blue://docs/rfcs/0016 --outline\n  blue knowledge show 0016 --budget 500\n  blue knowledge show blue://context/session\n\nOn a terminal, a document of more than 200 lines is printed as an outline; --all prints its text."
    )]
    Show(show::ShowArgs),
    /// Find documents related to a document, a path or words
    #[command(
        after_help = "Examples:\n  blue knowledge related blue://docs/rfcs/16 --why\n  blue knowledge related docs/adr/0007-cache.md --limit 5\n  blue knowledge related \"who owns the cache\" --format json\n\nExit codes: 0 found, 1 nothing found, 2 could not run."
    )]
    Related(related::RelatedArgs),
    /// Explain why two documents are related
    #[command(after_help = "Example:\n  blue knowledge why blue://docs/rfcs/16 blue://docs/adrs/5")]
    Why(related::WhyArgs),
    /// Draw documents and their references
    #[command(
        after_help = "Examples:\n  blue knowledge graph adrs > adrs.mmd\n  blue knowledge graph blue://docs/rfcs/16 --depth 2 --format dot | dot -Tsvg > rfc.svg\n  blue knowledge graph --format json"
    )]
    Graph(graph::GraphArgs),
    /// List the decisions about a file or a folder, the most specific first
    #[command(
        after_help = "Examples:\n  blue knowledge for src/parse/mod.rs\n  blue knowledge for src/parse --format json\n\nA document binds what it names: in a code span, by a link, or in `affects:` of its header.\nFurther groups are documents that name a function, type or constant that the file defines,\nand, if no document names the path, documents with similar words.\nExit codes: 0 found, 1 nothing found, 2 could not run."
    )]
    For(for_path::ForArgs),
    /// Report problems in the documents; write nothing
    #[command(
        after_help = "Examples:\n  blue knowledge lint\n  blue knowledge lint --format sarif > blue.sarif\n  blue knowledge lint --accept BLUE-REF-001 docs/old --reason \"archived\"\n  blue knowledge lint --prune      remove accepted findings that no longer occur\n  blue knowledge lint --fix BLUE-REF-003 --dry-run\n\nExit codes: 0 no warnings or errors, 1 warnings or errors, 2 could not run.\n`blue explain CODE` explains a finding."
    )]
    Lint(lint::LintArgs),
}

/// Output format of findings.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text for people, on standard error
    #[default]
    Text,
    /// One JSON object, on standard output
    Json,
    /// GitHub workflow commands, on standard output
    Github,
    /// SARIF 2.1.0, on standard output
    Sarif,
}

/// Stack sizes to try, in bytes. Nested expressions in templates need a large stack, whose memory is
/// only reserved until it is used. If the system refuses to reserve it (`ulimit -v`), the smallest size
/// is still enough for the nesting that templates may have.
const STACKS: [usize; 3] = [256 << 20, 64 << 20, 16 << 20];

/// Runs blue. Arguments are parsed on this thread, so that `--version` and `--help` start no thread. A
/// command runs on a thread with a large stack.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // clap first builds the help texts of all commands, which takes a third of the whole time.
    if matches!(&arguments[..], [_, flag] if flag == "--version" || flag == "-V") {
        output::out(concat!("blue ", env!("CARGO_PKG_VERSION"), "\n")).ok();
        return Exit::Done;
    }
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => Arc::new(cli),
        Err(error) => {
            // This fails only if the output is closed, as in `--help | head`.
            error.print().ok();
            return if error.use_stderr() { Exit::CouldNotRun } else { Exit::Done };
        }
    };
    let mut last_error = String::new();
    for size in STACKS {
        let cli = cli.clone();
        match std::thread::Builder::new().stack_size(size).spawn(move || run_command(&cli)) {
            Ok(thread) => return thread.join().unwrap_or(Exit::CouldNotRun),
            Err(error) => last_error = error.to_string(),
        }
    }
    output::error(&format!(
        "start a thread: {last_error}\nhint: raise the limits on memory (ulimit -v) and processes (ulimit -u)"
    ));
    Exit::CouldNotRun
}

/// Runs a command, and reports a panic as a bug.
fn run_command(cli: &Cli) -> Exit {
    std::panic::set_hook(Box::new(|panic| {
        output::error(&format!(
            "this is a bug in blue: {panic}\nhint: please report it with the command you typed"
        ));
    }));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| dispatch(cli)));
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
        Command::Knowledge(Knowledge::For(path)) => path.run(&cli.directory),
        Command::Knowledge(Knowledge::Lint(lint)) => lint.run(&cli.directory),
        Command::Init(init) => init.run(&cli.directory),
        Command::Install(install) => install.run(&cli.directory),
        Command::Uninstall(uninstall) => uninstall.run(&cli.directory),
        Command::Doctor(doctor) => doctor.run(&cli.directory),
        Command::Context(context) => context.run(&cli.directory),
        Command::Trust(trust) => trust.run(&cli.directory),
        Command::Watch(watch) => watch.run(&cli.directory),
        Command::Mandate(mandate) => mandate.run(&cli.directory),
        Command::Responsibility(command) => command.run(&cli.directory),
        Command::Worktree(command) => command.run(&cli.directory),
        Command::Status(status) => status.run(&cli.directory),
        Command::Next(next) => next.run(&cli.directory),
        Command::WorktreeContext(context) => context.run(&cli.directory),
        Command::New(new) => new.run(&cli.directory),
        Command::Rename(rename) => rename.run(&cli.directory),
        Command::SessionStart(session) => session.run(&cli.directory, SessionEvent::Start),
        Command::SessionHeartbeat(session) => session.run(&cli.directory, SessionEvent::Heartbeat),
        Command::SessionEnd(session) => session.run(&cli.directory, SessionEvent::End),
        Command::BranchGuard(guard) => guard.run(&cli.directory),
        Command::Hook(hook) => hook.run(&cli.directory),
        Command::Mcp(mcp) => mcp.run(&cli.directory),
        Command::Explain(explain) => explain.run(),
        Command::Schema(schema) => schema.run(),
        Command::Completions(completions) => completions.run(),
        Command::Man => completions::man(),
    }
}

/// Returns true if the reader of the output ended early, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
