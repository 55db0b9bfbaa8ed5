//! Puts a value into a JSON text, takes it out or replaces it, and leaves every other byte.

use super::span::{Node, Scan, Shape};

const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];
const BREAK: [char; 2] = ['\n', '\r'];

/// A value to write, its members in the order they shall have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Value {
    /// A string.
    Text(String),
    /// A whole number.
    Number(u64),
    /// An array.
    List(Vec<Value>),
    /// An object.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// A string.
    pub fn text(text: &str) -> Value {
        Value::Text(text.to_string())
    }

    /// An object of these members.
    pub fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
        Value::Object(members.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
    }

    /// Whether a part of a text means this value, however it is written.
    pub fn is(&self, text: &str, node: &Node) -> bool {
        match (self, &node.shape) {
            (Value::Text(wanted), Shape::Text(found)) => wanted == found,
            (Value::Number(wanted), Shape::Plain) => text[node.span.clone()] == wanted.to_string(),
            (Value::List(wanted), Shape::Array(found)) => {
                wanted.len() == found.len()
                    && wanted.iter().zip(found).all(|(value, item)| value.is(text, &item.node))
            }
            (Value::Object(wanted), Shape::Object(found)) => {
                wanted.len() == found.len()
                    && wanted.iter().all(|(key, value)| {
                        node.member(key).is_some_and(|item| value.is(text, &item.node))
                    })
            }
            _ => false,
        }
    }
}

/// How a file is laid out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Style {
    /// What ends a line; empty if all stands on one.
    newline: String,
    /// One step of indentation.
    unit: String,
    /// What follows a colon or a comma on the same line.
    gap: String,
}

impl Style {
    /// The layout of a text. What it does not show is as agents themselves write it.
    pub fn of(text: &str, root: &Node) -> Style {
        let inside = &text[root.span.clone()];
        let newline = match text.find(BREAK) {
            Some(at) if text[at..].starts_with("\r\n") => "\r\n",
            Some(at) if text[at..].starts_with('\r') => "\r",
            _ => "\n",
        };
        let first = root.items().first();
        let one_line = first.is_some() && !inside.contains(BREAK);
        let unit = match first.map(|item| line_indent(text, item.start)) {
            Some(indent) if !indent.is_empty() && !one_line => indent,
            _ => "  ",
        };
        let tight = first.is_some_and(|item| {
            let between = &text[item.start..item.node.span.start];
            between.ends_with(':')
        });
        Style {
            newline: if one_line { String::new() } else { newline.to_string() },
            unit: unit.to_string(),
            gap: if tight { String::new() } else { " ".to_string() },
        }
    }

    /// What ends a line of the file.
    pub fn newline(&self) -> &str {
        &self.newline
    }

    fn on_one_line(&self) -> Style {
        Style { newline: String::new(), ..self.clone() }
    }

