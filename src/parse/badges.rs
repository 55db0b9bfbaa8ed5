//! Reads the status in a badge image.

use std::borrow::Cow;

use crate::model::status_words;

/// Removes HTML comments from one line after another.
#[derive(Default)]
pub(super) struct CommentStripper {
    /// True if a comment that an earlier line opened has not ended.
    in_comment: bool,
}

impl CommentStripper {
    /// Returns the part of the next line that is not in a comment. The statuses to choose from are
    /// often commented out.
    pub(super) fn strip<'a>(&mut self, line: &'a str) -> Cow<'a, str> {
        if !self.in_comment && !line.contains("<!--") {
            return Cow::Borrowed(line);
        }
        let mut visible = String::new();
        let mut rest = line;
        loop {
            let mark = if self.in_comment { "-->" } else { "<!--" };
            let part = rest.split_once(mark);
            if !self.in_comment {
                visible.push_str(part.map_or(rest, |(before, _)| before));
            }
            let Some((_, after)) = part else { return Cow::Owned(visible) };
            self.in_comment = !self.in_comment;
            rest = after;
        }
    }
}

/// Returns the status that a badge shows: in its alternative text, or in its address if the text
/// only says "status".
pub(super) fn badge_text(line: &str) -> Option<String> {
    let line = CommentStripper::default().strip(line);
    images(&line).into_iter().find_map(|(alt, address)| {
        let is_status = |text: &str| status_words::parse(text).is_some();
        let lower = alt.to_lowercase();
        let names_status = lower.contains("status") || lower.contains("state");
        let shown = match lower.find("status") {
            Some(at) => alt.get(at + "status".len()..).unwrap_or_default(),
            None => alt,
        };
        let shown = shown.trim_matches([':', '-', ' ', '_']);
        if is_status(shown) && (names_status || shown.split_whitespace().count() <= 3) {
            return Some(shown.to_string());
        }
        // `…/badge/status-accepted-green.svg`
        let at = address.to_lowercase().find("status").filter(|_| shown.is_empty())?;
        let rest = address.get(at + "status".len()..)?.trim_start_matches(['-', '_', '=', '/']);
        let words = rest.replace("%20", " ").replace(['_', '+'], " ");
        let value = words.split(['-', '.', '?', '&', '/']).next()?.trim().to_string();
        is_status(&value).then_some(value)
    })
}

/// Returns the status that a badge shows if its text or its address says that it is one.
pub(super) fn status_badge_text(line: &str) -> Option<String> {
    let names_status = line.to_ascii_lowercase().contains("status");
    badge_text(line).filter(|_| names_status)
}

/// Returns the alternative text and the address of each image in a line.
fn images(line: &str) -> Vec<(&str, &str)> {
    let markdown = line.split("![").skip(1).filter_map(|image| {
        let (alt, rest) = image.split_once(']')?;
        let address = rest.strip_prefix('(').and_then(|rest| rest.split(')').next());
        Some((alt, address.unwrap_or_default()))
    });
    let attribute =
        |tag: &'static str| move |image: &'_ str| image.find(tag).map(|at| at + tag.len());
    let (alt, source) = (attribute("alt=\""), attribute("src=\""));
    let html = line.split("<img").skip(1).map(|image| {
        let value =
            |at: Option<usize>| at.and_then(|at| image[at..].split('"').next()).unwrap_or_default();
        (value(alt(image)), value(source(image)))
    });
    markdown.chain(html).collect()
}
