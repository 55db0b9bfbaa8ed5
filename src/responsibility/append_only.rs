//! Files of `ai_context/` that people write and that may only grow.

use super::container::{Container, ContainerFile};
use crate::model::Digest;
use crate::model::layout::AI_CONTEXT;
use crate::wire::responsibility_state::AppendOnlyLine;

/// Compares the files with `refresh: append_only` with the state. Returns the lines of the next
/// state, and a message for each file that does not begin with its old bytes. The old line of such
/// a file stays, so that it is reported until the bytes are restored.
pub fn compare(container: &Container) -> (Vec<AppendOnlyLine>, Vec<String>) {
    let old = container.state.as_ref().map(|state| state.append_only.as_slice());
    let old = old.unwrap_or_default();
    let (mut lines, mut messages) = (Vec::new(), Vec::new());
    for line in old {
        let path = &line.append_only;
        match container.file(path) {
            Some(file) if begins_with(file, line) => lines.push(recorded(path, file)),
            file => {
                let n_bytes = line.bytes;
                messages.push(match file {
                    Some(_) => format!(
                        "{path} is append_only, and its first {n_bytes} bytes changed; restore them and add a section `## <time>` instead"
                    ),
                    None => format!("{path} is append_only and no longer there; restore it"),
                });
                lines.push(line.clone());
            }
        }
    }
    for (path, file) in container.in_folder(AI_CONTEXT) {
        let is_marked = file.field("refresh").as_deref() == Some("append_only");
        if is_marked && old.iter().all(|line| line.append_only != path) {
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