    fn render(&self, value: &Value, indent: &str) -> String {
        let members: Vec<String> = match value {
            Value::Text(text) => return quoted(text),
            Value::Number(number) => return number.to_string(),
            Value::List(values) => {
                values.iter().map(|value| self.render(value, &self.deeper(indent))).collect()
            }
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| self.member(Some(key), value, &self.deeper(indent)))
                .collect(),
        };
        let (open, close) = if matches!(value, Value::List(_)) { ('[', ']') } else { ('{', '}') };
        if members.is_empty() {
            return format!("{open}{close}");
        }
        let (before, between, after) = match self.newline.as_str() {
            "" => (String::new(), format!(",{}", self.gap), String::new()),
            newline => {
                let line = format!("{newline}{}", self.deeper(indent));
                (line.clone(), format!(",{line}"), format!("{newline}{indent}"))
            }
        };
        format!("{open}{before}{}{after}{close}", members.join(&between))
    }

    fn member(&self, key: Option<&str>, value: &Value, indent: &str) -> String {
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

/// The white space that the line of a place begins with.
fn line_indent(text: &str, at: usize) -> &str {
    let line = text[..at].rfind(BREAK).map_or(0, |end| end + 1);
    let rest = &text[line..];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// A text with one more item.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Inserted {
    /// The whole text.
    pub text: String,
    /// If the container was empty: the white space that stood at its end.
    pub was_empty: Option<String>,
}

/// Adds an item at the end of an object (with its key) or an array.
pub fn insert(
    text: &str,
    scan: &Scan,
    style: &Style,
    container: &Node,
    key: Option<&str>,
    value: &Value,
) -> Inserted {
    let open = container.span.start + 1;
    let close = container.span.end - 1;
    // Comments stay where they are; the item comes after the last of them.
    let end = open + text[open..close].trim_end_matches(SPACE).len();
    let Some(last) = container.items().last() else {
        let outer = if style.newline.is_empty() { "" } else { line_indent(text, open - 1) };
        let indent = style.deeper(outer);
        let item = style.member(key, value, &indent);
        let newline = &style.newline;
        let added = format!("{newline}{indent}{item}{newline}{outer}");
        return Inserted {
            text: [&text[..end], &added, &text[close..]].concat(),
            was_empty: Some(text[end..close].to_string()),
        };
    };
    let previous = container.items().iter().rev().nth(1).map_or(open, |item| item.node.span.end);
    let (separator, style, indent) = if text[previous..last.start].contains(BREAK) {
        let indent = line_indent(text, last.start).to_string();
        (format!("{}{indent}", style.newline), style.clone(), indent)
    } else if scan.is_in_line_comment(end) {
        let indent = style.deeper(line_indent(text, open - 1));
        (format!("{}{indent}", style.newline), style.clone(), indent)
    } else if text[last.start..last.node.span.end].contains(BREAK) {
        let indent = line_indent(text, last.node.span.end - 1).to_string();
        (style.gap.clone(), style.clone(), indent)
    } else {
        (style.gap.clone(), style.on_one_line(), String::new())
    };
    let item = style.member(key, value, &indent);
    let after = last.node.span.end;
    let text = match last.comma {
        Some(_) => [&text[..end], &separator, &item, ",", &text[end..]].concat(),
        None => [&text[..after], ",", &text[after..end], &separator, &item, &text[end..]].concat(),
    };
    Inserted { text, was_empty: None }
}

/// Takes an item out: the inverse of [`insert`]. A container that becomes empty ends with the
/// white space it is said to have had.
pub fn remove(
    text: &str,
    scan: &Scan,
    container: &Node,
    index: usize,
    was_empty: Option<&str>,
) -> String {
    let items = container.items();
    let item = &items[index];
    let (open, close) = (container.span.start + 1, container.span.end - 1);
    let after = item.node.span.end;
    let before = text[..item.start].trim_end_matches(SPACE).len();
    let in_comment = scan.is_in_line_comment(before);
    let tail = item.comma.map_or(after, |comma| comma + 1);
    if items.len() == 1 && text[tail..close].trim_matches(SPACE).is_empty() && tail <= after + 1 {
        let rest = match was_empty {
            Some(rest) => rest,
            None if before == open => "",
            None => &text[tail..close],
        };
        // A comment before it still needs the end of its line.
        let rest =
            if in_comment && !rest.contains(BREAK) { &text[before..item.start] } else { rest };
        return [&text[..before], rest, &text[close..]].concat();
    }
    let adjacent =
        item.comma.is_some_and(|comma| text[after..comma].trim_matches(SPACE).is_empty());
    let follows = text[if adjacent { tail } else { after }..].trim_start_matches([' ', '\t']);
    // What comes next on this line must not slip into a comment.
    let from = if in_comment && !follows.starts_with(BREAK) { item.start } else { before };
    let comma = item.comma.or_else(|| items[index.checked_sub(1)?].comma);
    let mut cuts = [from..after, comma.map_or(after..after, |comma| comma..comma + 1)];
    cuts.sort_by_key(|cut| cut.start);
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for cut in cuts {
        kept.push_str(&text[at..cut.start]);
        at = cut.end;
    }
    kept.push_str(&text[at..]);
    kept
}

/// Writes another value in the place of one.
pub fn replace(text: &str, style: &Style, node: &Node, value: &Value) -> String {
    let many = text[node.span.clone()].contains(BREAK);
    let style = if many { style.clone() } else { style.on_one_line() };
    let indent = if many { line_indent(text, node.span.end - 1) } else { "" };
    let written = style.render(value, indent);
    [&text[..node.span.start], &written, &text[node.span.end..]].concat()
}
