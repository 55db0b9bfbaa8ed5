//! Formats the state of the current work, from the index of bundles.

use crate::model::escape::escape;
use crate::model::plural::counted_of;
use crate::wire::jsonl::{BundleLine, WorkLine};

/// Returns the work of a bundle. `None` for the session bundle, and for an index of an older blue.
pub fn state(bundle: &BundleLine) -> Option<WorkLine> {
    let mut work = bundle.work.clone()?;
    escape_texts(&mut work);
    Some(work)
}

/// Escapes every text. The build did so too, but the index can have been edited since.
fn escape_texts(work: &mut WorkLine) {
    let WorkLine {
        uri,
        path,
        head,
        status,
        phase,
        n_done: _,
        n_open: _,
        open,
        criteria,
        depends,
        plans,
    } = work;
    let texts = phase
        .iter_mut()
        .chain(open)
        .chain(criteria)
        .chain(depends)
        .chain([uri, path, head, status]);
    for text in texts {
        *text = escape(text).replace('\n', " ");
    }
    plans.iter_mut().for_each(escape_texts);
}

/// Returns the listed open tasks of an RFC, then of its plans.
pub fn open_tasks(work: &WorkLine) -> Vec<&str> {
    let plans = work.plans.iter().flat_map(|plan| &plan.open);
    work.open.iter().chain(plans).map(String::as_str).collect()
}

/// Formats phase, open tasks and success criteria, one per line.
pub fn lines(work: &WorkLine) -> Vec<String> {
    let WorkLine { head, status, path, .. } = work;
    let mut lines = vec![format!("Current work: {path}: {head}, {status}")];
    lines.extend(work.phase.iter().map(|phase| format!("Phase: {phase}")));
    let n_tasks = work.n_done + work.n_open;
    if n_tasks > 0 {
        let open = if work.open.is_empty() { "" } else { "; open:" };
        lines.push(format!("Tasks: {} of {n_tasks} done{open}", work.n_done));
        push_tasks(&mut lines, work);
    }
    if !work.criteria.is_empty() {
        lines.push("Success criteria:".to_string());
        lines.extend(work.criteria.iter().map(|criterion| format!("- {criterion}")));
    }
    for plan in &work.plans {
        let phase = plan.phase.as_ref().map_or(String::new(), |phase| format!(", {phase}"));
        let tasks_done = counted_of(plan.n_done, plan.n_done + plan.n_open, "task");
        lines.push(format!("Plan {}: {tasks_done} done{phase}", plan.path));
        push_tasks(&mut lines, plan);
    }
    lines
}

fn push_tasks(lines: &mut Vec<String>, work: &WorkLine) {
    lines.extend(work.open.iter().map(|task| format!("- [ ] {task}")));
    let n_more = work.n_open.saturating_sub(work.open.len() as u64);
    if n_more > 0 {
        lines.push(format!("({n_more} more)"));
    }
}
