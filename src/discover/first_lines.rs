//! Looks at the first kilobyte of a file for the metadata of a decision.
//!
//! Names decide about most files. Where they do not, a file counts as a decision if its first lines
//! state a status beside another field of a proposal, or have the sections of a decision record.
//! Pages of a website and posts of a blog have a title, a date or an author, but no such status.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::LazyLock;

use crate::model::{HeaderKind, ProbedFile, rules, status_words};
use crate::root::{Root, stat_of};

/// Bytes of a file that are read.
const MAX_BYTES: u64 = 1024;

/// Names of fields, each with the group that it is in.
static FIELDS: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
    let fields = rules::entries(include_str!("rules/decision_fields.txt"));
    fields.filter_map(|entry| entry.split_once(" = ")).collect()
});

/// Looks at a file. `None` if it does not exist, is not a regular file or cannot be read.
pub(super) fn probe(root: &Root, path: &str) -> Option<ProbedFile> {
    let file = root.open_file(path).ok()??;
    let stat = stat_of(&rustix::fs::fstat(&file).ok()?);
    let mut bytes = Vec::with_capacity(MAX_BYTES as usize);
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(ProbedFile { path: path.to_string(), stat, header: header_kind(&bytes) })
}

/// Returns true if the result of an earlier look still holds.
pub(super) fn is_unchanged(root: &Root, looked_at: i64, file: &ProbedFile) -> bool {
    let same_stat = |stat| stat == file.stat && !file.stat.is_racy(looked_at);
    match root.stat(&file.path) {
        Ok(Some((stat, _))) if same_stat(stat) => true,
        Ok(Some(_)) => probe(root, &file.path).is_some_and(|probed| probed.header == file.header),
        _ => false,
    }
}

/// Fields and sections in the first lines of a file.
#[derive(Default)]
struct Evidence {
    /// A status field with a known word.
    has_status: bool,
    /// A section or field called status with a known word under it.
    has_status_section: bool,
    /// Number of fields that proposals have and other pages have too: title, author, date.
    n_common: usize,
    /// Number of fields that only proposals have: deciders, approvers, start date.
    n_specific: usize,
    has_context: bool,
    has_decision: bool,
    /// A title that begins with the id of a series: `SIP-27 - Trailing commas`.
    has_id_title: bool,
    /// A field of a website or a blog: layout, sidebar position, permalink.
    has_page_field: bool,
}

/// Returns the kind of metadata at the start of a file.
fn header_kind(head: &[u8]) -> HeaderKind {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}');
    if has_placeholder_title(text) || has_placeholder_value(text) {
        return HeaderKind::Template;
    }
    let evidence = Evidence::of(text);
    let sections = evidence.has_context && evidence.has_decision;
    let has_status = evidence.has_status || evidence.has_status_section;
    // A website of proposals has the fields of pages too. Its titles have ids.
    let is_numbered = evidence.has_status && evidence.has_id_title;
    if evidence.has_page_field && !sections && evidence.n_specific == 0 && !is_numbered {
        return HeaderKind::Other;
    }
    let is_decision = (evidence.has_status && evidence.n_common + evidence.n_specific > 0)
        || (has_status && (sections || evidence.has_context || evidence.n_specific > 0))
        || (evidence.has_status_section && evidence.n_common > 0)
        || evidence.n_specific >= 2
        || (sections && evidence.n_common > 0);
    match evidence.n_common + evidence.n_specific {
        _ if is_decision => HeaderKind::Decision,
        0 | 1 => HeaderKind::Other,
        _ => HeaderKind::Text,
    }
}

/// Returns true if the first heading or the title has a placeholder for a number or a name:
/// `RFC-NNNN Title`, `ADR-NNN: {title}`.
fn has_placeholder_title(text: &str) -> bool {
    let mut titles = text.lines().take(30).filter_map(|line| {
        let heading = line.strip_prefix("# ").or_else(|| line.strip_prefix("= "));
        heading.or_else(|| line.strip_prefix("title:")).map(str::trim)
    });
    let is_placeholder = |word: &str| {
        word.len() >= 3 && (word.bytes().all(|b| b == b'N') || word.bytes().all(|b| b == b'X'))
    };
    titles.next().is_some_and(|title| {
        let after_id = match title.starts_with(['{', '<', '[']) {
            true => title,
            false => {
                let rest = title.split_once(": ").or_else(|| title.split_once(' '));
                rest.map_or(title, |(_, rest)| rest).trim()
            }
        };
        let is_enclosed = |open: char, close: char| {
            after_id.starts_with(open) && after_id.ends_with(close) && after_id.len() > 2
        };
        title.split(|c: char| !c.is_alphanumeric()).any(is_placeholder)
            || is_enclosed('{', '}')
            || is_enclosed('<', '>')
            || matches!(
                after_id.to_ascii_lowercase().as_str(),
                "title" | "[title]" | "[short title]"
            )
    })
}

