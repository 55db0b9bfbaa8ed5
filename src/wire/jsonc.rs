//! Parses JSON with comments and records the byte range of every part, for edits in place.

use std::fmt;
use std::ops::Range;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, Visitor};

/// Maximum nesting depth, so that a hostile text cannot exhaust the stack.
const MAX_DEPTH: usize = 200;

/// White space of JSON.
pub(super) const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// A value and its byte range.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Byte range of the value.
    pub span: Range<usize>,
    /// The value.
    pub kind: NodeKind,
}

/// Kind of a value, with its children or its text.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// Members in the order of the text.
    Object(Vec<Child>),
    /// Elements in the order of the text.
    Array(Vec<Child>),
    /// A string, decoded.
    String(String),
    /// A number, `true`, `false` or `null`.
    Scalar,
}

/// A member of an object or an element of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// Decoded key; `None` in an array.
    pub key: Option<String>,
    /// Offset of the key, or of the element.
    pub start: usize,
    /// The value.
    pub node: Node,
    /// Offset of the comma after it.
    pub comma: Option<usize>,
}

/// A parsed text.
#[derive(Clone, Debug)]
pub struct ParsedJson {
    /// The value; `None` if there are only white space and comments.
    pub root: Option<Node>,
    line_comments: Vec<Range<usize>>,
}

/// A problem in the text of a settings file and its position.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SettingsError {
    /// Line, from one.
    pub line: usize,
    /// Character in the line, from one.
    pub column: usize,
    /// Description without the position.
    pub message: String,
}

