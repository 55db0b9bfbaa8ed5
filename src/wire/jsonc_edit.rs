//! Inserts, removes or replaces one value in a JSON text without changing any other byte.

use super::jsonc::{Node, NodeKind, ParsedJson, SPACE};

const BREAK: [char; 2] = ['\n', '\r'];

/// A value to write. Unlike in `serde_json::Value`, members keep their order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NewValue {
    /// A string.
    String(String),
    /// A whole number.
    Number(u64),
    /// True or false.
    Bool(bool),
    /// An array.
    Array(Vec<NewValue>),
    /// An object.
    Object(Vec<(&'static str, NewValue)>),
}

impl NewValue {
    /// Creates a string.
    pub fn string(text: &str) -> NewValue {
        NewValue::String(text.to_string())
    }

    /// Returns true if a node has this value, in any layout.
    pub fn equals(&self, text: &str, node: &Node) -> bool {
        match (self, &node.kind) {
            (NewValue::String(new), NodeKind::String(found)) => new == found,
            (NewValue::Number(new), NodeKind::Scalar) => text[node.span.clone()] == new.to_string(),
            (NewValue::Bool(new), NodeKind::Scalar) => text[node.span.clone()] == new.to_string(),
            (NewValue::Array(new), NodeKind::Array(found)) => {
                new.len() == found.len()
                    && new.iter().zip(found).all(|(value, child)| value.equals(text, &child.node))
            }
            (NewValue::Object(new), NodeKind::Object(found)) => {
                new.len() == found.len()
                    && new.iter().all(|(key, value)| {
                        node.get(key).is_some_and(|found| value.equals(text, found))
                    })
            }
            _ => false,
        }
    }
}

/// Layout of a file: how new values are written so that they look like the rest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Layout {
    /// Line ending; empty if the whole file is one line.
    newline: String,
    /// One step of indentation.
    unit: String,
    /// White space after a colon, and after a comma on the same line.
    gap: String,
}

impl Layout {
    /// Detects the layout of a text. Defaults to the one that agents write.
    pub fn detect(text: &str, root: &Node) -> Layout {
        let inside = &text[root.span.clone()];
        let newline = match text.find(BREAK) {
            Some(at) if text[at..].starts_with("\r\n") => "\r\n",
            Some(at) if text[at..].starts_with('\r') => "\r",
            _ => "\n",
        };
        let first = root.children().first();
        let one_line = first.is_some() && !inside.contains(BREAK);
        let unit = match first.map(|child| line_indent(text, child.start)) {
            Some(indent) if !indent.is_empty() && !one_line => indent,
            _ => "  ",
        };
        let tight =
            first.is_some_and(|child| text[child.start..child.node.span.start].ends_with(':'));
        Layout {
            newline: if one_line { String::new() } else { newline.to_string() },
            unit: unit.to_string(),
            gap: if tight { String::new() } else { " ".to_string() },
        }
    }

    fn on_one_line(&self) -> Layout {
        Layout { newline: String::new(), ..self.clone() }
    }

    fn render(&self, value: &NewValue, indent: &str) -> String {
        let inner = self.deeper(indent);
        let (open, children, close): (_, Vec<String>, _) = match value {
            NewValue::String(text) => return quoted(text),
            NewValue::Number(number) => return number.to_string(),
            NewValue::Bool(value) => return value.to_string(),
            NewValue::Array(values) => {
                ('[', values.iter().map(|value| self.render(value, &inner)).collect(), ']')
            }
            NewValue::Object(members) => {
                let render = |(key, value): &(&str, _)| self.child(Some(key), value, &inner);
                ('{', members.iter().map(render).collect(), '}')
            }
        };
        if children.is_empty() {
            return format!("{open}{close}");
        }
        match self.newline.as_str() {
            "" => format!("{open}{}{close}", children.join(&format!(",{}", self.gap))),
            newline => {
                let line = format!("{newline}{inner}");
                let children = children.join(&format!(",{line}"));
                format!("{open}{line}{children}{newline}{indent}{close}")
            }
        }
    }

    fn child(&self, key: Option<&str>, value: &NewValue, indent: &str) -> String {
        let value = self.render(value, indent);
        match key {
            Some(key) => format!("{}:{}{value}", quoted(key), self.gap),
            None => value,
        }
    }

