//! Reads the header of an AsciiDoc document: title, author, revision and attributes.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;

use super::{Field, field};

/// Longest value of an attribute that is put in the place of its name, in bytes.
const MAX_VALUE: usize = 120;

/// At most this many bytes of a document come from attributes.
const MAX_EXPANDED: usize = 16_000;

/// Attributes that are remembered.
const MAX_ATTRIBUTES: usize = 200;

/// The fields of a document, and the attributes that its text may name.
pub(super) struct Header {
    first_line: u32,
    pub(super) fields: Vec<Field>,
    /// True up to the first section.
    pub(super) is_open: bool,
    /// Index of the line after which author and revision are stated.
    title: Option<usize>,
    /// True if the next line continues the value of an attribute.
    continues: bool,
    attributes: BTreeMap<String, String>,
    /// Bytes of the text so far that come from attributes.
    n_expanded: Cell<usize>,
}

impl Header {
    pub(super) fn new(first_line: u32) -> Header {
        Header {
            first_line,
            fields: Vec::new(),
            is_open: true,
            title: None,
            continues: false,
            attributes: BTreeMap::new(),
            n_expanded: Cell::new(0),
        }
    }

    /// Notes a heading. The first heading of level 1 is the title; any other starts a section.
    pub(super) fn start_section(&mut self, index: usize, level: usize) {
        match level == 1 && self.title.is_none() && self.is_open {
            true => self.title = Some(index),
            false => self.is_open = false,
        }
    }

    /// Reads a line. Returns true if it belongs to the header or is an attribute further down.
    pub(super) fn read_line(&mut self, index: usize, line: &str, above: &str) -> bool {
        let number = self.first_line + index as u32;
        if std::mem::take(&mut self.continues) && !line.is_empty() {
            let (value, continues) = continued(line);
            self.continues = continues;
            if let Some(field) = self.fields.last_mut().filter(|_| self.is_open) {
                field.items.push(value.to_string());
            }
            return true;
        }
        if let Some((name, value)) = attribute(line) {
            self.add_attribute(name, value, number);
            return true;
        }
        let Some(title) = self.title.filter(|_| self.is_open) else { return false };
        if index == title + 1 && is_author(line) {
            self.fields.push(field("author", line.trim(), number));
            return true;
        }
        if index == title + 2
            && is_author(above)
            && let Some(date) = revision_date(line)
        {
            self.fields.push(field("date", date, number));
            return true;
        }
        false
    }

    fn add_attribute(&mut self, name: &str, value: &str, line: u32) {
        let (value, continues) = continued(value);
        self.continues = continues;
        if name.starts_with('!') || name.ends_with('!') || value.is_empty() {
            return;
        }
        if value.len() <= MAX_VALUE && self.attributes.len() < MAX_ATTRIBUTES {
            self.attributes.insert(name.to_string(), value.to_string());
        }
        if self.is_open {
            // Site generators keep their own attributes of a page apart with a prefix.
            let key = name.strip_prefix("page-").unwrap_or(name);
            let key = match key {
                "revdate" => "date",
                "doctitle" => "title",
                key => key,
            };
            self.fields.push(field(key, value, line));
        }
    }

    /// Puts the values of attributes in the place of `{name}`.
    pub(super) fn expanded<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if memchr::memchr(b'{', text.as_bytes()).is_none() {
            return Cow::Borrowed(text);
        }
        let mut expanded = String::with_capacity(text.len());
        let mut copied = 0;
        for at in memchr::memchr_iter(b'{', text.as_bytes()) {
            let rest = &text[at + 1..];
            let length = rest.bytes().take_while(|b| is_name(*b)).count();
            let name = &rest[..length];
            let stated = self.attributes.get(name).map(String::as_str);
            let value = stated.or_else(|| intrinsic(name));
            let Some(value) = value.filter(|_| rest[length..].starts_with('}')) else { continue };
            self.n_expanded.set(self.n_expanded.get() + value.len());
            if self.n_expanded.get() > MAX_EXPANDED {
                break;
            }
            expanded.push_str(&text[copied..at]);
            expanded.push_str(value);
            copied = at + length + 2;
        }
        expanded.push_str(&text[copied..]);
        Cow::Owned(expanded)
    }
}

/// Returns the value of an attribute that every document has.
fn intrinsic(name: &str) -> Option<&'static str> {
    Some(match name {
        "nbsp" | "sp" => " ",
        "empty" | "blank" | "zwsp" | "wj" => "",
        "plus" => "+",
        "cpp" => "C++",
        _ => return None,
    })
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Splits `:name: value`.
fn attribute(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix(':')?.split_once(':')?;
    let is_attribute = !name.is_empty()
        && name.len() <= 60
        && name.bytes().all(|byte| is_name(byte) || byte == b'!')
        && (value.is_empty() || value.starts_with([' ', '\t']));
    is_attribute.then(|| (name, value.trim()))
}

/// Removes the sign that continues a value on the next line.
fn continued(value: &str) -> (&str, bool) {
    let value = value.trim();
    match value.strip_suffix(" \\") {
        Some(value) => (value.trim_end_matches([' ', '+']), true),
        None => (value, false),
    }
}

/// Returns true if a line has only names of people, each with a mail address or without.
fn is_author(line: &str) -> bool {
    let is_person = |person: &str| {
        let name = person.split('<').next().unwrap_or_default().trim();
        let is_word = |word: &str| {
            word.starts_with(char::is_uppercase)
                && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '\''))
        };
        (1..=4).contains(&name.split_whitespace().count()) && name.split_whitespace().all(is_word)
    };
    // A single capitalised word under a title can be anything.
    let is_certain = line.contains('<') || line.split_whitespace().count() >= 2;
    line.len() <= 200 && is_certain && !line.ends_with('.') && line.split(';').all(is_person)
}

/// Returns the date in a revision line: `v1.0, 2024-05-01: Draft`.
fn revision_date(line: &str) -> Option<&str> {
    let mut parts = line.split([',', ' ', ':', ';']).map(str::trim);
    let is_date = |part: &&str| {
        let bytes = part.as_bytes();
        bytes.len() == 10
            && bytes[4] == b'-'
            && bytes[7] == b'-'
            && bytes.iter().filter(|byte| byte.is_ascii_digit()).count() == 8
    };
    let starts = line.starts_with(|c: char| c == 'v' || c.is_ascii_digit());
    parts.find(is_date).filter(|_| starts && line.len() <= 200)
}
