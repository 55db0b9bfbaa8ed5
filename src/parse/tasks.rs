//! Reads the phase, the tasks and the success criteria of a document.

use std::ops::Range;

use super::Page;
use super::excerpts::heading_position;
use super::markdown::Paragraph;
use super::plain_text::{clip, plain};
use crate::model::Work;

/// Headings of sections with success criteria, best first.
const CRITERIA: &[&str] = &[
    "success criteria",
    "acceptance criteria",
    "definition of done",
    "exit criteria",
    "test plan",
    "verification",
];

/// Maximum length of a task or criterion in bytes.
const MAX_ITEM: usize = 240;

/// Maximum number of tasks, and of criteria, that are returned.
const MAX_ITEMS: usize = 200;

/// A checkbox in a list.
struct Task {
    offset: usize,
    done: bool,
    text: String,
}

/// Reads the work that a document describes.
pub(super) fn work(page: &Page<'_>, brief: String) -> Work {
    let criteria = criteria_section(page);
    let tasks = tasks(page);
    let is_criterion =
        |task: &&Task| criteria.as_ref().is_some_and(|range| range.contains(&task.offset));
    let tasks: Vec<&Task> = tasks.iter().filter(|task| !is_criterion(task)).collect();
    let open = tasks.iter().filter(|task| !task.done);
    Work {
        brief,
        phase: stated_phase(page).or_else(|| open_phase(page, &tasks)),
        open: open.clone().map(|task| task.text.clone()).take(MAX_ITEMS).collect(),
        n_open: open.count(),
        n_done: tasks.iter().filter(|task| task.done).count(),
        criteria: criteria.map_or(Vec::new(), |range| items(page, &range)),
    }
}

/// Returns the range of the best section of criteria that lists any.
fn criteria_section(page: &Page<'_>) -> Option<Range<usize>> {
    let headings = page.body.headings.iter().enumerate();
    let mut ranked: Vec<(usize, usize)> = headings
        .filter_map(|(index, heading)| Some((heading_position(CRITERIA, heading)?, index)))
        .collect();
    ranked.sort_unstable();
    let mut ranges = ranked.into_iter().map(|(_, index)| page.body.section(index));
    ranges.find(|range| !items(page, range).is_empty())
}

/// Returns the list items in a range, without checked checkboxes.
fn items(page: &Page<'_>, range: &Range<usize>) -> Vec<String> {
    let items = page.body.paragraphs_in(range).iter().filter_map(|item| item_text(page, item));
    let open = items.filter(|text| !is_done(text));
    let texts = open.map(|text| clipped_plain(text.strip_prefix("[ ]").unwrap_or(text)));
    texts.filter(|text| !text.is_empty()).take(MAX_ITEMS).collect()
}

/// Returns the first line of a list item without its bullet.
fn item_text<'a>(page: &Page<'a>, item: &Paragraph) -> Option<&'a str> {
    let line = page.text[item.range.clone()].lines().next()?.trim_start();
    let bare = line.strip_prefix(['-', '*', '+']).or_else(|| {
        let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
        (digits.len() < line.len()).then(|| digits.strip_prefix(['.', ')'])).flatten()
    })?;
    item.in_list.then(|| bare.trim())
}

fn is_done(text: &str) -> bool {
    text.starts_with("[x]") || text.starts_with("[X]")
}

fn clipped_plain(markdown: &str) -> String {
    clip(&plain(markdown.trim()), MAX_ITEM)
}

fn tasks(page: &Page<'_>) -> Vec<Task> {
    let items = page.body.paragraphs.iter();
    let tasks = items.filter_map(|item| {
        let text = item_text(page, item)?;
        let done = is_done(text);
        let rest = if done { text.get(3..)? } else { text.strip_prefix("[ ]")? };
        Some(Task { offset: item.range.start, done, text: clipped_plain(rest) })
    });
    tasks.filter(|task| !task.text.is_empty()).collect()
}

/// Returns the phase that a header field states.
fn stated_phase(page: &Page<'_>) -> Option<String> {
    let keys = ["phase", "current phase"];
    let field = page.fields.iter().find(|field| keys.contains(&field.key.as_str()))?;
    Some(clipped_plain(field.items.first()?)).filter(|phase| !phase.is_empty())
}

/// Returns the first phase with an open task, from headings such as `### Phase 2: Cleanup`.
fn open_phase(page: &Page<'_>, tasks: &[&Task]) -> Option<String> {
    let phases = page.body.headings.iter().enumerate().filter(|(_, heading)| {
        let title = heading.title.trim_start_matches(['*', ' ']);
        let mut words = title.splitn(2, ' ');
        let first = words.next().unwrap_or_default();
        first.eq_ignore_ascii_case("phase") && words.next().is_some()
    });
    let mut open = phases.filter(|(index, _)| {
        let range = page.body.section(*index);
        tasks.iter().any(|task| !task.done && range.contains(&task.offset))
    });
    open.next().map(|(_, heading)| clip(&plain(&heading.title), MAX_ITEM))
}

#[cfg(test)]
mod tests {
    use crate::model::Source;
    use crate::model::plan::Limits;
    use crate::parse::work;

    #[test]
    fn open_tasks_their_phase_and_the_criteria_are_read() {
        let text = "# RFC 1: X\n\n## Summary\n\nIt does a thing for everybody here.\n\n\
            ## Plan\n\n### Phase 1: Start\n\n- [x] one\n\n### Phase 2: Go on\n\n\
            1. [x] two\n2. [ ] three **bold**\n   - [ ] below it\n\n\
            ## Success Criteria\n\n- [ ] it is fast\n- it is small\n- [x] it exists\n";
        let source = Source::markdown(text);
        let work = work(&source, &Limits::default(), &crate::guard::Allowed::default());
        assert_eq!(work.brief, "It does a thing for everybody here.");
        assert_eq!(work.phase.as_deref(), Some("Phase 2: Go on"));
        assert_eq!(work.open, ["three bold", "below it"]);
        assert_eq!(work.n_done, 2);
        assert_eq!(work.criteria, ["it is fast", "it is small"]);
    }
}