/// Returns true if a header field asks for its value: `- Start Date: (fill me in with YYYY-MM-DD)`.
fn has_placeholder_value(text: &str) -> bool {
    text.lines().take(12).filter_map(|line| line.split_once(": ")).any(|(_, value)| {
        value.starts_with("(fill me in") || value.trim_matches(['`', ' ']) == "YYYY-MM-DD"
    })
}

impl Evidence {
    fn of(text: &str) -> Evidence {
        let mut evidence = Evidence::default();
        let mut lines = text.lines().peekable();
        let is_fence = |line: &str| line.trim_end() == "---";
        if lines.peek().is_some_and(|line| is_fence(line)) {
            lines.next();
            for line in lines.by_ref().take_while(|line| !is_fence(line)) {
                if !line.starts_with([' ', '\t', '-']) {
                    evidence.add_field(line);
                }
            }
        }
        let mut n_sections = 0;
        let mut in_status_section = false;
        let mut has_title = false;
        let mut lines = lines.map(str::trim).peekable();
        while let Some(line) = lines.next() {
            if line.is_empty() || is_underline(line) {
                continue;
            }
            let is_underlined = lines.peek().is_some_and(|next| is_underline(next));
            if let Some(heading) = section_heading(line, is_underlined) {
                in_status_section = heading == "status" && n_sections < 3;
                evidence.has_context |= heading.starts_with("context") || heading == "problem";
                evidence.has_decision |= heading.starts_with("decision");
                let is_title = match is_underlined {
                    true => !std::mem::replace(&mut has_title, true),
                    false => line.starts_with("# ") || line.starts_with("= "),
                };
                n_sections += usize::from(!is_title);
            } else if in_status_section {
                evidence.has_status_section |= is_status(line);
                in_status_section = false;
            } else if n_sections <= 1 && !line.starts_with('#') {
                evidence.add_field(line);
            }
        }
        evidence
    }

    /// Adds a line such as `Status: draft`, `* **Status**: draft` or `| Status | draft |`.
    fn add_field(&mut self, line: &str) {
        let line = line.trim_start_matches(['-', '*', '>', '|', ' ', '\t', '_', '`', ':']);
        let Some(end) = line.find([':', '|']).filter(|end| *end <= 40) else { return };
        let is_decoration = |c: char| !c.is_alphanumeric();
        let key = line[..end].replace("(s)", "s").replace(['-', '_'], " ").to_lowercase();
        let key = key.trim_matches(is_decoration);
        let value = line[end + 1..].trim_matches(|c: char| "*_|`\"' :".contains(c));
        self.has_id_title |= key == "title" && begins_with_id(value);
        match FIELDS.get(key).copied() {
            Some("status") => self.has_status |= is_status(value),
            Some("specific") => self.n_specific += 1,
            Some("page") => self.has_page_field = true,
            Some(_) => self.n_common += 1,
            None => {}
        }
    }
}

/// Returns true for a title that begins with an acronym and a number, or the place of a number that
/// is not assigned yet: `SIP-27 - X`, `RFC 0012: X`, `SIP-NN X`.
fn begins_with_id(title: &str) -> bool {
    let n_letters = title.bytes().take_while(u8::is_ascii_uppercase).count();
    let rest = &title[n_letters..];
    let digits = rest.trim_start_matches(['-', ' ', '#']);
    let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
    let n_letters_of_place = digits.bytes().take_while(|b| matches!(b, b'N' | b'X')).count();
    let end = n_digits.max(n_letters_of_place);
    let ends = digits[end..].starts_with([' ', ':', '.', '-']);
    let is_number = (1..=6).contains(&n_digits) || n_letters_of_place >= 2;
    (3..=6).contains(&n_letters) && digits.len() < rest.len() && is_number && ends
}

