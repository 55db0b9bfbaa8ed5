//! Files of `ai_context/` that may only grow: people create them, mandates add sections.

use super::container::{Container, ContainerFile};
use crate::model::layout::AI_CONTEXT;
use crate::model::{Digest, timestamp};
use crate::wire::responsibility_state::AppendOnlyLine;

/// Compares the files with `refresh: append_only` with the state. Returns the lines of the next
/// state, and path and message for each file that does not begin with its old bytes. The old line of
/// such a file stays, so that it is reported until the bytes are restored.
pub fn compare(container: &Container) -> (Vec<AppendOnlyLine>, Vec<(String, String)>) {
    let old = container.state.as_ref().map(|state| state.append_only.as_slice());
    let old = old.unwrap_or_default();
    let (mut lines, mut messages) = (Vec::new(), Vec::new());
    for line in old {
        let path = &line.append_only;
        match container.file(path) {
            Some(file) if begins_with(file, line) => lines.push(recorded(path, file)),
            file => {
                let n_bytes = line.bytes;
                let message = match file {
                    Some(_) => format!("it is append_only, and its first {n_bytes} bytes changed"),
                    None => "it is append_only and no longer there".to_string(),
                };
                messages.push((path.clone(), message));
                lines.push(line.clone());
            }
        }
    }
    for (path, file) in container.in_folder(AI_CONTEXT) {
        if file.is_append_only() && old.iter().all(|line| line.append_only != path) {
            lines.push(recorded(path, file));
        }
    }
    lines.sort_by(|a, b| a.append_only.cmp(&b.append_only));
    (lines, messages)
}

fn begins_with(file: &ContainerFile, line: &AppendOnlyLine) -> bool {
    let start = file.text.as_bytes().get(..line.bytes as usize);
    start.is_some_and(|start| Digest::of(start).to_string() == line.digest)
}

fn recorded(path: &str, file: &ContainerFile) -> AppendOnlyLine {
    AppendOnlyLine {
        append_only: path.to_string(),
        bytes: file.text.len() as u64,
        digest: Digest::of(file.text.as_bytes()).to_string(),
    }
}

/// Returns the section that a mandate adds to a file, unless the last section has the same text.
/// `text` is that of the file which blue would make, with its title and its own headings.
pub fn section(file: &ContainerFile, text: &str, now: i64) -> Option<String> {
    let text = match text.split_once('\n') {
        Some((title, rest)) if title.starts_with("# ") => rest,
        _ => text,
    };
    let text = format!("\n{}\n", text.trim()).replace("\n## ", "\n### ");
    let is_same = last_section(&file.body).is_some_and(|last| last.trim() == text.trim());
    (!is_same).then(|| format!("\n## {}\n{text}", timestamp::format(now)))
}

/// Returns the text below the last heading that is a time.
fn last_section(body: &str) -> Option<&str> {
    let mut last = None;
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        at += line.len();
        let time = line.strip_prefix("## ").map(str::trim);
        if time.is_some_and(|time| time.contains('-') && timestamp::parse(time).is_some()) {
            last = Some(&body[at..]);
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_added_only_if_its_text_is_new() {
        let text = "# Open requests of a\n\n## Late\n\n- One.\n";
        let file = ContainerFile::new("---\nrefresh: append_only\n---\n# Log\n");
        let section = section(&file, text, 0).expect("a first section");
        assert_eq!(section, "\n## 1970-01-01T00:00:00Z\n\n### Late\n\n- One.\n");
        let file = ContainerFile::new(&format!("{}{section}", file.text));
        assert_eq!(super::section(&file, text, 60), None);
        let other = super::section(&file, "# T\n\n- Two.\n", 60);
        assert_eq!(other.as_deref(), Some("\n## 1970-01-01T00:01:00Z\n\n- Two.\n"));
    }
}
