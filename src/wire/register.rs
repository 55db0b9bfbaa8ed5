//! Registers blue in the text of an agent's settings, and takes it out again.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::agent::{Hook, SERVER, poses, role, server};
use super::attributes;
use super::span::{Fault, Node, Scan, Shape, scan};
use super::splice::{self, Style, Value};

/// What shall stand in a file.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// Handlers of events, under `hooks`.
    Hooks(Vec<Hook>),
    /// blue's server, under `mcpServers`.
    Server,
    /// blue's lines of `.gitattributes`.
    Attributes,
}

/// What a text had before blue came, as far as the text cannot tell afterwards. Containers are
/// named by their keys with `/` between; the empty name is the whole.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Traces {
    /// Containers that were not there.
    pub created: BTreeSet<String>,
    /// Containers that were there and empty, with the white space at their end.
    pub empty: BTreeMap<String, String>,
}

impl Traces {
    /// For a text that blue came into without a record: what holds only blue's was made by it.
    pub fn unknown(wanted: &Wanted) -> Traces {
        let created = match wanted {
            Wanted::Server => BTreeSet::from(["mcpServers".to_string()]),
            Wanted::Attributes => BTreeSet::new(),
            Wanted::Hooks(hooks) => {
                let events = hooks.iter().map(|hook| format!("hooks/{}", hook.event));
                events.chain(["hooks".to_string()]).collect()
            }
        };
        Traces { created, empty: BTreeMap::new() }
    }
}

/// A settings text being edited; every step reads it again, so that no place is out of date.
struct Draft<'a> {
    text: String,
    scan: Scan,
    style: Style,
    traces: &'a mut Traces,
}

