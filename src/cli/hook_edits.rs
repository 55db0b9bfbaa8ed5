//! Edits that an agent makes: whether the branch allows them before, and the build after.

use std::path::Path;

use super::build::BuildArgs;
use super::hook_input::HookInput;
use super::{branch_guard, for_path, output, project};
use crate::lifecycle::Verdict;
use crate::model::TextFormat;
use crate::wire::header;

/// Tools that change the file that their input names.
const EDIT_TOOLS: [&str; 4] = ["Edit", "MultiEdit", "Write", "NotebookEdit"];

/// The tool of Codex that changes files; its input is a patch.
pub(super) const PATCH_TOOL: &str = "apply_patch";

/// Prints a refusal if the tool must not change its files on this branch. Returns true if it did. A
/// guard that cannot decide allows the edit.
pub(super) fn refuse_edit(directory: &Path, input: &HookInput) -> bool {
    let named = match input.tool_name.as_str() {
        PATCH_TOOL => patched_files(&input.tool_input),
        tool if EDIT_TOOLS.contains(&tool) => edited_file(&input.tool_input).into_iter().collect(),
        _ => return false,
    };
    let Ok(root) = project::find(directory).and_then(|folder| project::open(&folder)) else {
        return false;
    };
    let below = |path: &String| for_path::path_below_root(&root, directory, Path::new(path)).ok();
    let paths: Vec<String> = named.iter().filter_map(below).collect();
    for (path, verdict) in branch_guard::judge(&root, &paths) {
        let Verdict::Refused(reason) = verdict else { continue };
        if !branch_guard::note(&root, &path, &input.session_id) {
            output::copy(header::deny_json(&output::shown_lines(&reason)).as_bytes()).ok();
            return true;
        }
    }
    false
}

/// Returns the file that the input of a tool names.
fn edited_file(tool_input: &serde_json::Value) -> Option<String> {
    let mut keys = ["file_path", "notebook_path", "path"].iter();
    keys.find_map(|key| tool_input.get(*key)?.as_str()).map(str::to_string)
}

/// Returns the files that a patch changes.
fn patched_files(tool_input: &serde_json::Value) -> Vec<String> {
    let texts =
        ["input", "patch", "command"].iter().filter_map(|key| match tool_input.get(*key)? {
            serde_json::Value::Array(words) => words.iter().rev().find_map(|word| word.as_str()),
            value => value.as_str(),
        });
    let text = texts.chain(tool_input.as_str()).collect::<Vec<_>>().join("\n");
    let marks = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
    let file = |line: &str| {
        marks.iter().find_map(|mark| line.trim().strip_prefix(mark)).map(str::to_string)
    };
    text.lines().filter_map(file).collect()
}

/// Builds if a tool may have changed a document or another input of the build.
pub(super) fn rebuild(directory: &Path, input: &HookInput) -> anyhow::Result<()> {
    let path = edited_file(&input.tool_input);
    let is_input = path.is_none_or(|path| {
        TextFormat::of_path(&path).is_some() || path.to_lowercase().contains("/.blue/")
    });
    if is_input {
        let root = project::open_to_write(&project::find(directory)?)?;
        BuildArgs::default().build(&root)?;
    }
    Ok(())
}