    fn deeper(&self, indent: &str) -> String {
        match self.newline.as_str() {
            "" => String::new(),
            _ => format!("{indent}{}", self.unit),
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

/// Indentation of the line that contains an offset.
fn line_indent(text: &str, offset: usize) -> &str {
    let line = text[..offset].rfind(BREAK).map_or(0, |end| end + 1);
    let rest = &text[line..];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// A text after an insertion.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Inserted {
    /// The whole text.
    pub text: String,
    /// White space that was before the closing bracket, if the container had no children.
    pub space_in_empty: Option<String>,
}

/// Appends a member to an object (with its key) or an element to an array.
pub fn append(
    text: &str,
    parsed: &ParsedJson,
    layout: &Layout,
    container: &Node,
    key: Option<&str>,
    value: &NewValue,
) -> Inserted {
    let open = container.span.start + 1;
    let close = container.span.end - 1;
    // Comments stay where they are; the new child comes after the last of them.
    let end = open + text[open..close].trim_end_matches(SPACE).len();
    let [.., last] = container.children() else {
        let outer = if layout.newline.is_empty() { "" } else { line_indent(text, open - 1) };
        let indent = layout.deeper(outer);
        let child = layout.child(key, value, &indent);
        let newline = &layout.newline;
        let added = format!("{newline}{indent}{child}{newline}{outer}");
        return Inserted {
            text: [&text[..end], &added, &text[close..]].concat(),
            space_in_empty: Some(text[end..close].to_string()),
        };
    };
    let previous = container.children().iter().nth_back(1);
    let previous = previous.map_or(open, |child| child.node.span.end);
    let (separator, layout, indent) = if text[previous..last.start].contains(BREAK) {
        let indent = line_indent(text, last.start).to_string();
        (format!("{}{indent}", layout.newline), layout.clone(), indent)
    } else if parsed.is_in_line_comment(end) {
        let indent = layout.deeper(line_indent(text, open - 1));
        (format!("{}{indent}", layout.newline), layout.clone(), indent)
    } else if text[last.start..last.node.span.end].contains(BREAK) {
        let indent = line_indent(text, last.node.span.end - 1).to_string();
        (layout.gap.clone(), layout.clone(), indent)
    } else {
        (layout.gap.clone(), layout.on_one_line(), String::new())
    };
    let child = layout.child(key, value, &indent);
    let after = last.node.span.end;
    let text = match last.comma {
        Some(_) => [&text[..end], &separator, &child, ",", &text[end..]].concat(),
        None => [&text[..after], ",", &text[after..end], &separator, &child, &text[end..]].concat(),
    };
    Inserted { text, space_in_empty: None }
}

/// Removes the child with an index: the inverse of [`append`]. A container that becomes empty gets
/// `space_in_empty` before its closing bracket.
pub fn remove(
    text: &str,
    parsed: &ParsedJson,
    container: &Node,
    index: usize,
    space_in_empty: Option<&str>,
) -> String {
    let children = container.children();
    let child = &children[index];
    let (open, close) = (container.span.start + 1, container.span.end - 1);
    let after = child.node.span.end;
    let before = text[..child.start].trim_end_matches(SPACE).len();
    let in_comment = parsed.is_in_line_comment(before);
    let tail = child.comma.map_or(after, |comma| comma + 1);
    if children.len() == 1 && text[tail..close].trim_matches(SPACE).is_empty() && tail <= after + 1
    {
        let space = match space_in_empty {
            Some(space) => space,
            None if before == open => "",
            None => &text[tail..close],
        };
        // A comment before the child still needs its line end.
        let space =
            if in_comment && !space.contains(BREAK) { &text[before..child.start] } else { space };
        return [&text[..before], space, &text[close..]].concat();
    }
    let adjacent =
        child.comma.is_some_and(|comma| text[after..comma].trim_matches(SPACE).is_empty());
    let follows = text[if adjacent { tail } else { after }..].trim_start_matches([' ', '\t']);
    // Text that follows on the same line must not become part of a comment.
    let from = if in_comment && !follows.starts_with(BREAK) { child.start } else { before };
    let comma = child.comma.or_else(|| children[index.checked_sub(1)?].comma);
    let comma = comma.map_or(after..after, |comma| comma..comma + 1);
    let mut cuts = [from..after, comma];
    cuts.sort_by_key(|cut| cut.start);
    let [first, second] = cuts;
    [&text[..first.start], &text[first.end..second.start], &text[second.end..]].concat()
}

/// Replaces a value.
pub fn replace(text: &str, layout: &Layout, node: &Node, value: &NewValue) -> String {
    let written = match text[node.span.clone()].contains(BREAK) {
        true => layout.render(value, line_indent(text, node.span.end - 1)),
        false => layout.on_one_line().render(value, ""),
    };
    [&text[..node.span.start], &written, &text[node.span.end..]].concat()
}
