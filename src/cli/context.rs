//! `blue context`: the tiers and their deliveries.

use std::path::Path;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::open::{Delivery, open_built, update_usage};
use super::output::OutputFormat;
use super::review::Review;
use super::{Exit, build, output, reference, refresh};
use crate::emit;
use crate::guard::redacted;
use crate::model::layout::{AUDIT, WORKTREE};
use crate::model::plural::counted;
use crate::serve::usage::Phase;
use crate::wire::audit::AuditLine;
use crate::wire::jsonl::BundleLine;
use crate::wire::manifest::Manifest;
use crate::wire::session::short_id;

/// The flags of `blue context`.
#[derive(Args, Debug)]
pub(super) struct ContextArgs {
    #[command(subcommand)]
    command: Option<ContextCommand>,
}

#[derive(Debug, Subcommand)]
enum ContextCommand {
    /// Show the sources of each tier and their last delivery
    #[command(
        after_help = "Examples:\n  blue context show\n  blue context show --verbose\n  blue context show --format json"
    )]
    Show(ContextShowArgs),
    /// Show the audit log: the time, session and address of each delivery
    #[command(
        after_help = "Examples:\n  blue context log --since 2h\n  blue context log --session abc123 --format json"
    )]
    Log(LogArgs),
    /// Read the documents related to the current work, within the budget of tier 3
    #[command(
        after_help = "Examples:\n  blue context reference\n  blue context reference blue://docs/rfcs/16 --all"
    )]
    Reference(reference::ReferenceArgs),
    /// Print the current work if it changed since it was delivered to a session
    #[command(after_help = "Example:\n  blue context refresh --session abc123")]
    Refresh(refresh::RefreshArgs),
}

#[derive(Args, Debug)]
struct ContextShowArgs {
    /// Also show the audit log
    #[arg(long, short)]
    verbose: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

#[derive(Args, Debug)]
struct LogArgs {
    /// Show only deliveries to this session of the agent
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Show only deliveries since a time: 30m, 2h, 7d, 2026-01-25T12:00:00Z
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

impl ContextArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        match &self.command {
            None => print_summary(directory),
            Some(ContextCommand::Show(show)) => show.run(directory),
            Some(ContextCommand::Log(log)) => log.run(directory),
            Some(ContextCommand::Reference(reference)) => reference.run(directory),
            Some(ContextCommand::Refresh(refresh)) => refresh.run(directory),
        }
    }
}

fn print_summary(directory: &Path) -> anyhow::Result<Exit> {
    let delivery = Delivery::open(directory, None)?;
    let manifest = open_built(&delivery.root)?.manifest;
    let identity = delivery.bundles.identity().map(|bundle| bundle.tokens).sum();
    let workflow = delivery.current().map_or(0, |bundle| bundle.tokens);
    output::out(&format!(
        "Identity: {} ({} tokens) | Workflow: {} ({} tokens) | Reference: {} ({} budget)\n",
        counted(manifest.identity.sources.len(), "source"),
        short(identity),
        counted(manifest.workflow.sources.len(), "source"),
        short(workflow),
        counted(manifest.documents.count, "document"),
        short(manifest.reference.max_tokens),
    ))?;
    warn(&delivery);
    Ok(Exit::Done)
}

/// Warns about problems that make the output incomplete or outdated.
fn warn(delivery: &Delivery) {
    if build::is_stale(&delivery.root) {
        output::say(
            "blue: something changed since the last build\nhint: run `blue knowledge build`",
        );
    }
    if !emit::is_writable(&delivery.root) {
        output::say(&format!(
            "blue: {AUDIT} cannot be written; deliveries are not recorded\nhint: check its owner and mode"
        ));
    }
    if delivery.log.n_lost > 0 {
        let n = delivery.log.n_lost;
        let lines =
            if n == 1 { "1 torn line is".to_string() } else { format!("{n} torn lines are") };
        output::say(&format!("blue: {lines} skipped in {AUDIT}"));
    }
}

/// Formats a number: `487`, `1.2k`.
fn short(n: u64) -> String {
    if n < 1_000 { n.to_string() } else { format!("{}.{}k", n / 1_000, n % 1_000 / 100) }
}

