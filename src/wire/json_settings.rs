//! Adds blue to the text of an agent's settings in JSON, and removes it again.

use std::collections::BTreeSet;

use super::agent::{AgentHook, SERVER, is_impostor, role};
use super::json_entry::{INSTRUCTIONS, IncludedFiles, JsonEntry, ServerForm};
use super::jsonc::{Node, NodeKind, ParsedJson, SPACE, SettingsError, parse};
use super::jsonc_edit::{self, Layout, NewValue};
use super::register::{Impostor, UndoInfo};

/// A settings text during edits. It is parsed again after every edit, so that no span is outdated.
struct Editor {
    text: String,
    parsed: ParsedJson,
    layout: Layout,
    undo: UndoInfo,
}

impl Editor {
    fn new(text: &str) -> Result<Editor, SettingsError> {
        let parsed = parse(text)?;
        let text = match &parsed.root {
            Some(_) => text.to_string(),
            None if is_empty_object(text) => {
                let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
                format!("{mark}{{}}\n")
            }
            // Only comments.
            None => format!("{}\n{{}}\n", text.trim_end_matches(['\n', '\r'])),
        };
        let parsed = parse(&text)?;
        let root = parsed.root.as_ref().expect("the text has a value by now");
        if !matches!(root.kind, NodeKind::Object(_)) {
            return Err(SettingsError::at(
                &text,
                root.span.start,
                "expected an object here: { … }",
            ));
        }
        let layout = Layout::detect(&text, root);
        Ok(Editor { text, parsed, layout, undo: UndoInfo::default() })
    }

    fn set_text(&mut self, text: String) {
        self.parsed = parse(&text).expect("an edit keeps a text valid");
        self.text = text;
    }

    /// Returns the value at a name, such as `hooks/SessionStart`.
    fn get(&self, name: &str) -> Option<&Node> {
        let root = self.parsed.root.as_ref().expect("the text has a value");
        name.split('/').filter(|key| !key.is_empty()).try_fold(root, |node, key| node.get(key))
    }

    fn server(&self, form: ServerForm) -> Option<&Node> {
        self.get(form.container())?.get(SERVER)
    }

    /// Returns the files of blue's among the instructions, each with its index.
    fn own_instructions(&self) -> Vec<(usize, &'static str)> {
        let children = self.get("instructions").map_or(&[][..], Node::children);
        let own = |(i, child): (usize, &super::jsonc::Child)| {
            let is_it = |path: &&&str| child.node.kind == NodeKind::String(path.to_string());
            INSTRUCTIONS.iter().find(is_it).map(|path| (i, *path))
        };
        children.iter().enumerate().filter_map(own).collect()
    }

    /// Creates a container with the value `empty` unless there is one of that kind.
    fn ensure(&mut self, name: &str, empty: &NewValue) -> Result<(), SettingsError> {
        let Some(node) = self.get(name) else {
            let (parent, key) = name.rsplit_once('/').unwrap_or(("", name));
            self.append(parent, Some(key), empty);
            self.undo.created.insert(name.to_string());
            return Ok(());
        };
        let message = match (empty, &node.kind) {
            (NewValue::Array(_), NodeKind::Array(_))
            | (NewValue::Object(_), NodeKind::Object(_)) => return Ok(()),
            (NewValue::Array(_), _) => "expected an array here: [ … ]",
            _ => "expected an object here: { … }",
        };
        Err(SettingsError::at(&self.text, node.span.start, message))
    }

    fn append(&mut self, name: &str, key: Option<&str>, value: &NewValue) {
        let node = self.get(name).expect("the container was created before");
        let inserted = jsonc_edit::append(&self.text, &self.parsed, &self.layout, node, key, value);
        if let Some(space) = inserted.space_in_empty
            && !self.undo.created.contains(name)
        {
            self.undo.empty.entry(name.to_string()).or_insert(space);
        }
        self.set_text(inserted.text);
    }

    fn replace(&mut self, node: &Node, value: &NewValue) {
        self.set_text(jsonc_edit::replace(&self.text, &self.layout, node, value));
    }

