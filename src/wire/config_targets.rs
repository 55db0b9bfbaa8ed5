//! Adds names to `targets` in the text of `.blue/config.yaml`, and removes them again.

use super::config::Config;
use super::jsonc::SettingsError;
use super::register::UndoInfo;
use crate::model::BuildTarget;

/// The name of the list in a record.
const KEY: &str = "targets";

/// Returns the targets of a configuration; none if it is not valid.
pub fn names(text: &str) -> Vec<BuildTarget> {
    let bare = text.trim_start_matches('\u{feff}');
    let config: Option<Config> = serde_yaml::from_str(bare).unwrap_or_default();
    config.unwrap_or_default().plan().targets
}

/// Returns true if a configuration has one of the targets.
pub(super) fn has_any(text: &str, targets: &[BuildTarget]) -> bool {
    let listed = names(text);
    targets.iter().any(|target| listed.contains(target))
}

/// Returns the text with the targets. `undo` receives those that were added, and whether the list was.
pub(super) fn add(
    text: &str,
    targets: &[BuildTarget],
    undo: &mut UndoInfo,
) -> Result<String, SettingsError> {
    let listed = names(text);
    let missing: Vec<&str> = targets
        .iter()
        .filter(|target| !listed.contains(target))
        .map(|target| target.as_str())
        .collect();
    if missing.is_empty() {
        return Ok(text.to_string());
    }
    let (added, is_new) = match List::find(text) {
        Some(list) => (list.with(text, &missing), false),
        None => (with_list(text, &missing), true),
    };
    let wanted: Vec<BuildTarget> = BuildTarget::ALL
        .into_iter()
        .filter(|t| listed.contains(t) || targets.contains(t))
        .collect();
    if names(&added) != wanted {
        let message =
            format!("cannot add {} to `targets` here; add it by hand", missing.join(", "));
        return Err(SettingsError::at(text, 0, message));
    }
    undo.elements.extend(missing.iter().map(ToString::to_string));
    if is_new {
        undo.created.insert(KEY.to_string());
    }
    Ok(added)
}

/// Returns the text without the targets that [`add`] added.
pub(super) fn remove(text: &str, undo: &UndoInfo) -> String {
    let mut text = text.to_string();
    for name in &undo.elements {
        let Some(list) = List::find(&text) else { break };
        text = list.without(&text, name);
    }
    match List::find(&text) {
        Some(list) if undo.created.contains(KEY) && list.is_empty(&text) => {
            text.replace_range(list.lines, "");
            text
        }
        _ => text,
    }
}

/// Appends a list to a text.
fn with_list(text: &str, names: &[&str]) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    format!("{text}{gap}{KEY}: [{}]{newline}", names.join(", "))
}

/// The list in a text: either on one line in brackets, or one item to a line.
struct List {
    /// All its lines.
    lines: std::ops::Range<usize>,
    /// Offsets of the brackets of a list on one line.
    brackets: Option<(usize, usize)>,
}

impl List {
    /// Finds the list. Other ways to write it are not edited.
    fn find(text: &str) -> Option<List> {
        let mut at = 0;
        let mut found: Option<List> = None;
        for line in text.split_inclusive('\n') {
            let end = at + line.len();
            let bare = line.trim_start_matches('\u{feff}');
            if let Some(list) = &mut found {
                let is_item = line.trim_start().starts_with("- ");
                if list.brackets.is_some() || !is_item {
                    break;
                }
                list.lines.end = end;
            } else if let Some(rest) = bare.strip_prefix("targets:") {
                let start = end - rest.len();
                let open = rest.find('[').filter(|open| rest[..*open].trim().is_empty());
                let close = rest.find(']');
                let brackets = open.zip(close).map(|(open, close)| (start + open, start + close));
                found = Some(List { lines: at..end, brackets });
            }
            at = end;
        }
        found
    }