impl ContextShowArgs {
    fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let delivery = Delivery::open(directory, None)?;
        let built = open_built(&delivery.root)?;
        let phase = update_usage(&delivery.root).phase();
        let review = Review::find(&delivery.root, &built, &delivery.log);
        let manifest = &built.manifest;
        let text = match self.format {
            OutputFormat::Json => json(&delivery, manifest, phase, &review)?,
            OutputFormat::Text => self.text(&delivery, manifest, phase, &review),
        };
        output::out(&text)?;
        warn(&delivery);
        Ok(Exit::Done)
    }

    fn text(
        &self,
        delivery: &Delivery,
        manifest: &Manifest,
        phase: Phase,
        review: &Review,
    ) -> String {
        let mut text = format!("Identity, at most {} tokens\n", manifest.identity.max_tokens);
        let bundles = delivery.bundles.identity().map(|line| bundle_line(delivery, line));
        text += &bundles.collect::<String>();
        for source in &manifest.identity.sources {
            let tokens = source.tokens.map_or(String::new(), |n| format!("  {} tokens", short(n)));
            let artifact = source.artifact.as_deref().unwrap_or("nothing");
            text += &format!("    from {}  {artifact}{tokens}\n", output::visible(&source.uri));
        }
        text += &format!(
            "Workflow, at most {} tokens, {}; again {}\n",
            manifest.workflow.max_tokens,
            counted(manifest.workflow.bundles, "bundle"),
            output::visible(&manifest.workflow.refresh_triggers.join(", ")),
        );
        text += &match (delivery.current(), &delivery.work) {
            (Some(line), _) => bundle_line(delivery, line),
            (None, Some(name)) => {
                format!("  no unfinished RFC is called {}\n", output::shown(name))
            }
            (None, None) => format!("  no current work: neither a branch nor {WORKTREE}\n"),
        };
        text += &format!(
            "Reference, at most {} tokens\n  {}  {}, {} live\n  usage: {}\n",
            manifest.reference.max_tokens,
            manifest.reference.graph,
            counted(manifest.documents.count, "document"),
            manifest.documents.live,
            phase.text()
        );
        text += &review.text();
        if self.verbose {
            text += "Delivered\n";
            text.extend(delivery.log.lines.iter().map(|line| format!("  {}\n", log_line(line))));
        }
        text
    }
}

fn bundle_line(delivery: &Delivery, line: &BundleLine) -> String {
    let staleness = delivery.log.staleness(line, None).text();
    let last = delivery.log.last(&line.source, None);
    let last = last.map_or(String::new(), |last| format!(", last {}", last.timestamp));
    let tokens = short(line.tokens);
    let text = format!("  {}  {}  {tokens} tokens  {staleness}{last}", line.source, line.artifact);
    format!("{}\n", output::visible(&text))
}

fn log_line(line: &AuditLine) -> String {
    let hash = line.content_hash.strip_prefix("blake3:").unwrap_or(&line.content_hash);
    let hash = hash.get(..12).unwrap_or(hash);
    let session = if line.session_id.is_empty() { "-" } else { &line.session_id };
    output::visible(&format!(
        "{}  {:16}  {session}  {}  {hash}  {} tokens",
        line.timestamp, line.event, line.source, line.tokens
    ))
}

fn json(
    delivery: &Delivery,
    manifest: &Manifest,
    phase: Phase,
    review: &Review,
) -> anyhow::Result<String> {
    let bundle = |line: &BundleLine| {
        let last = delivery.log.last(&line.source, None);
        json!({
            "source": line.source, "artifact": line.artifact, "content_hash": line.content_hash,
            "tokens": line.tokens, "bytes": line.bytes,
            "injection": delivery.log.staleness(line, None).text(),
            "last": last.map(|last| &last.timestamp),
        })
    };
    let bundles: Vec<_> = delivery.bundles.all().iter().map(bundle).collect();
    let value = json!({
        "manifest": manifest, "bundles": bundles, "work": delivery.work.as_deref().map(redacted), "branch": delivery.branch.as_deref().map(redacted),
        "current": delivery.current().map(bundle), "log": delivery.log.lines,
        "torn_lines": delivery.log.n_lost, "review": review.json(),
        "usage": {
            "phase": phase.name(), "days": phase.days, "events": phase.events,
            "weighted": phase.is_weighted(), "learned": phase.is_learned(),
        },
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&value)?))
}

impl LogArgs {
    fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let delivery = Delivery::open(directory, None)?;
        let since = self.since.as_deref().map(parse_since).transpose()?;
        let session = self.session.as_deref().map(short_id);
        let wanted = |line: &&AuditLine| {
            let at = line.timestamp.parse::<Timestamp>().ok();
            session.as_ref().is_none_or(|session| line.session_id == *session)
                && since.is_none_or(|since| at.is_some_and(|at| at >= since))
        };
        let lines: Vec<&AuditLine> = delivery.log.lines.iter().filter(wanted).collect();
        let text = match self.format {
            OutputFormat::Json => format!("{}\n", serde_json::to_string_pretty(&lines)?),
            OutputFormat::Text => {
                lines.iter().map(|line| format!("{}\n", log_line(line))).collect()
            }
        };
        output::out(&text)?;
        warn(&delivery);
        Ok(Exit::Done)
    }
}

/// Parses a duration before now (`2h`), or a time.
fn parse_since(text: &str) -> anyhow::Result<Timestamp> {
    let hint =
        || format!("{text:?} is not a time\nhint: write 30m, 2h, 7d or 2026-01-25T12:00:00Z");
    let split = text.len().saturating_sub(1);
    let unit = match text.get(split..) {
        Some("s") => 1,
        Some("m") => 60,
        Some("h") => 3_600,
        Some("d") => 86_400,
        _ => return text.parse().with_context(hint),
    };
    let count: i64 = text[..split].parse().with_context(hint)?;
    let ago = SignedDuration::from_secs(count.saturating_mul(unit));
    emit::current_time().checked_sub(ago).with_context(hint)
}