    /// Removes a child of a container that has a name.
    fn remove(&mut self, name: &str, container: &Node, index: usize) {
        // The record may be forged, so nothing but white space is taken from it.
        let space = self.undo.empty.get(name).map(String::as_str);
        let space = space.filter(|space| space.trim_matches(SPACE).is_empty());
        self.set_text(jsonc_edit::remove(&self.text, &self.parsed, container, index, space));
    }

    /// Removes a container that blue created if nothing is in it, not even a comment.
    fn remove_if_empty(&mut self, name: &str) {
        let (parent, key) = name.rsplit_once('/').unwrap_or(("", name));
        let (Some(node), Some(above)) = (self.get(name), self.get(parent)) else { return };
        let inside = &self.text[node.span.start + 1..node.span.end - 1];
        let is_container = matches!(node.kind, NodeKind::Array(_) | NodeKind::Object(_));
        if !is_container || !inside.trim().is_empty() || !self.undo.created.contains(name) {
            return;
        }
        let index = above.index_of(key).expect("the member was just found");
        self.remove(parent, &above.clone(), index);
    }

    /// Returns blue's handlers in the order of the text.
    fn own_handlers(&self) -> Vec<OwnHandler> {
        let mut own = Vec::new();
        for event in self.get("hooks").map_or(&[][..], Node::children) {
            // Of several events of one name, an agent reads the last.
            let name = event.key.clone().unwrap_or_default();
            if self.get(&format!("hooks/{name}")) != Some(&event.node) || name.contains('/') {
                continue;
            }
            for (group, child) in event.node.children().iter().enumerate() {
                let handlers = child.node.get("hooks").map_or(&[][..], Node::children);
                for (handler, child) in handlers.iter().enumerate() {
                    let role = child.node.get_str("command").and_then(role);
                    own.extend(role.map(|role| OwnHandler {
                        event: name.clone(),
                        role,
                        group,
                        handler,
                        is_alone: handlers.len() == 1,
                    }));
                }
            }
        }
        own
    }

    /// Returns the array that contains a handler of blue's, with its name and the index in it. If the
    /// handler is alone in its group, the array is that of the groups.
    fn locate(&self, own: &OwnHandler) -> (String, Node, usize) {
        let event = format!("hooks/{}", own.event);
        let groups = self.get(&event).expect("the handler's event exists");
        if own.is_alone {
            return (event, groups.clone(), own.group);
        }
        let handlers = groups.children()[own.group].node.get("hooks");
        let handlers = handlers.expect("the handler's group exists").clone();
        // The array has other handlers too, so it never was empty and never becomes empty.
        (format!("{event}/-"), handlers, own.handler)
    }

