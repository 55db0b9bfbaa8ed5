//! The sections of a text: an outline with sizes, one section by its name, a part within a budget.

use std::ops::Range;

use crate::reader::ProjectReader;

/// Size above which tokens are estimated. Counting takes a second for ten megabytes.
const MAX_COUNTED: usize = 1 << 20;

/// Bytes of a token in an estimate.
const BYTES_PER_TOKEN: u64 = 4;

/// A heading with everything below it, up to the next heading of its level or above.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DocumentSection {
    /// The text of the heading.
    pub title: String,
    /// 1 for the top level.
    pub level: u8,
    /// The lines of the section, counted from 1.
    pub lines: Range<usize>,
    /// Number of tokens.
    pub n_tokens: u64,
    /// Normalized names: the words of the title, the same without its number, and the English name.
    names: Vec<Vec<String>>,
}

/// A text with its sections, in order.
pub struct Sections<'a> {
    text: &'a str,
    /// Offset of every line, and the end of the text.
    starts: Vec<usize>,
    /// The sections.
    pub list: Vec<DocumentSection>,
}

/// The beginning of a text, and the size of the rest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CutText<'a> {
    /// The part that fits the budget.
    pub text: &'a str,
    /// Number of lines that are left out.
    pub n_lines: usize,
    /// Number of tokens that are left out.
    pub n_tokens: u64,
}

impl<'a> Sections<'a> {
    /// Finds the sections of a text that `reader` returned for a path.
    pub fn new(reader: &ProjectReader, path: &str, text: &'a str) -> Sections<'a> {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        let n_lines = starts.len() - 1;
        let mut headings = reader.headings(path, text);
        headings.retain(|heading| (1..=n_lines).contains(&heading.line));
        let mut sections = Sections { text, starts, list: Vec::with_capacity(headings.len()) };
        // Tokens from the first line to each heading, so that the size of any section is a difference.
        let mut before = Vec::with_capacity(headings.len() + 1);
        let (mut n_tokens, mut from) = (0, 1);
        for heading in &headings {
            n_tokens += count(reader, sections.lines(from..heading.line));
            before.push(n_tokens);
            from = from.max(heading.line);
        }
        before.push(n_tokens + count(reader, sections.lines(from..n_lines + 1)));
        let ends = ends(&headings.iter().map(|heading| heading.level).collect::<Vec<u8>>());
        for (i, heading) in headings.iter().enumerate() {
            let end = headings.get(ends[i]).map_or(n_lines + 1, |next| next.line);
            sections.list.push(DocumentSection {
                title: heading.title.clone(),
                level: heading.level,
                lines: heading.line..end,
                n_tokens: before[ends[i]] - before[i],
                names: names(&heading.title, heading.english),
            });
        }
        sections
    }

    /// The number of lines of the text.
    pub fn n_lines(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the text of a range of lines.
    pub fn lines(&self, lines: Range<usize>) -> &'a str {
        let offset = |line: usize| self.starts[line.clamp(1, self.starts.len()) - 1];
        &self.text[offset(lines.start)..offset(lines.end.max(lines.start))]
    }

    /// Returns the sections that a name matches best: the whole title, its start, some of its words
    /// in order, or all words of the name in any order. A number that is in no title is a line, and
    /// matches the innermost section that contains it.
    pub fn find(&self, name: &str) -> Vec<&DocumentSection> {
        let wanted = words(name);
        let ranked = self.list.iter().filter_map(|section| {
            let rank = section.names.iter().filter_map(|title| rank(title, &wanted)).min()?;
            Some((rank, section))
        });
        let ranked: Vec<(u8, &DocumentSection)> = ranked.collect();
        let best = ranked.iter().map(|(rank, _)| *rank).min();
        let found: Vec<&DocumentSection> = ranked
            .iter()
            .filter(|(rank, _)| Some(*rank) == best)
            .map(|(_, found)| *found)
            .collect();
        match name.trim().parse::<usize>() {
            Ok(line) if found.is_empty() => {
                let around = self.list.iter().rev().find(|section| section.lines.contains(&line));
                around.into_iter().collect()
            }
            _ => found,
        }
    }
}

/// Counts the tokens of a text, or estimates them if it is very large.
pub fn count(reader: &ProjectReader, text: &str) -> u64 {
    match text.len() <= MAX_COUNTED {
        true => reader.count_tokens(text),
        false => text.len() as u64 / BYTES_PER_TOKEN,
    }
}

/// Returns for each heading the index of the next heading of its level or above.
fn ends(levels: &[u8]) -> Vec<usize> {
    let mut ends = vec![levels.len(); levels.len()];
    let mut open: Vec<usize> = Vec::new();
    for (i, level) in levels.iter().enumerate() {
        while let Some(last) = open.pop_if(|last| levels[*last] >= *level) {
            ends[last] = i;
        }
        open.push(i);
    }
    ends
}

/// Splits a text into words in lower case, without punctuation.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn names(title: &str, english: Option<&str>) -> Vec<Vec<String>> {
    let whole = words(title);
    let is_number = |word: &&String| word.bytes().all(|byte| byte.is_ascii_digit());
    let n_digits = whole.iter().take_while(is_number).count();
    let mut names = vec![whole];
    if n_digits > 0 && n_digits < names[0].len() {
        names.push(names[0][n_digits..].to_vec());
    }
    names.extend(english.map(words));
    names
}