impl<'a> Draft<'a> {
    fn new(text: &str, traces: &'a mut Traces) -> Result<Draft<'a>, Fault> {
        let scan = scan(text)?;
        let text = match &scan.root {
            Some(_) => text.to_string(),
            // A file of nothing, or of comments only.
            None if text.trim_matches(['\u{feff}', ' ', '\t', '\n', '\r']).is_empty() => {
                let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
                format!("{mark}{{}}\n")
            }
            None => format!("{}\n{{}}\n", text.trim_end_matches(['\n', '\r'])),
        };
        let scan = super::span::scan(&text)?;
        let root = scan.root.as_ref().expect("the text has a value by now");
        if !matches!(root.shape, Shape::Object(_)) {
            return Err(Fault::at(&text, root.span.start, "expected an object here: { … }"));
        }
        let style = Style::of(&text, root);
        Ok(Draft { text, scan, style, traces })
    }

    fn root(&self) -> &Node {
        self.scan.root.as_ref().expect("a draft has a value")
    }

    fn set(&mut self, text: String) {
        self.scan = scan(&text).expect("a splice keeps a text valid");
        self.text = text;
    }

    /// The container of a name, if it is there.
    fn at(&self, name: &str) -> Option<&Node> {
        let keys = name.split('/').filter(|key| !key.is_empty());
        keys.into_iter().try_fold(self.root(), |node, key| Some(&node.member(key)?.node))
    }

    /// Makes sure that a container is there and of the kind of `empty`.
    fn ensure(&mut self, name: &str, empty: &Value) -> Result<(), Fault> {
        if let Some(node) = self.at(name) {
            let expected = match (empty, &node.shape) {
                (Value::List(_), Shape::Array(_)) | (Value::Object(_), Shape::Object(_)) => {
                    return Ok(());
                }
                (Value::List(_), _) => "an array here: [ … ]",
                _ => "an object here: { … }",
            };
            return Err(Fault::at(&self.text, node.span.start, format!("expected {expected}")));
        }
        let (parent, key) = name.rsplit_once('/').unwrap_or(("", name));
        self.push(parent, Some(key), empty);
        self.traces.created.insert(name.to_string());
        Ok(())
    }

    fn push(&mut self, name: &str, key: Option<&str>, value: &Value) {
        let container = self.at(name).expect("the container was made sure of");
        let inserted = splice::insert(&self.text, &self.scan, &self.style, container, key, value);
        if let Some(end) = inserted.was_empty
            && !self.traces.created.contains(name)
        {
            self.traces.empty.entry(name.to_string()).or_insert(end);
        }
        self.set(inserted.text);
    }

    fn replace(&mut self, node: &Node, value: &Value) {
        self.set(splice::replace(&self.text, &self.style, node, value));
    }

    fn take(&mut self, name: &str, container: &Node, index: usize) {
        // A record can come with a cloned repository; it gives back white space and nothing else.
        let end = self.traces.empty.get(name).map(String::as_str);
        let end = end.filter(|end| end.trim_matches([' ', '\t', '\n', '\r']).is_empty());
        self.set(splice::remove(&self.text, &self.scan, container, index, end));
    }

    /// Takes out a container that blue made, if nothing is in it, not even a comment.
    fn drop_empty(&mut self, name: &str) {
        let (parent, key) = name.rsplit_once('/').unwrap_or(("", name));
        let (Some(node), Some(above)) = (self.at(name), self.at(parent)) else { return };
        let inside = &self.text[node.span.start + 1..node.span.end - 1];
        let containers = matches!(node.shape, Shape::Array(_) | Shape::Object(_));
        if !containers || !inside.trim().is_empty() || !self.traces.created.contains(name) {
            return;
        }
        let index = above.items().iter().rposition(|item| item.key.as_deref() == Some(key));
        let above = above.clone();
        self.take(parent, &above, index.expect("the member was just found"));
    }

    /// blue's handlers in the order of the text.
    fn own(&self) -> Vec<Own> {
        let mut own = Vec::new();
        for event in self.at("hooks").map_or(&[][..], Node::items) {
            // Of several events of one name, an agent reads the last.
            let name = event.key.clone().unwrap_or_default();
            if self.at(&format!("hooks/{name}")) != Some(&event.node) || name.contains('/') {
                continue;
            }
            for (group, item) in event.node.items().iter().enumerate() {
                let handlers = item.node.member("hooks").map_or(&[][..], |item| item.node.items());
                for (handler, item) in handlers.iter().enumerate() {
                    let role = item.node.text("command").and_then(role);
                    own.extend(role.map(|role| Own {
                        event: name.clone(),
                        role,
                        group,
                        handler,
                        alone: handlers.len() == 1,
                    }));
                }
            }
        }
        own
    }

    /// The array an own handler, or the group it is alone in, is taken from, and its index there.
    fn place(&self, own: &Own) -> (String, Node, usize) {
        let event = format!("hooks/{}", own.event);
        let groups = self.at(&event).expect("an own handler has an event").clone();
        if own.alone {
            return (event, groups, own.group);
        }
        let handlers = groups.items()[own.group].node.member("hooks");
        let handlers = handlers.expect("an own handler has a group").node.clone();
        // Other people's handlers are in it too, so it never was nor becomes empty.
        (format!("{event}/-"), handlers, own.handler)
    }
}

/// A handler of blue's and where it is.
struct Own {
    event: String,
    role: String,
    group: usize,
    handler: usize,
    /// Whether nobody else's handler is in its group.
    alone: bool,
}

/// Whether anything of blue's stands in a text.
pub fn is_in(text: &str, wanted: &Wanted) -> Result<bool, Fault> {
    let mut traces = Traces::default();
    Ok(match wanted {
        Wanted::Attributes => attributes::is_in(text),
        Wanted::Hooks(_) => !Draft::new(text, &mut traces)?.own().is_empty(),
        Wanted::Server => {
            let draft = Draft::new(text, &mut traces)?;
            own_server(&draft).is_some_and(|node| node.text("command") == Some("blue"))
        }
    })
}

/// Commands of hooks that name blue's and are not blue's, and whether [`add`] replaces each.
pub fn posing(text: &str) -> Result<Vec<(String, bool)>, Fault> {
    let mut traces = Traces::default();
    let draft = Draft::new(text, &mut traces)?;
    let groups = draft.at("hooks").map_or(&[][..], Node::items).iter();
    let groups = groups.flat_map(|event| event.node.items());
    let handlers = groups.filter_map(|group| group.node.member("hooks"));
    let commands = handlers.flat_map(|item| item.node.items());
    let commands = commands.filter_map(|item| item.node.text("command"));
    let posing = commands.filter(|command| poses(command));
    Ok(posing.map(|command| (command.to_string(), role(command).is_some())).collect())
}

/// Whether somebody else's server has blue's name.
pub fn is_taken(text: &str) -> bool {
    let mut traces = Traces::default();
    Draft::new(text, &mut traces).is_ok_and(|draft| {
        own_server(&draft).is_some_and(|node| node.text("command") != Some("blue"))
    })
}

fn own_server<'a>(draft: &'a Draft<'_>) -> Option<&'a Node> {
    draft.at(&format!("mcpServers/{SERVER}"))
}

/// The text with all that is wanted in it. What blue wrote earlier is brought up to date in its
/// place; what is missing comes at the end of its array or object; all else stays as it is.
pub fn add(text: &str, wanted: &Wanted, traces: &mut Traces) -> Result<String, Fault> {
    if matches!(wanted, Wanted::Attributes) {
        return Ok(attributes::add(text));
    }
    let mut draft = Draft::new(text, traces)?;
    match wanted {
        Wanted::Attributes => {}
        Wanted::Hooks(hooks) => {
            let missing = settle(&mut draft, hooks);
            for hook in missing {
                let event = format!("hooks/{}", hook.event);
                draft.ensure("hooks", &Value::Object(Vec::new()))?;
                draft.ensure(&event, &Value::List(Vec::new()))?;
                draft.push(&event, None, &hook.group());
            }
        }
        Wanted::Server => {
            draft.ensure("mcpServers", &Value::Object(Vec::new()))?;
            let server = server();
            let Some(node) = own_server(&draft).cloned() else {
                draft.push("mcpServers", Some(SERVER), &server);
                return Ok(draft.text);
            };
            let arguments = Value::List(vec![Value::text("mcp")]);
            let current =
                node.member("args").is_some_and(|item| arguments.is(&draft.text, &item.node));
            // An environment or a time limit that somebody added to it stays.
            if node.text("command") == Some("blue") && !current {
                draft.replace(&node, &server);
            }
        }
    }
    Ok(draft.text)
}

/// Brings every handler of blue's up to date or, if it is wanted no more, out. Gives the hooks
/// that no handler stands for.
fn settle<'h>(draft: &mut Draft<'_>, hooks: &'h [Hook]) -> Vec<&'h Hook> {
    loop {
        let mut missing: Vec<&Hook> = hooks.iter().collect();
        let before = draft.text.clone();
        for own in draft.own() {
            let (name, array, index) = draft.place(&own);
            let claimed = missing.iter().position(|hook| {
                hook.event == own.event && role(&hook.command).as_ref() == Some(&own.role)
            });
            let Some(claimed) = claimed else {
                draft.take(&name, &array, index);
                break;
            };
            let hook = missing.remove(claimed);
            let value = if own.alone { hook.group() } else { hook.handler() };
            let node = &array.items()[index].node;
            if !value.is(&draft.text, node) {
                draft.replace(node, &value);
                break;
            }
        }
        if draft.text == before {
            return missing;
        }
    }
}

/// The text without blue: the inverse of [`add`], given its traces.
pub fn remove(text: &str, wanted: &Wanted, traces: &Traces) -> Result<String, Fault> {
    if matches!(wanted, Wanted::Attributes) {
        return Ok(attributes::remove(text));
    }
    if scan(text)?.root.is_none() {
        return Ok(text.to_string());
    }
    let mut traces = traces.clone();
    let mut draft = Draft::new(text, &mut traces)?;
    if matches!(wanted, Wanted::Server) {
        let servers = draft.at("mcpServers").cloned();
        if is_in(text, wanted)?
            && let Some(servers) = servers
        {
            let index =
                servers.items().iter().rposition(|item| item.key.as_deref() == Some(SERVER));
            draft.take("mcpServers", &servers, index.expect("the server is in it"));
        }
        draft.drop_empty("mcpServers");
        return Ok(draft.text);
    }
    let mut events = BTreeSet::new();
    while let Some(own) = draft.own().into_iter().next() {
        let (name, array, index) = draft.place(&own);
        draft.take(&name, &array, index);
        events.insert(own.event);
    }
    let made = draft.traces.created.iter().filter_map(|name| name.strip_prefix("hooks/"));
    events.extend(made.map(str::to_string).collect::<Vec<_>>());
    for event in events {
        draft.drop_empty(&format!("hooks/{event}"));
    }
    draft.drop_empty("hooks");
    Ok(draft.text)
}

/// Whether a text is an empty object with nothing else in or around it.
pub fn is_bare(text: &str) -> bool {
    let bare: String = text.trim_start_matches('\u{feff}').split_whitespace().collect();
    bare == "{}" || bare.is_empty()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::agent::{Agent, hooks};
    use super::*;

    /// White space and comments, as they may stand between any two parts.
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

    /// A settings file of other people: any layout, blue's containers there or not.
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
            prop::option::of(member("last", value())),
        );
        let members = members.prop_map(|(a, b, c, d)| [a, b, c, d].into_iter().flatten().collect());
        (any::<bool>(), trivia(), container("{", members, "}"), trivia()).prop_map(
            |(mark, before, root, after)| {
                format!("{}{before}{root}{after}", if mark { "\u{feff}" } else { "" })
            },
        )
    }

    fn all() -> [Wanted; 4] {
        [
            Wanted::Hooks(hooks(Agent::Claude)),
            Wanted::Hooks(hooks(Agent::ClaudeUser)),
            Wanted::Hooks(hooks(Agent::Codex)),
            Wanted::Server,
        ]
    }

    /// The meaning of a text, without layout.
    fn meaning(text: &str, node: &Node) -> String {
        let inner: Vec<String> = node
            .items()
            .iter()
            .map(|item| format!("{:?}={}", item.key, meaning(text, &item.node)))
            .collect();
        match &node.shape {
            Shape::Object(_) => format!("{{{}}}", inner.join(",")),
            Shape::Array(_) => format!("[{}]", inner.join(",")),
            _ => text[node.span.clone()].to_string(),
        }
    }

    fn meaning_of(text: &str) -> String {
        meaning(text, scan(text).unwrap().root.as_ref().unwrap())
    }

    /// Every place between two parts of a value.
    fn boundaries(node: &Node) -> Vec<usize> {
        let mut places = vec![node.span.start, node.span.end];
        for item in node.items() {
            places.push(item.start);
            places.extend(item.comma.iter().flat_map(|comma| [*comma, comma + 1]));
            places.extend(boundaries(&item.node));
        }
        places
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn adding_and_removing_is_the_identity(text in settings()) {
            for wanted in all() {
                let mut traces = Traces::default();
                let added = add(&text, &wanted, &mut traces).unwrap();
                prop_assert!(is_in(&added, &wanted).unwrap());
                let again = add(&added, &wanted, &mut traces.clone()).unwrap();
                prop_assert_eq!(&again, &added, "a second time changes nothing");
                prop_assert_eq!(&remove(&added, &wanted, &traces).unwrap(), &text, "{}", added);
            }
        }

        #[test]
        fn what_others_add_in_between_stays(text in settings()) {
            let wanted = Wanted::Hooks(hooks(Agent::Claude));
            let mut traces = Traces::default();
            let added = add(&text, &wanted, &mut traces).unwrap();
            let mut none = Traces::default();
            let mut draft = Draft::new(&added, &mut none).unwrap();
            let other = Value::object([("hooks", Value::List(vec![Value::text("theirs")]))]);
            draft.push("hooks/SessionStart", None, &other);
            let removed = remove(&draft.text, &wanted, &traces).unwrap();
            prop_assert!(!is_in(&removed, &wanted).unwrap());
            let mut expected = Traces::default();
            let mut alone = Draft::new(&text, &mut expected).unwrap();
            alone.ensure("hooks", &Value::Object(Vec::new())).unwrap();
            alone.ensure("hooks/SessionStart", &Value::List(Vec::new())).unwrap();
            alone.push("hooks/SessionStart", None, &other);
            prop_assert_eq!(meaning_of(&removed), meaning_of(&alone.text));
        }

        #[test]
        fn comments_that_come_in_between_break_nothing(
            text in settings(),
            comments in prop::collection::vec((any::<prop::sample::Index>(), trivia()), 1..8),
        ) {
            for wanted in all() {
                let mut traces = Traces::default();
                let mut edited = add(&text, &wanted, &mut traces).unwrap();
                for (at, comment) in &comments {
                    let places = boundaries(scan(&edited).unwrap().root.as_ref().unwrap());
                    edited.insert_str(places[at.index(places.len())], comment);
                }
                let again = add(&edited, &wanted, &mut traces.clone()).unwrap();
                prop_assert_eq!(&again, &edited);
                let left = remove(&edited, &wanted, &traces).unwrap();
                prop_assert!(!is_in(&left, &wanted).unwrap());
                let member = |text: &str, key: &str| {
                    let root = scan(text).unwrap().root.unwrap();
                    root.member(key).map(|item| meaning(text, &item.node))
                };
                for key in ["first", "last"] {
                    prop_assert_eq!(member(&left, key), member(&text, key), "{}", left);
                }
            }
        }

        #[test]
        fn taking_any_item_out_leaves_the_others(text in settings(), pick in any::<prop::sample::Index>()) {
            let read = scan(&text).unwrap();
            let root = read.root.as_ref().unwrap();
            if !root.items().is_empty() {
                let index = pick.index(root.items().len());
                let left = splice::remove(&text, &read, root, index, None);
                let mut kept = root.clone();
                if let Shape::Object(items) = &mut kept.shape { items.remove(index); }
                prop_assert_eq!(meaning_of(&left), meaning(&text, &kept));
            }
        }
    }

    #[test]
    fn an_older_entry_is_brought_up_to_date_in_its_place() {
        let text = r#"{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "blue hook session-end", "timeout": 1}, {"type": "command", "command": "theirs"}]}], "Stop": [{"hooks": [{"type": "command", "command": "blue hook gone"}]}]}}"#;
        let wanted = Wanted::Hooks(hooks(Agent::Claude));
        let added = add(text, &wanted, &mut Traces::default()).unwrap();
        assert!(added.starts_with(r#"{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "blue hook session-end || :", "timeout": 3}, {"type": "command", "command": "theirs"}]}], "Stop": [], "SessionStart": "#), "{added}");
    }

    #[test]
    fn a_server_of_that_name_that_is_not_blue_is_left_alone() {
        let text = r#"{"mcpServers": {"blue": {"command": "blueprint"}}}"#;
        assert!(is_taken(text));
        assert_eq!(add(text, &Wanted::Server, &mut Traces::default()).unwrap(), text);
        assert_eq!(remove(text, &Wanted::Server, &Traces::unknown(&Wanted::Server)).unwrap(), text);
    }

    #[test]
    fn what_is_no_container_is_told_with_its_place() {
        let wanted = Wanted::Hooks(hooks(Agent::Claude));
        for (text, column) in
            [("[]", 1), (r#"{"hooks": 1}"#, 11), (r#"{"hooks": {"SessionStart": {}}}"#, 28)]
        {
            let fault = add(text, &wanted, &mut Traces::default()).unwrap_err();
            assert_eq!((fault.line, fault.column), (1, column), "{fault}");
        }
    }
}