    /// Updates or removes every handler of blue's. Returns the hooks that have no handler.
    fn update_handlers<'h>(&mut self, hooks: &'h [AgentHook]) -> Vec<&'h AgentHook> {
        loop {
            let mut missing: Vec<&AgentHook> = hooks.iter().collect();
            let before = self.text.clone();
            for own in self.own_handlers() {
                let (name, array, index) = self.locate(&own);
                let matching = missing.iter().position(|hook| {
                    hook.event == own.event && role(&hook.command).as_ref() == Some(&own.role)
                });
                let Some(matching) = matching else {
                    self.remove(&name, &array, index);
                    break;
                };
                let hook = missing.remove(matching);
                let value = if own.is_alone { hook.group() } else { hook.handler() };
                let node = &array.children()[index].node;
                if !value.equals(&self.text, node) {
                    self.replace(node, &value);
                    break;
                }
            }
            if self.text == before {
                return missing;
            }
        }
    }

    fn add_hooks(&mut self, hooks: &[AgentHook]) -> Result<(), SettingsError> {
        for hook in self.update_handlers(hooks) {
            let event = format!("hooks/{}", hook.event);
            self.ensure("hooks", &NewValue::Object(Vec::new()))?;
            self.ensure(&event, &NewValue::Array(Vec::new()))?;
            self.append(&event, None, &hook.group());
        }
        Ok(())
    }

    fn add_server(&mut self, form: ServerForm) -> Result<(), SettingsError> {
        self.ensure(form.container(), &NewValue::Object(Vec::new()))?;
        let Some(node) = self.server(form).cloned() else {
            self.append(form.container(), Some(SERVER), &form.value());
            return Ok(());
        };
        // An environment or a time limit that a user added to it stays.
        if form.is_own(&node) && !form.is_current(&self.text, &node) {
            self.replace(&node, &form.value());
        }
        Ok(())
    }

    fn add_instructions(&mut self, files: IncludedFiles) -> Result<(), SettingsError> {
        self.remove_instructions(files.paths());
        self.ensure("instructions", &NewValue::Array(Vec::new()))?;
        for path in files.paths() {
            if self.own_instructions().iter().all(|(_, own)| own != path) {
                self.append("instructions", None, &NewValue::string(path));
                self.undo.elements.insert((*path).to_string());
            }
        }
        Ok(())
    }

    /// Removes the files that blue added, except for some.
    fn remove_instructions(&mut self, kept: &[&str]) {
        let is_removed =
            |undo: &UndoInfo, path: &&str| undo.elements.contains(*path) && !kept.contains(path);
        while let Some((index, path)) =
            self.own_instructions().into_iter().rev().find(|(_, path)| is_removed(&self.undo, path))
        {
            let array = self.get("instructions").expect("the element is in it").clone();
            self.remove("instructions", &array, index);
            if !kept.is_empty() {
                self.undo.elements.remove(path);
            }
        }
        if kept.is_empty() {
            self.remove_if_empty("instructions");
        }
    }

    fn remove_hooks(&mut self) {
        let created = self.undo.created.iter().filter_map(|name| name.strip_prefix("hooks/"));
        let mut events: BTreeSet<String> = created.map(str::to_string).collect();
        while let Some(own) = self.own_handlers().into_iter().next() {
            let (name, array, index) = self.locate(&own);
            self.remove(&name, &array, index);
            events.insert(own.event);
        }
        for event in events {
            self.remove_if_empty(&format!("hooks/{event}"));
        }
        self.remove_if_empty("hooks");
    }

    fn remove_server(&mut self, form: ServerForm) {
        let name = form.container();
        let is_own = self.server(form).is_some_and(|node| form.is_own(node));
        if let Some(servers) = self.get(name).filter(|_| is_own).cloned() {
            let index = servers.index_of(SERVER).expect("the server is in it");
            self.remove(name, &servers, index);
        }
        self.remove_if_empty(name);
    }
}

/// A handler of blue's and its position.
struct OwnHandler {
    event: String,
    role: String,
    group: usize,
    handler: usize,
    /// True if its group has no other handler.
    is_alone: bool,
}

/// Returns true if a text contains any entry of blue's.
pub(super) fn is_registered(text: &str, entries: &[JsonEntry]) -> Result<bool, SettingsError> {
    let editor = Editor::new(text)?;
    Ok(entries.iter().any(|entry| match entry {
        JsonEntry::Hooks(_) => !editor.own_handlers().is_empty(),
        JsonEntry::Server(form) => editor.server(*form).is_some_and(|node| form.is_own(node)),
        JsonEntry::Instructions(_) => !editor.own_instructions().is_empty(),
    }))
}

/// Returns the purposes of blue's handlers.
pub(super) fn roles(text: &str) -> Vec<String> {
    let editor = Editor::new(text);
    let own = editor.map(|editor| editor.own_handlers()).unwrap_or_default();
    own.into_iter().map(|handler| handler.role).collect()
}

/// Finds hook commands that pretend to be blue's.
pub(super) fn impostors(text: &str) -> Result<Vec<Impostor>, SettingsError> {
    let editor = Editor::new(text)?;
    let events = editor.get("hooks").map_or(&[][..], Node::children).iter();
    let groups = events.flat_map(|event| event.node.children());
    let handlers = groups.filter_map(|group| group.node.get("hooks")).flat_map(Node::children);
    let commands = handlers.filter_map(|handler| handler.node.get_str("command"));
    let impostors = commands.filter(|command| is_impostor(command)).map(|command| Impostor {
        command: command.to_string(),
        is_replaced: role(command).is_some(),
    });
    Ok(impostors.collect())
}

