//! `blue context refresh`: the current work, if a session does not have it as it is now.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Args;

use super::delivery::{Delivery, Said};
use super::{Exit, output};
use crate::emit::{self, AUDIT, AUDIT_BEFORE};
use crate::model::Trigger;
use crate::model::escape::escape;
use crate::model::plural::counted;
use crate::serve::bundles;
use crate::serve::delivery::{Log, Staleness};
use crate::wire::header;
use crate::wire::jsonl::{BundleLine, RefreshPolicy as Policy};
use crate::wire::session::short_id;

/// The flags of `blue context refresh`.
#[derive(Args, Debug)]
pub(super) struct Refresh {
    /// The agent's own name of its session; default: what it says on standard input.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// Who asks whether something is due.
pub(super) enum Asked<'a> {
    /// A prompt, the so-manieth of its session.
    Prompt(u64),
    /// A call of a tool.
    Tool(&'a str),
    /// A person.
    Person,
}

/// A bundle that a session should be given now.
pub(super) struct Due {
    bundle: BundleLine,
    bytes: Vec<u8>,
    note: String,
    // Held until the delivery is noted, so that two prompts at once give it once.
    _gate: emit::BriefLock,
}

impl Refresh {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let session = match &self.session {
            Some(session) => short_id(session),
            None => Said::read().session_id,
        };
        let delivery = Delivery::of_session(directory, &session)?;
        match due(&delivery, &session, &Asked::Person)? {
            Some(due) => due.deliver(&delivery, &session, "refresh")?,
            None => output::say(&format!("blue: {}", why_not(&delivery, &session))),
        }
        Ok(Exit::Done)
    }
}

/// Why nothing is due, for a person.
fn why_not(delivery: &Delivery, session: &str) -> &'static str {
    match delivery.current() {
        None => "there is no current work: no live RFC is named like the worktree or the branch",
        Some(bundle) if delivery.log.staleness(bundle, Some(session)) == Staleness::Fresh => {
            "nothing changed since it was delivered"
        }
        Some(bundle) if bundles::bytes(&delivery.root, bundle).is_none() => {
            "the bundle is not what was built; run `blue knowledge build`"
        }
        Some(_) => "it was delivered less than half a minute ago",
    }
}

/// What is due: the bundle of the current work, if a trigger asks for it, its policy allows it, the
/// session does not have it as it is, and was not given it a moment ago.
pub(super) fn due(
    delivery: &Delivery,
    session: &str,
    asked: &Asked<'_>,
) -> anyhow::Result<Option<Due>> {
    let Some(bundle) = delivery.current() else { return Ok(None) };
    if !heard(bundle, asked) {
        return Ok(None);
    }
    let allowed = match bundle.refresh {
        Policy::OnChange => true,
        Policy::OnRequest | Policy::SessionStart => matches!(asked, Asked::Person),
    };
    if !allowed || delivery.log.staleness(bundle, Some(session)) == Staleness::Fresh {
        return Ok(None);
    }
    let gate = emit::BriefLock::take(&delivery.root, "refresh")?;
    let log = Log::open(&delivery.root, [AUDIT_BEFORE, AUDIT], Some(session));
    let staleness = log.staleness(bundle, Some(session));
    let cooling = log.is_cooling(&bundle.source, session, emit::current_time());
    if staleness == Staleness::Fresh || cooling {
        return Ok(None);
    }
    let Some(bytes) = bundles::bytes(&delivery.root, bundle) else { return Ok(None) };
    let note = match log.last(&bundle.source, Some(session)) {
        None => format!("{} is new to this session.", bundle.source),
        Some(line) => {
            let before = bundles::before(&delivery.root, bundle, &line.content_hash);
            let changed = before.map_or(String::new(), |before| changes(&before, &bytes));
            format!(
                "{} changed since {}; this replaces what was said then.{changed}",
                bundle.source, line.timestamp
            )
        }
    };
    // Addresses and times come from files that anybody can write.
    let note: Vec<String> =
        note.lines().map(|line| output::visible(&escape(line)).replace(['<', '>'], "'")).collect();
    Ok(Some(Due { bundle: bundle.clone(), bytes, note: note.join("\n"), _gate: gate }))
}

/// Most changed lines that are told.
const MAX_CHANGES: usize = 6;

/// The lines that are only in one of two texts, those that are gone first.
fn changes(before: &[u8], now: &[u8]) -> String {
    let (before, now) = (String::from_utf8_lossy(before), String::from_utf8_lossy(now));
    let lines = |text: &str| text.lines().skip(1).map(str::to_string).collect::<BTreeSet<_>>();
    let (old, new) = (lines(&before), lines(&now));
    let gone = before.lines().filter(|line| old.contains(*line) && !new.contains(*line));
    let come = now.lines().filter(|line| new.contains(*line) && !old.contains(*line));
    let all: Vec<(&str, &str)> =
        gone.map(|line| ("gone", line)).chain(come.map(|line| ("new", line))).collect();
    // A hook may print 10,000 characters; what the bundle leaves is shared among the lines.
    let room = 9_700usize.saturating_sub(now.len()) / all.len().clamp(1, MAX_CHANGES);
    let width = room.saturating_sub(12).clamp(24, 240);
    let told = all.iter().take(MAX_CHANGES);
    let told = told.map(|(what, line)| format!("\n{what}: {}", clipped(line, width)));
    let more = all.len().saturating_sub(MAX_CHANGES);
    let more =
        if more > 0 { format!("\nand {}", counted(more, "more line")) } else { String::new() };
    told.collect::<String>() + &more
}

/// A line in at most so many bytes.
fn clipped(line: &str, width: usize) -> String {
    let mut end = line.len().min(width);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let dots = if end < line.len() { "…" } else { "" };
    format!("{}{dots}", &line[..end])
}

/// Whether any trigger of the configuration, as it was built, hears who asks.
fn heard(bundle: &BundleLine, asked: &Asked<'_>) -> bool {
    let mut triggers = bundle.triggers.iter().filter_map(|text| Trigger::parse(text));
    match asked {
        Asked::Prompt(turn) => triggers.any(|trigger| trigger.fires_on_prompt(*turn)),
        Asked::Tool(name) => triggers.any(|trigger| trigger.fires_on_tool_call(name)),
        Asked::Person => true,
    }
}

impl Due {
    fn text(&self) -> String {
        format!("{}{}\n", String::from_utf8_lossy(&self.bytes), self.note)
    }

    /// Prints the bundle with a note of what changed, then notes the delivery.
    pub(super) fn deliver(
        &self,
        delivery: &Delivery,
        session: &str,
        event: &str,
    ) -> anyhow::Result<()> {
        output::copy(self.text().as_bytes())?;
        delivery.note(&self.bundle, session, event)
    }

    /// The same for events that take JSON.
    pub(super) fn deliver_as_json(
        &self,
        delivery: &Delivery,
        session: &str,
        event: &str,
    ) -> anyhow::Result<()> {
        output::copy(header::hook_json(event, &self.text()).as_bytes())?;
        delivery.note(&self.bundle, session, event)
    }
}
