//! JSON with the place of every part, so that a file can be edited without writing it anew.

use std::fmt;
use std::ops::Range;

/// Deeper than any settings file; a text that nests further is refused, not followed.
const MAX_DEPTH: usize = 200;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The bytes of the value.
    pub span: Range<usize>,
    /// What it is.
    pub shape: Shape,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Members in the order of the text.
    Object(Vec<Item>),
    /// Elements in the order of the text.
    Array(Vec<Item>),
    /// A string, decoded.
    Text(String),
    /// A number, `true`, `false` or `null`.
    Plain,
}

/// A member of an object or an element of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The decoded key of a member.
    pub key: Option<String>,
    /// Where the key, or the element, begins.
    pub start: usize,
    /// The value.
    pub node: Node,
    /// Where the comma after it stands.
    pub comma: Option<usize>,
}

/// A text, read.
#[derive(Clone, Debug)]
pub struct Scan {
    /// The value; `None` if there are only white space and comments.
    pub root: Option<Node>,
    line_comments: Vec<Range<usize>>,
}

/// Why a text is not JSON, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The line, from one.
    pub line: usize,
    /// The character in the line, from one.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl Fault {
    /// A fault at a place of a text.
    pub fn at(text: &str, at: usize, message: impl Into<String>) -> Fault {
        let before = text.get(..at).unwrap_or(text).trim_start_matches('\u{feff}');
        let last = before.rsplit('\n').next().unwrap_or(before);
        Fault {
            line: before.matches('\n').count() + 1,
            column: last.chars().count() + 1,
            message: message.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl Node {
    /// What an object or array holds; nothing for any other value.
    pub fn items(&self) -> &[Item] {
        match &self.shape {
            Shape::Object(items) | Shape::Array(items) => items,
            _ => &[],
        }
    }

    /// The member of a key; of several, the last, as every reader of JSON takes it.
    pub fn member(&self, key: &str) -> Option<&Item> {
        match &self.shape {
            Shape::Object(items) => items.iter().rfind(|item| item.key.as_deref() == Some(key)),
            _ => None,
        }
    }

    /// The string under a key.
    pub fn text(&self, key: &str) -> Option<&str> {
        match &self.member(key)?.node.shape {
            Shape::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Scan {
    /// Whether a place is inside or at the end of a comment that only a line's end closes.
    pub fn is_in_line_comment(&self, at: usize) -> bool {
        self.line_comments.iter().any(|comment| comment.start < at && at <= comment.end)
    }
}

/// Reads a text. Comments and trailing commas are allowed, because settings files have them.
pub fn scan(text: &str) -> Result<Scan, Fault> {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut reader = Reader { text, at: start, line_comments: Vec::new() };
    reader.trivia()?;
    let root = match reader.peek() {
        None => None,
        Some(_) => Some(reader.value(0)?),
    };
    reader.trivia()?;
    match reader.peek() {
        None => Ok(Scan { root, line_comments: reader.line_comments }),
        Some(_) => Err(reader.fault("something follows the end of the value")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line_comments: Vec<Range<usize>>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn fault(&self, message: &str) -> Fault {
        Fault::at(self.text, self.at, message)
    }

    /// Passes white space and comments.
    fn trivia(&mut self) -> Result<(), Fault> {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            let rest = self.rest();
            if rest.starts_with("//") {
                let end = self.at + rest.find(['\n', '\r']).unwrap_or(rest.len());
                self.line_comments.push(self.at..end);
                self.at = end;
            } else if let Some(inside) = rest.strip_prefix("/*") {
                match inside.find("*/") {
                    Some(length) => self.at += length + 4,
                    None => return Err(self.fault("this comment does not end")),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Fault> {
        let start = self.at;
        let shape = match self.peek() {
            Some(b'{') if depth < MAX_DEPTH => Shape::Object(self.items(b'}', depth)?),
            Some(b'[') if depth < MAX_DEPTH => Shape::Array(self.items(b']', depth)?),
            Some(b'{' | b'[') => return Err(self.fault("this is nested too deeply")),
            Some(b'"') => Shape::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node { span: start..self.at, shape })
    }

    fn items(&mut self, close: u8, depth: usize) -> Result<Vec<Item>, Fault> {
        self.at += 1;
        let mut items: Vec<Item> = Vec::new();
        loop {
            self.trivia()?;
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(items);
            }
            if items.last().is_some_and(|item| item.comma.is_none()) {
                return Err(self.fault(match close {
                    b'}' => "expected `,` or `}` here",
                    _ => "expected `,` or `]` here",
                }));
            }
            let start = self.at;
            let key = if close == b'}' { Some(self.key()?) } else { None };
            let node = self.value(depth + 1)?;
            self.trivia()?;
            let comma = (self.peek() == Some(b',')).then_some(self.at);
            self.at += usize::from(comma.is_some());
            items.push(Item { key, start, node, comma });
        }
    }

    fn key(&mut self) -> Result<String, Fault> {
        if self.peek() != Some(b'"') {
            return Err(self.fault("expected a key in quotes here"));
        }
        let key = self.string()?;
        self.trivia()?;
        if self.peek() != Some(b':') {
            return Err(self.fault("expected `:` after the key"));
        }
        self.at += 1;
        self.trivia()?;
        Ok(key)
    }

    fn string(&mut self) -> Result<String, Fault> {
        let start = self.at;
        self.at += 1;
        let mut decoded = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.find(|c| c == '"' || c == '\\' || c < ' ').unwrap_or(rest.len());
            decoded.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(decoded);
                }
                Some(b'\\') => decoded.push(self.escape()?),
                Some(b'\n' | b'\r') | None => {
                    return Err(Fault::at(self.text, start, "this string does not end"));
                }
                Some(_) => return Err(self.fault("a control character stands in a string")),
            }
        }
    }

    /// One escape; half a surrogate pair is legal in JSON but names no character.
    fn escape(&mut self) -> Result<char, Fault> {
        let named = self.text.as_bytes().get(self.at + 1).copied();
        let decoded = match named {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let Some(first) = self.hex(self.at + 2) else {
                    return Err(self.fault("expected four hexadecimal digits after `\\u`"));
                };
                let second = match self.text.get(self.at + 6..self.at + 8) {
                    Some("\\u") if (0xd800..0xdc00).contains(&first) => self.hex(self.at + 8),
                    _ => None,
                };
                let pair = second.filter(|second| (0xdc00..0xe000).contains(second));
                self.at += if pair.is_some() { 12 } else { 6 };
                let code =
                    pair.map_or(first, |low| 0x10000 + ((first - 0xd800) << 10) + low - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            _ => return Err(self.fault("there is no such escape")),
        };
        self.at += 2;
        Ok(decoded)
    }

    fn hex(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at..at + 4)?;
        let all = digits.bytes().all(|b| b.is_ascii_hexdigit());
        all.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
    }

    fn number(&mut self) -> Result<Shape, Fault> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let leading_zero = self.peek() == Some(b'0');
        let mut whole = self.digits();
        whole &= !(leading_zero
            && self.at > start + 1 + usize::from(self.text[start..].starts_with('-')));
        if self.peek() == Some(b'.') {
            self.at += 1;
            whole &= self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            whole &= self.digits();
        }
        match whole {
            true => Ok(Shape::Plain),
            false => Err(Fault::at(self.text, start, "this is not a number")),
        }
    }

    fn digits(&mut self) -> bool {
        let rest = self.rest();
        let n_digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        self.at += n_digits;
        n_digits > 0
    }

    fn word(&mut self) -> Result<Shape, Fault> {
        for word in ["true", "false", "null"] {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(Shape::Plain);
            }
        }
        Err(self.fault(match self.peek() {
            None => "the text ends before its value does",
            Some(b',') => "a `,` has nothing before it",
            Some(_) => "expected a value here",
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (usize, usize) {
        let fault = scan(text).unwrap_err();
        (fault.line, fault.column)
    }

    #[test]
    fn every_part_is_where_it_says() {
        let text = "\u{feff}// top\n{\"a\": [1, {\"b\": \"é\\u00e9\"},], /* x */ \"c\" : null}\r\n";
        let root = scan(text).unwrap().root.unwrap();
        assert_eq!(&text[root.member("c").unwrap().node.span.clone()], "null");
        let list = &root.member("a").unwrap().node;
        assert_eq!(&text[list.span.clone()], "[1, {\"b\": \"é\\u00e9\"},]");
        assert_eq!(list.items()[1].node.text("b"), Some("éé"));
        assert_eq!(&text[list.items()[1].comma.unwrap()..][..2], ",]");
    }

    #[test]
    fn what_is_not_json_is_told_with_its_place() {
        assert_eq!(fault("{\"a\": 1\n  \"b\": 2}"), (2, 3));
        assert_eq!(fault("{\n  \"é\": tru\n}"), (2, 8));
        for text in [
            "{",
            "[1,,2]",
            "{a: 1}",
            "{\"a\" 1}",
            "01",
            "-",
            "1.",
            "\"\n\"",
            "\"\\x\"",
            "/*",
            "{} {}",
            "[,]",
            "'a'",
            "nul",
        ] {
            assert!(scan(text).is_err(), "{text}");
        }
        assert!(scan(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn what_readers_of_json_take_is_taken() {
        for text in [
            "",
            " \n",
            "// only\n",
            "0",
            "-0.5e+10",
            "\"\\ud83d\\ude00\\ud800\"",
            "[[],{},]",
            "1e999",
        ] {
            assert!(scan(text).is_ok(), "{text}");
        }
        let root = scan("\"\\ud83d\\ude00\"").unwrap().root.unwrap();
        assert_eq!(root.shape, Shape::Text("😀".to_string()));
    }
}