/// Returns true if another server has blue's name.
pub(super) fn is_name_taken(text: &str, form: ServerForm) -> bool {
    Editor::new(text).is_ok_and(|editor| editor.server(form).is_some_and(|node| !form.is_own(node)))
}

/// Returns the text with the entries. `undo` is updated for [`remove`].
pub(super) fn add(
    text: &str,
    entries: &[JsonEntry],
    undo: &mut UndoInfo,
) -> Result<String, SettingsError> {
    let mut editor = Editor::new(text)?;
    editor.undo = undo.clone();
    for entry in entries {
        match entry {
            JsonEntry::Hooks(hooks) => editor.add_hooks(hooks)?,
            JsonEntry::Server(form) => editor.add_server(*form)?,
            JsonEntry::Instructions(files) => editor.add_instructions(*files)?,
        }
    }
    *undo = editor.undo;
    Ok(editor.text)
}

/// Returns the text without the entries: the inverse of [`add`].
pub(super) fn remove(
    text: &str,
    entries: &[JsonEntry],
    undo: &UndoInfo,
) -> Result<String, SettingsError> {
    if parse(text)?.root.is_none() {
        return Ok(text.to_string());
    }
    let mut editor = Editor::new(text)?;
    editor.undo = undo.clone();
    for entry in entries.iter().rev() {
        match entry {
            JsonEntry::Hooks(_) => editor.remove_hooks(),
            JsonEntry::Server(form) => editor.remove_server(*form),
            JsonEntry::Instructions(_) => editor.remove_instructions(&[]),
        }
    }
    Ok(editor.text)
}