impl SettingsError {
    /// Creates an error at a byte offset.
    pub fn at(text: &str, offset: usize, message: impl Into<String>) -> SettingsError {
        let before = text.get(..offset).unwrap_or(text).trim_start_matches('\u{feff}');
        let last = before.rsplit('\n').next().unwrap_or(before);
        SettingsError {
            line: before.matches('\n').count() + 1,
            column: last.chars().count() + 1,
            message: message.into(),
        }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl Node {
    /// Members of an object or elements of an array; empty for other values.
    pub fn children(&self) -> &[Child] {
        match &self.kind {
            NodeKind::Object(children) | NodeKind::Array(children) => children,
            _ => &[],
        }
    }

    /// Index of the member with a key. Of several, the last counts, as in every JSON reader.
    pub fn index_of(&self, key: &str) -> Option<usize> {
        self.children().iter().rposition(|child| child.key.as_deref() == Some(key))
    }

    /// Value of the member with a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        Some(&self.children()[self.index_of(key)?].node)
    }

    /// String of the member with a key.
    pub fn get_str(&self, key: &str) -> Option<&str> {
        match &self.get(key)?.kind {
            NodeKind::String(text) => Some(text),
            _ => None,
        }
    }
}

impl ParsedJson {
    /// Returns true if an offset is inside or at the end of a `//` comment.
    pub fn is_in_line_comment(&self, offset: usize) -> bool {
        self.line_comments.iter().any(|comment| comment.start < offset && offset <= comment.end)
    }
}

/// Parses a text. Comments and trailing commas are allowed, because settings files have them.
pub fn parse(text: &str) -> Result<ParsedJson, SettingsError> {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut parser = Parser { text, at: start, line_comments: Vec::new() };
    parser.skip_trivia()?;
    let root = match parser.peek() {
        None => None,
        Some(_) => Some(parser.value(0)?),
    };
    parser.skip_trivia()?;
    match parser.peek() {
        None => Ok(ParsedJson { root, line_comments: parser.line_comments }),
        Some(_) => Err(parser.error("expected the end of the file here")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    line_comments: Vec<Range<usize>>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, message: &str) -> SettingsError {
        SettingsError::at(self.text, self.at, message)
    }

    /// Skips white space and comments.
    fn skip_trivia(&mut self) -> Result<(), SettingsError> {
        loop {
            let rest = self.rest().trim_start_matches(SPACE);
            self.at = self.text.len() - rest.len();
            if rest.starts_with("//") {
                let end = self.at + rest.find(['\n', '\r']).unwrap_or(rest.len());
                self.line_comments.push(self.at..end);
                self.at = end;
            } else if let Some(inside) = rest.strip_prefix("/*") {
                match inside.find("*/") {
                    Some(length) => self.at += length + 4,
                    None => return Err(self.error("this comment does not end")),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, SettingsError> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{' | b'[') if depth == MAX_DEPTH => {
                return Err(self.error("this is nested too deeply"));
            }
            Some(b'{') => NodeKind::Object(self.children(b'}', depth)?),
            Some(b'[') => NodeKind::Array(self.children(b']', depth)?),
            Some(b'"') => NodeKind::String(self.string()?),
            _ => self.scalar()?,
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn children(&mut self, close: u8, depth: usize) -> Result<Vec<Child>, SettingsError> {
        self.at += 1;
        let mut children: Vec<Child> = Vec::new();
        loop {
            self.skip_trivia()?;
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(children);
            }
            if children.last().is_some_and(|child| child.comma.is_none()) {
                let message = format!("expected `,` or `{}` here", char::from(close));
                return Err(self.error(&message));
            }
            let start = self.at;
            let key = if close == b'}' { Some(self.key()?) } else { None };
            let node = self.value(depth + 1)?;
            self.skip_trivia()?;
            let comma = (self.peek() == Some(b',')).then_some(self.at);
            self.at += usize::from(comma.is_some());
            children.push(Child { key, start, node, comma });
        }
    }

    fn key(&mut self) -> Result<String, SettingsError> {
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a key in quotes here"));
        }
        let key = self.string()?;
        self.skip_trivia()?;
        if self.peek() != Some(b':') {
            return Err(self.error("expected `:` after the key"));
        }
        self.at += 1;
        self.skip_trivia()?;
        Ok(key)
    }

    fn string(&mut self) -> Result<String, SettingsError> {
        let rest = self.rest();
        let mut escaped = false;
        let end = rest.bytes().enumerate().skip(1).find(|(_, byte)| match byte {
            0..b' ' => true,
            _ if escaped => {
                escaped = false;
                false
            }
            b'\\' => {
                escaped = true;
                false
            }
            byte => *byte == b'"',
        });
        let literal = match end {
            Some((length, b'"')) => &rest[..=length],
            None | Some((_, b'\n' | b'\r')) => return Err(self.error("this string does not end")),
            Some((length, _)) => {
                self.at += length;
                return Err(self.error("control character in a string"));
            }
        };
        let decoded = serde_json::Deserializer::from_str(literal).deserialize_bytes(LossyString);
        let decoded = decoded.map_err(|_| self.error("invalid escape in this string"))?;
        self.at += literal.len();
        Ok(decoded)
    }

    fn scalar(&mut self) -> Result<NodeKind, SettingsError> {
        let rest = self.rest();
        let is_end = |c: char| SPACE.contains(&c) || "{}[],:\"/".contains(c);
        let literal = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        if serde_json::from_str::<IgnoredAny>(literal).is_err() {
            return Err(self.error(match self.peek() {
                None => "expected a value before the end of the file",
                Some(b'-' | b'0'..=b'9') => "this is not a number",
                Some(_) => "expected a value here",
            }));
        }
        self.at += literal.len();
        Ok(NodeKind::Scalar)
    }
}

/// Decodes a string literal. Half a surrogate pair is valid JSON but not a character.
struct LossyString;

impl Visitor<'_> for LossyString {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<String, E> {
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(text: &str) -> (usize, usize) {
        let error = parse(text).unwrap_err();
        (error.line, error.column)
    }

    #[test]
    fn spans_cover_the_parts() {
        let text = "\u{feff}// top\n{\"a\": [1, {\"b\": \"é\\u00e9\"},], /* x */ \"c\" : null}\r\n";
        let root = parse(text).unwrap().root.unwrap();
        assert_eq!(&text[root.get("c").unwrap().span.clone()], "null");
        let list = root.get("a").unwrap();
        assert_eq!(&text[list.span.clone()], "[1, {\"b\": \"é\\u00e9\"},]");
        assert_eq!(list.children()[1].node.get_str("b"), Some("éé"));
        assert_eq!(&text[list.children()[1].comma.unwrap()..][..2], ",]");
    }

    #[test]
    fn invalid_texts_are_refused_with_a_position() {
        assert_eq!(position("{\"a\": 1\n  \"b\": 2}"), (2, 3));
        assert_eq!(position("{\n  \"é\": tru\n}"), (2, 8));
        assert_eq!(position("{\"a\": \"b}"), (1, 7));
        assert_eq!(position("[\"\\é\"]"), (1, 2));
        assert_eq!(position("[\"\t\"]"), (1, 3));
        let invalid = r#"{|[1,,2]|{a: 1}|{"a" 1}|01|-|1.|-01|1e|+1|"\x"|"\u12"|"\|"\"|/*|{} {}|[,]|'a'|nul|nulll|1 2"#;
        for text in invalid.split('|').chain(["\"\n\"", "{\u{a0}}", "\u{b}1"]) {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn texts_that_agents_accept_are_accepted() {
        let valid = r#"0|-0.5e+10|"\ud83d\ude00\ud800"|[[],{},]|1e999|[1/**/,2]|"\\""#;
        for text in valid.split('|').chain(["", " \n", "// only\n", "[1//\n]"]) {
            assert!(parse(text).is_ok(), "{text}");
        }
        let root = parse("\"\\ud83d\\ude00\\\"\"").unwrap().root.unwrap();
        assert_eq!(root.kind, NodeKind::String("😀\"".to_string()));
    }
}
