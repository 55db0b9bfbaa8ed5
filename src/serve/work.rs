//! The state of the current work in words, from the index of bundles.

use crate::model::escape::escape;
use crate::model::plural::counted_of;
use crate::wire::jsonl::{BundleLine, PlanLine, WorkLine};

/// The work of a bundle. `None` for the session bundle, and for an index that an older blue built.
pub fn of(bundle: &BundleLine) -> Option<WorkLine> {
    let mut work = bundle.work.clone()?;
    // The build neutralised them, but the index can have been edited since.
    let of_plans = work
        .plans
        .iter_mut()
        .flat_map(|plan| plan.phase.iter_mut().chain(&mut plan.open).chain([&mut plan.uri]));
    let texts = work.phase.iter_mut().chain(&mut work.open).chain(&mut work.criteria);
    let named = [&mut work.head, &mut work.status, &mut work.uri];
    for text in texts.chain(named).chain(of_plans) {
        *text = escape(text).replace('\n', " ");
    }
    Some(work)
}

/// Every open task that is listed, those of plans last.
pub fn open_tasks(work: &WorkLine) -> Vec<&str> {
    let plans = work.plans.iter().flat_map(|plan| &plan.open);
    work.open.iter().chain(plans).map(String::as_str).collect()
}

/// Phase, open tasks and success criteria, a line each.
pub fn lines(work: &WorkLine) -> Vec<String> {
    let WorkLine { head, status, uri, .. } = work;
    let mut lines = vec![format!("Current work: {head}, {status}. Read it whole at {uri}")];
    lines.extend(work.phase.iter().map(|phase| format!("Phase: {phase}")));
    let n_tasks = work.n_done + work.n_open;
    if n_tasks > 0 {
        let open = if work.open.is_empty() { "" } else { "; open:" };
        lines.push(format!("Tasks: {} of {n_tasks} done{open}", work.n_done));
        tasks(&mut lines, &work.open, work.n_open);
    }
    if !work.criteria.is_empty() {
        lines.push("Success criteria:".to_string());
        lines.extend(work.criteria.iter().map(|criterion| format!("- {criterion}")));
    }
    for PlanLine { uri, phase, n_done, n_open, open } in &work.plans {
        let phase = phase.as_ref().map_or(String::new(), |phase| format!(", {phase}"));
        let tasks_done = counted_of(*n_done, n_done + n_open, "task");
        lines.push(format!("Plan {uri}: {tasks_done} done{phase}"));
        tasks(&mut lines, open, *n_open);
    }
    lines
}

fn tasks(lines: &mut Vec<String>, open: &[String], n_open: u64) {
    lines.extend(open.iter().map(|task| format!("- [ ] {task}")));
    let n_more = n_open.saturating_sub(open.len() as u64);
    if n_more > 0 {
        lines.push(format!("({n_more} more)"));
    }
}