/// Returns the words of a heading in lower case, without its number.
fn section_heading(line: &str, is_underlined: bool) -> Option<String> {
    let text = match is_underlined {
        true => line,
        false => line.strip_prefix(['#', '='])?.trim_start_matches(['#', '=']),
    };
    let words = text.trim_start_matches(|c: char| !c.is_alphabetic());
    Some(words.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
}

/// Returns true for a line that underlines a title. Three backticks or tildes are a fence.
fn is_underline(line: &str) -> bool {
    let first = line.bytes().next().unwrap_or_default();
    let min = if matches!(first, b'`' | b'~') { 4 } else { 3 };
    line.len() >= min && b"=-~^*+#\"'`.:_".contains(&first) && line.bytes().all(|b| b == first)
}

/// Returns true for a short text that begins with a known status. `published` is the status of a
/// blog post, and `new` the mark of a page.
fn is_status(value: &str) -> bool {
    let words: Vec<String> = value.split_whitespace().take(13).map(str::to_lowercase).collect();
    let is_page = words.first().is_some_and(|word| word == "new" || word.starts_with("publish"));
    let start = &words[..words.len().min(3)];
    !is_page && words.len() <= 12 && status_words::parse(&start.join(" ")).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_of_a_decision_is_recognised_in_every_style() {
        for text in [
            "---\ntitle: Cache\nauthors: [a]\ncreation-date: 2020-01-01\nstatus: provisional\n---\n",
            "# Cache\n\n- Status: accepted\n- Date: 2020-01-01\n",
            "# Cache\n\n* **Status**: Accepted\n* **Owner**: someone\n",
            "# 1. Cache\n\nDate: 2020-01-01\n\n## Status\n\nAccepted\n\n## Context\n",
            "# Cache\n\n## Status\n\nAccepted\n\n## Context\n\nText.\n",
            "# Cache\n\n| Status | Proposed |\n|---|---|\n| Author | someone |\n",
            "# Cache\n\n## Metadata\n\n* **Number:** 1\n* **Implemented:** No\n* **Sponsors:** someone\n",
            "- Feature Name: cache\n- Start Date: 2020-01-01\n\n# Summary\n",
            "= Cache\n:status: accepted\n:author: someone\n\n== Context\n",
            "Cache\n=====\n\nStatus\n------\n\nAccepted\n\nContext\n-------\n\nText.\n",
            "=====\nCache\n=====\n\n:Status: Draft\n:Author: someone\n",
            "---\nlayout: sip\nstatus: shipped\ntitle: SIP-27 - Cache\n---\n",
            "---\nlayout: sip\nstatus: submitted\ntitle: SIP-NN Cache\n---\n",
            "\u{feff}---\r\nstatus: draft\r\ntitle: Cache\r\n---\r\n",
        ] {
            assert_eq!(header_kind(text.as_bytes()), HeaderKind::Decision, "{text}");
        }
    }

    #[test]
    fn a_title_with_a_placeholder_is_that_of_a_template() {
        for text in [
            "# RFC-NNNN Title\n\n**Status:** provisional\n",
            "# ADR-NNN: Short name\n",
            "---\ntitle: <name of the feature>\nstatus: draft\n---\n",
            "# ADR-0000: {title}\n",
            "# RFC 0000: [short title]\n",
            "# Title\n",
            "- Feature Name: (fill me in with a unique name)\n\n# Summary\n",
            "# ADR 0\n\n- Date: YYYY-MM-DD\n",
        ] {
            assert_eq!(header_kind(text.as_bytes()), HeaderKind::Template, "{text}");
        }
        for text in ["# Use XML\n", "# 0. Purpose and process\n", "# The title of pages\n"] {
            assert_ne!(header_kind(text.as_bytes()), HeaderKind::Template, "{text}");
        }
    }

    #[test]
    fn pages_and_posts_are_not_decisions() {
        let proposal = "# Proposal: Cache\n\nAuthor(s): someone\n\nLast updated: today\n";
        assert_eq!(header_kind(proposal.as_bytes()), HeaderKind::Text);
        for text in [
            "---\ntitle: Install\ndescription: Steps\nsidebar_position: 2\n---\n# Install\n",
            "---\nlayout: post\ntitle: News\ndate: 2020-01-01\nauthor: someone\n---\n",
            "Title: News\nDate: 2020-01-01\nAuthor: someone\nStatus: published\n",
            "# API\n\n## Status\n\nThe `status` field has the state of the request.\n",
            "# Notes\n\nStatus: see below\n",
            "---\ntitle: Page\nstatus: new\n---\n",
            "---\ntitle: Page\nlayout: default\nstatus: draft\n---\n",
            "---\ntitle: HTML5 pages\nlayout: default\nstatus: draft\n---\n",
            "---\ntitle: SIP-27 - Cache\nlayout: default\n---\n",
            "",
            "---\n",
            "Context: none\nDecision: none\n",
        ] {
            assert_ne!(header_kind(text.as_bytes()), HeaderKind::Decision, "{text}");
        }
    }
}