    fn with(&self, text: &str, names: &[&str]) -> String {
        let mut text = text.to_string();
        if let Some((open, close)) = self.brackets {
            let is_empty = text[open + 1..close].trim().is_empty();
            let inside = &text[open + 1..close];
            let at = open + 1 + inside.trim_end().len();
            let comma = if is_empty { "" } else { ", " };
            text.insert_str(at, &format!("{comma}{}", names.join(", ")));
            return text;
        }
        let last = text[self.lines.clone()].lines().last().unwrap_or_default();
        let indent = match last.starts_with("targets:") {
            true => "  ",
            false => &last[..last.len() - last.trim_start().len()],
        };
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let ended = text[..self.lines.end].ends_with('\n');
        let items: Vec<String> = names.iter().map(|name| format!("{indent}- {name}")).collect();
        let items = items.join(newline);
        let items = if ended { format!("{items}{newline}") } else { format!("{newline}{items}") };
        text.insert_str(self.lines.end, &items);
        text
    }

    fn without(&self, text: &str, name: &str) -> String {
        let mut text = text.to_string();
        if let Some((open, close)) = self.brackets {
            let inside = text[open + 1..close].to_string();
            let mut at = open + 1;
            for (i, item) in inside.split(',').enumerate() {
                let end = at + item.len();
                if item.trim() == name {
                    let space = item.len() - item.trim_start().len();
                    let tail = item.trim_end().len();
                    // The comma before the item goes with it; the first one takes the comma after it.
                    let range = match i {
                        0 if text[end..].starts_with(',') => {
                            let gap = text[end + 1..close].len()
                                - text[end + 1..close].trim_start().len();
                            at + space..end + 1 + gap
                        }
                        0 => at + space..at + tail,
                        _ => at - 1..at + tail,
                    };
                    text.replace_range(range, "");
                    return text;
                }
                at = end + 1;
            }
            return text;
        }
        let mut at = self.lines.start;
        let lines = text[self.lines.clone()].to_string();
        for line in lines.split_inclusive('\n') {
            if line.trim().strip_prefix("- ").is_some_and(|item| item.trim() == name) {
                // A last line without an end takes the line end before it.
                let is_unended = !line.ends_with('\n');
                let above = text[..at].trim_end_matches(['\r', '\n']).len();
                let start = if is_unended { above } else { at };
                text.replace_range(start..at + line.len(), "");
                return text;
            }
            at += line.len();
        }
        text
    }

    fn is_empty(&self, text: &str) -> bool {
        match self.brackets {
            Some((open, close)) => text[open + 1..close].trim().is_empty(),
            None => text[self.lines.clone()].trim_end().lines().count() == 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_and_removing_targets_restores_the_text() {
        for text in [
            "",
            "version: 1\n",
            "version: 1 # one\r\n",
            "targets: []\n",
            "targets: [ ]  # none\nversion: 1\n",
            "targets: [agents-md] # ours\n",
            "a: 1\ntargets: [ llms-txt, agents-md ]\n".trim_start_matches("a: 1\n"),
            "targets:\n  - agents-md # ours\n\nversion: 1\n",
            "targets:\n- agents-md\nversion: 1\n",
            "version: 1\ntargets:\n  - llms-txt",
        ] {
            for asked in [
                vec![BuildTarget::GeminiMd],
                vec![BuildTarget::GeminiMd, BuildTarget::AgentsMd, BuildTarget::Opencode],
            ] {
                let mut undo = UndoInfo::default();
                let added = add(text, &asked, &mut undo).unwrap();
                assert!(asked.iter().all(|target| names(&added).contains(target)), "{added}");
                assert_eq!(add(&added, &asked, &mut undo.clone()).unwrap(), added);
                assert_eq!(remove(&added, &undo), *text, "{added:?}");
                // A name that people add later stays.
                let mut later = UndoInfo::default();
                let more = add(&added, &[BuildTarget::CursorRules], &mut later).unwrap();
                assert!(names(&remove(&more, &undo)).contains(&BuildTarget::CursorRules), "{more}");
            }
        }
    }

    #[test]
    fn a_text_that_cannot_be_edited_is_refused() {
        for text in ["{version: 1}\n", "targets: &a\n  [agents-md]\n", "version: [\n"] {
            assert!(
                add(text, &[BuildTarget::GeminiMd], &mut UndoInfo::default()).is_err(),
                "{text}"
            );
        }
    }
}