/// Returns true if a text is empty or an empty object, apart from white space.
pub fn is_empty_object(text: &str) -> bool {
    let rest: String = text.trim_start_matches('\u{feff}').split_whitespace().collect();
    rest == "{}" || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::agent::{Agent, SessionBy, hooks};
    use super::*;

    /// White space and comments between two parts.
    fn trivia() -> impl Strategy<Value = String> {
        let pieces = prop_oneof![
            6 => Just(""),
            4 => Just(" "),
            3 => Just("\n"),
            3 => Just("\n    "),
            2 => Just("\r\n\t"),
            1 => Just("\r"),
            1 => Just(" /* a , b */ "),
            1 => Just(" // it's \"c\" }  \n"),
            1 => Just("//\r\n  "),
        ];
        prop::collection::vec(pieces, 0..3).prop_map(|pieces| pieces.concat())
    }

    fn container(
        open: &'static str,
        items: impl Strategy<Value = Vec<String>>,
        close: &'static str,
    ) -> impl Strategy<Value = String> {
        let spaces = prop::collection::vec(trivia(), 20);
        (items, spaces, any::<bool>()).prop_map(move |(items, spaces, trailing)| {
            let mut text = format!("{open}{}", spaces[0]);
            for (i, item) in items.iter().enumerate() {
                let comma = if i + 1 < items.len() || trailing { "," } else { "" };
                text.push_str(&format!("{item}{}{comma}{}", spaces[2 * i + 1], spaces[2 * i + 2]));
            }
            text + close
        })
    }

    fn value() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(vec![
            "1",
            "-2.5e3",
            "true",
            "null",
            "\"\"",
            "\"é😀 \\\" // no\"",
            "\"echo blue hook x\"",
            "{}",
            "[ ]",
        ]);
        leaf.prop_map(str::to_string).prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                container("[", prop::collection::vec(inner.clone(), 0..4), "]"),
                container("{", prop::collection::vec(member("k", inner), 0..4), "}"),
            ]
        })
    }

    fn member(
        key: &'static str,
        value: impl Strategy<Value = String>,
    ) -> impl Strategy<Value = String> {
        (trivia(), trivia(), value)
            .prop_map(move |(before, after, value)| format!("\"{key}\"{before}:{after}{value}"))
    }

    /// Settings in any layout, with or without the containers that blue needs.
    fn settings() -> impl Strategy<Value = String> {
        let array = || container("[", prop::collection::vec(value(), 0..3), "]");
        let events = (
            prop::option::of(member("SessionStart", array())),
            prop::option::of(member("PostToolUse", array())),
            prop::option::of(member("Stop", array())),
        );
        let events = events.prop_map(|(a, b, c)| [a, b, c].into_iter().flatten().collect());
        let servers = prop::collection::vec(member("other", value()), 0..2);
        let members = (
            prop::option::of(member("first", value())),
            prop::option::of(member("hooks", container("{", events, "}"))),
            prop::option::of(member("mcpServers", container("{", servers, "}"))),
            prop::option::of(member("instructions", array())),
            prop::option::of(member("last", value())),
        );
        let members =
            members.prop_map(|(a, b, c, d, e)| [a, b, c, d, e].into_iter().flatten().collect());
        (any::<bool>(), trivia(), container("{", members, "}"), trivia()).prop_map(
            |(mark, before, root, after)| {
                format!("{}{before}{root}{after}", if mark { "\u{feff}" } else { "" })
            },
        )
    }

    /// Entries of each kind of settings file.
    fn all() -> [Vec<JsonEntry>; 6] {
        let hooks = |agent| JsonEntry::Hooks(hooks(agent, SessionBy::Hook));
        [
            vec![hooks(Agent::Claude)],
            vec![hooks(Agent::ClaudeUser)],
            vec![hooks(Agent::Codex)],
            vec![JsonEntry::Server(ServerForm::McpServers)],
            vec![hooks(Agent::Gemini), JsonEntry::Server(ServerForm::McpServers)],
            vec![
                JsonEntry::Server(ServerForm::Opencode),
                JsonEntry::Instructions(IncludedFiles::SessionAndWork),
            ],
        ]
    }

    /// Value of a node, without layout.
    fn meaning(text: &str, node: &Node) -> String {
        let inner: Vec<String> = node
            .children()
            .iter()
            .map(|child| format!("{:?}={}", child.key, meaning(text, &child.node)))
            .collect();
        match &node.kind {
            NodeKind::Object(_) => format!("{{{}}}", inner.join(",")),
            NodeKind::Array(_) => format!("[{}]", inner.join(",")),
            _ => text[node.span.clone()].to_string(),
        }
    }

    fn meaning_of(text: &str) -> String {
        meaning(text, parse(text).unwrap().root.as_ref().unwrap())
    }

    /// Offsets between the parts of a value.
    fn boundaries(node: &Node) -> Vec<usize> {
        let mut places = vec![node.span.start, node.span.end];
        for child in node.children() {
            places.push(child.start);
            places.extend(child.comma.iter().flat_map(|comma| [*comma, comma + 1]));
            places.extend(boundaries(&child.node));
        }
        places
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn adding_and_removing_is_the_identity(text in settings()) {
            for registration in all() {
                let mut undo = UndoInfo::default();
                let added = add(&text, &registration, &mut undo).unwrap();
                prop_assert!(is_registered(&added, &registration).unwrap());
                let again = add(&added, &registration, &mut undo.clone()).unwrap();
                prop_assert_eq!(&again, &added, "adding twice changes nothing");
                prop_assert_eq!(&remove(&added, &registration, &undo).unwrap(), &text, "{}", added);
            }
        }

        #[test]
        fn entries_added_after_blue_survive_its_removal(text in settings()) {
            let registration = [JsonEntry::Hooks(hooks(Agent::Claude, SessionBy::Hook))];
            let mut undo = UndoInfo::default();
            let added = add(&text, &registration, &mut undo).unwrap();
            let mut editor = Editor::new(&added).unwrap();
            let handlers = NewValue::Array(vec![NewValue::string("theirs")]);
            let other = NewValue::Object(vec![("hooks", handlers)]);
            editor.append("hooks/SessionStart", None, &other);
            let removed = remove(&editor.text, &registration, &undo).unwrap();
            prop_assert!(!is_registered(&removed, &registration).unwrap());
            let mut expected = Editor::new(&text).unwrap();
            expected.ensure("hooks", &NewValue::Object(Vec::new())).unwrap();
            expected.ensure("hooks/SessionStart", &NewValue::Array(Vec::new())).unwrap();
            expected.append("hooks/SessionStart", None, &other);
            prop_assert_eq!(meaning_of(&removed), meaning_of(&expected.text));
        }

        #[test]
        fn comments_added_after_blue_survive_its_removal(
            text in settings(),
            comments in prop::collection::vec((any::<prop::sample::Index>(), trivia()), 1..8),
        ) {
            for registration in all() {
                let mut undo = UndoInfo::default();
                let mut edited = add(&text, &registration, &mut undo).unwrap();
                for (at, comment) in &comments {
                    let places = boundaries(parse(&edited).unwrap().root.as_ref().unwrap());
                    edited.insert_str(places[at.index(places.len())], comment);
                }
                let again = add(&edited, &registration, &mut undo.clone()).unwrap();
                prop_assert_eq!(&again, &edited);
                let removed = remove(&edited, &registration, &undo).unwrap();
                prop_assert!(!is_registered(&removed, &registration).unwrap());
                let member = |text: &str, key: &str| {
                    let root = parse(text).unwrap().root.unwrap();
                    root.get(key).map(|node| meaning(text, node))
                };
                for key in ["first", "last"] {
                    prop_assert_eq!(member(&removed, key), member(&text, key), "{}", removed);
                }
            }
        }

        #[test]
        fn removing_a_child_leaves_the_others(text in settings(), pick in any::<prop::sample::Index>()) {
            let read = parse(&text).unwrap();
            let root = read.root.as_ref().unwrap();
            if !root.children().is_empty() {
                let index = pick.index(root.children().len());
                let removed = jsonc_edit::remove(&text, &read, root, index, None);
                let mut expected = root.clone();
                if let NodeKind::Object(children) = &mut expected.kind { children.remove(index); }
                prop_assert_eq!(meaning_of(&removed), meaning(&text, &expected));
            }
        }
    }

    #[test]
    fn an_older_entry_is_updated_in_place() {
        let text = r#"{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "blue hook session-end", "timeout": 1}, {"type": "command", "command": "theirs"}]}], "Stop": [{"hooks": [{"type": "command", "command": "blue hook gone"}]}]}}"#;
        let registration = [JsonEntry::Hooks(hooks(Agent::Claude, SessionBy::Hook))];
        let added = add(text, &registration, &mut UndoInfo::default()).unwrap();
        assert!(added.starts_with(r#"{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "blue hook session-end || :", "timeout": 3}, {"type": "command", "command": "theirs"}]}], "Stop": [], "SessionStart": "#), "{added}");
    }

    #[test]
    fn another_server_with_blues_name_is_not_changed() {
        let text = r#"{"mcpServers": {"blue": {"command": "blueprint"}}}"#;
        let server = [JsonEntry::Server(ServerForm::McpServers)];
        assert!(is_name_taken(text, ServerForm::McpServers));
        assert_eq!(add(text, &server, &mut UndoInfo::default()).unwrap(), text);
        let undo = UndoInfo { created: server[0].containers(), ..UndoInfo::default() };
        assert_eq!(remove(text, &server, &undo).unwrap(), text);
    }

    #[test]
    fn a_value_in_place_of_a_container_is_refused_with_its_position() {
        let registration = [JsonEntry::Hooks(hooks(Agent::Claude, SessionBy::Hook))];
        for (text, column) in
            [("[]", 1), (r#"{"hooks": 1}"#, 11), (r#"{"hooks": {"SessionStart": {}}}"#, 28)]
        {
            let fault = add(text, &registration, &mut UndoInfo::default()).unwrap_err();
            assert_eq!((fault.line, fault.column), (1, column), "{fault}");
        }
    }
}