/// Ranks how a name matches a title; smaller is better. `None` if it does not match.
fn rank(title: &[String], wanted: &[String]) -> Option<u8> {
    let (last, first) = wanted.split_last()?;
    let is_prefix = || {
        let rest = title.strip_prefix(first)?;
        rest.first().filter(|word| word.starts_with(last.as_str()))
    };
    if title == wanted {
        Some(0)
    } else if title.starts_with(wanted) {
        Some(1)
    } else if is_prefix().is_some() {
        Some(2)
    } else if title.windows(wanted.len()).any(|part| part == wanted) {
        Some(3)
    } else if wanted.iter().all(|word| title.contains(word)) {
        Some(4)
    } else {
        None
    }
}

/// Cuts a text at the end of a paragraph so that it has at most `budget` tokens. `None` if it fits.
///
/// If the next paragraph is so large that less than half of the budget would be used, the cut is at
/// the end of a line or sentence of that paragraph.
pub fn cut<'a>(reader: &ProjectReader, text: &'a str, budget: u64) -> Option<CutText<'a>> {
    let mut rest = budget;
    let mut end = take(reader, text, paragraph_end, &mut rest);
    if end == text.len() {
        return None;
    }
    for piece_end in [sentence_end, word_end] {
        if rest > budget / 2 {
            end += take(reader, &text[end..], piece_end, &mut rest);
        }
    }
    let kept = &text[..end];
    let left = &text[end..];
    Some(CutText { text: kept, n_lines: left.lines().count(), n_tokens: count(reader, left) })
}

/// Returns the length of the pieces at the start of a text that fit. Their tokens are subtracted
/// from `rest`.
fn take(reader: &ProjectReader, text: &str, piece_end: fn(&str) -> usize, rest: &mut u64) -> usize {
    let mut end = 0;
    while end < text.len() {
        let piece = &text[end..end + piece_end(&text[end..])];
        let Some(after) = rest.checked_sub(count(reader, piece)) else { break };
        *rest = after;
        end += piece.len();
    }
    end
}

/// Returns the end of the first paragraph with the blank lines after it. A fenced code block and a
/// heading are one paragraph with the text that follows.
fn paragraph_end(text: &str) -> usize {
    let (mut end, mut fence, mut has_text, mut is_over) = (0, None, false, false);
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        if is_over && !bare.is_empty() {
            return end;
        }
        let mark = fence_of(bare);
        match fence {
            Some((sign, n)) => {
                if mark.is_some_and(|(other, m)| other == sign && m >= n && bare.len() == m) {
                    fence = None;
                }
            }
            None => fence = mark,
        }
        has_text |= !bare.is_empty() && !bare.starts_with('#');
        is_over |= bare.is_empty() && fence.is_none() && has_text;
        end += line.len();
    }
    end
}

/// Returns the sign and the length of a line that opens or closes a fenced code block.
fn fence_of(line: &str) -> Option<(char, usize)> {
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let n = line.chars().take_while(|c| *c == sign).count();
    (n >= 3).then_some((sign, n))
}

/// Returns the end of the first line, or of the first sentence if it ends earlier.
fn sentence_end(text: &str) -> usize {
    let line = text.find('\n').map_or(text.len(), |at| at + 1);
    text[..line].find(". ").map_or(line, |at| at + 2)
}

/// Returns the end of the first word with the space after it. A very long word is cut.
fn word_end(text: &str) -> usize {
    let space = text.find(char::is_whitespace);
    let end =
        space.map_or(text.len(), |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    if end <= 64 {
        return end;
    }
    text.char_indices().map(|(at, _)| at).take_while(|at| *at <= 64).last().unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::config::Config;

    const TEXT: &str = "# 7. Queue\n\nIntro.\n\n## 1. Context\n\nOne.\n\n```\n# no\n```\n\n### Options for the queue\n\nTwo.\n\n## Decision outcome\n\nThree.\n\n## Entscheidung\n\nVier.\n";

    fn reader() -> ProjectReader {
        ProjectReader::new(Config::default().plan())
    }

    #[test]
    fn a_section_contains_its_sub_sections() {
        let reader = reader();
        let sections = Sections::new(&reader, "a.md", TEXT);
        let lines: Vec<Range<usize>> = sections.list.iter().map(|s| s.lines.clone()).collect();
        assert_eq!(lines, [1..24, 5..17, 13..17, 17..21, 21..24]);
        assert_eq!(sections.n_lines(), 23);
        assert_eq!(sections.lines(13..17), "### Options for the queue\n\nTwo.\n\n");
        let sizes: Vec<u64> = sections.list.iter().map(|section| section.n_tokens).collect();
        assert!(sizes[0] > sizes[1] + sizes[3] && sizes[1] > sizes[2] && sizes[2] > 0, "{sizes:?}");
        assert!(Sections::new(&reader, "a.jsonl", TEXT).list.is_empty());
        assert_eq!(Sections::new(&reader, "a.md", "").n_lines(), 0);
    }

    #[test]
    fn a_name_matches_a_title_its_start_or_its_words_without_numbers() {
        let reader = reader();
        let sections = Sections::new(&reader, "a.md", TEXT);
        let found = |name: &str| -> Vec<&str> {
            sections.find(name).iter().map(|section| section.title.as_str()).collect()
        };
        assert_eq!(found("context"), ["1. Context"]);
        assert_eq!(found("1. CONTEXT"), ["1. Context"]);
        assert_eq!(found("opt"), ["Options for the queue"]);
        assert_eq!(found("the queue"), ["Options for the queue"]);
        assert_eq!(found("queue options"), ["Options for the queue"]);
        assert_eq!(found("queue"), ["7. Queue"]);
        // A whole name, here in English, is better than the start of a longer one.
        assert_eq!(found("decision"), ["Entscheidung"]);
        assert_eq!(found("decision o"), ["Decision outcome"]);
        assert_eq!(found("14"), ["Options for the queue"]);
        assert!(found("99").is_empty() && found("zebra").is_empty() && found(" - ").is_empty());
    }

    #[test]
    fn a_text_is_cut_after_a_paragraph() {
        let reader = reader();
        let text = "# A\n\nOne two three.\n\n```\na\n\nb\n```\n\nFour five six seven.\n";
        assert_eq!(cut(&reader, text, 1_000), None);
        let whole = reader.count_tokens(text);
        for budget in 0..whole {
            let part = cut(&reader, text, budget).expect("it does not fit");
            assert!(reader.count_tokens(part.text) <= budget, "{budget}: {part:?}");
            assert!(part.text.len() < text.len() && part.n_tokens > 0 && part.n_lines > 0);
        }
        let part = cut(&reader, text, whole - 1).expect("it does not fit");
        assert!(part.text.ends_with("b\n```\n\n"), "{part:?}");
        assert_eq!(part.n_lines, 1);
        let long = "One sentence is here. Another sentence follows it. ".repeat(50);
        let part = cut(&reader, &long, 40).expect("it does not fit");
        assert!(part.text.ends_with(". ") && part.text.len() > 100, "{part:?}");
        let word = "é".repeat(10_000);
        assert!(!cut(&reader, &word, 100).expect("it does not fit").text.is_empty());
    }
}
