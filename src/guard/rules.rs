//! Reads the rule files in `src/guard/rules/`, which are embedded in the program.
//!
//! A rule file has one rule per line:
//!
//! - Lines that begin with `# ` are comments. Blank lines are ignored.
//! - `== name ==` opens a table.
//! - Other lines are rules. Columns are separated by ` | `, lists within a column by `, `.
//! - In a table of phrases, the part of a rule between asterisks is its anchor: the string that
//!   the scan looks for. Without asterisks the whole rule is the anchor.
//! - `> text` is an example that is reported if `{}` is replaced by a rule, and not reported if it
//!   is replaced by another word. `! text` is the opposite. `{2}` is an entry of the second column.
//!
//! A table is parsed when it is first used, so that commands that scan no text do not pay for it.

use std::borrow::Cow;
use std::sync::OnceLock;

pub(super) const CHAT_MARKUP: &str = include_str!("rules/chat_markup.txt");
pub(super) const COMMANDS: &str = include_str!("rules/commands.txt");
pub(super) const PROMPT_INJECTION: &str = include_str!("rules/prompt_injection.txt");
pub(super) const PROMPT_INJECTION_LANGUAGES: &str =
    include_str!("rules/prompt_injection_languages.txt");
pub(super) const PUBLIC_VALUES: &str = include_str!("rules/public_values.txt");
pub(super) const SECRET_WORDS: &str = include_str!("rules/secret_words.txt");
pub(super) const TOKEN_PATTERNS: &str = include_str!("rules/token_patterns.txt");

/// Returns the rules of a table.
pub(super) fn rules(file: &'static str, table: &str) -> impl Iterator<Item = &'static str> {
    lines(file, table).filter(|line| !is_example(line))
}

/// Returns the rules and examples of a table.
fn lines(file: &'static str, table: &str) -> impl Iterator<Item = &'static str> {
    let heading = format!("\n== {table} ==\n");
    let at = memchr::memmem::find(file.as_bytes(), heading.as_bytes());
    let body = &file[at.expect("the code names embedded tables") + heading.len()..];
    let lines = body.lines().take_while(|line| !line.starts_with("== "));
    lines.filter(|line| !line.is_empty() && *line != "#" && !line.starts_with("# "))
}

fn is_example(line: &str) -> bool {
    line.starts_with("> ") || line.starts_with("! ")
}

/// Returns the first N columns of a rule. Missing columns are empty.
pub(super) fn columns<const N: usize>(rule: &'static str) -> [&'static str; N] {
    let mut columns = rule.split(" | ");
    std::array::from_fn(|_| columns.next().unwrap_or_default())
}

/// Returns the entries of a column.
pub(super) fn entries(column: &'static str) -> impl Iterator<Item = &'static str> {
    column.split(", ").filter(|entry| !entry.is_empty())
}

/// A word or phrase, and the part of it that the scan looks for.
pub(super) struct Phrase {
    pub(super) text: Cow<'static, str>,
    anchor: &'static str,
}

impl Phrase {
    pub(super) fn parse(rule: &'static str) -> Phrase {
        let marked = rule.split_once('*').and_then(|(before, rest)| {
            let (anchor, after) = rest.split_once('*')?;
            Some(Phrase { text: Cow::Owned([before, anchor, after].concat()), anchor })
        });
        marked.unwrap_or(Phrase { text: Cow::Borrowed(rule), anchor: rule })
    }

    /// Returns the spellings of the anchor. The scan ignores the case of ASCII letters only, and
    /// editors replace the ASCII apostrophe by a curly one.
    pub(super) fn anchors(&self) -> impl Iterator<Item = Cow<'static, str>> {
        let anchor = self.anchor;
        let curly = anchor.contains('\'').then(|| anchor.replace('\'', "’"));
        let first = anchor.chars().next().filter(|c| !c.is_ascii());
        let capital = first
            .filter(|c| !c.to_uppercase().eq([*c]))
            .map(|first| first.to_uppercase().chain(anchor.chars().skip(1)).collect::<String>());
        std::iter::once(Cow::Borrowed(anchor))
            .chain(curly.into_iter().chain(capital).map(Cow::Owned))
    }
}

/// A table of words or phrases, parsed on first use.
pub(super) struct PhraseTable {
    file: &'static str,
    name: &'static str,
    phrases: OnceLock<Vec<Phrase>>,
}

impl PhraseTable {
    pub(super) const fn new(file: &'static str, name: &'static str) -> PhraseTable {
        PhraseTable { file, name, phrases: OnceLock::new() }
    }

    pub(super) fn phrases(&self) -> &[Phrase] {
        self.phrases.get_or_init(|| rules(self.file, self.name).map(Phrase::parse).collect())
    }

    /// Returns the texts of the phrases.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.phrases().iter().map(|phrase| phrase.text.as_ref())
    }

    pub(super) fn contains(&self, text: &str) -> bool {
        let first = text.as_bytes().first();
        // Most phrases begin with another letter, and comparing it first is faster.
        self.texts().any(|phrase| phrase.as_bytes().first() == first && phrase == text)
    }

    /// Returns true if a text starts with a phrase of the table.
    pub(super) fn begins(&self, text: &str) -> bool {
        let first = text.as_bytes().first();
        self.texts().any(|phrase| phrase.as_bytes().first() == first && text.starts_with(phrase))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::{Allowed, clean};

    const FILES: [&str; 7] = [
        CHAT_MARKUP,
        COMMANDS,
        PROMPT_INJECTION,
        PROMPT_INJECTION_LANGUAGES,
        PUBLIC_VALUES,
        SECRET_WORDS,
        TOKEN_PATTERNS,
    ];

    /// A word that is in no table.
    const CONTROL: &str = "zebra";

    /// In two parts, so that no scanner takes it for a credential in the source.
    const RANDOM: &str = concat!("wJalrXUtnFEMI7K3MDEN", "GbPxRfiCYzq8Lk2mNvBt");

    fn is_reported(text: &str) -> bool {
        !clean(text, &Allowed::default()).notes.is_empty()
    }

    /// Returns true if an example holds for the entries, but not if `tested` is replaced by the
    /// control word.
    fn holds(example: &str, entries: [&str; 2], tested: usize) -> bool {
        let (expected, template) = (example.starts_with('>'), &example[2..]);
        let text = |entries: [&str; 2]| {
            let text = template.replace("{random}", RANDOM).replace("\\n", "\n");
            text.replace("{}", entries[0]).replace("{2}", entries[1])
        };
        let mut control = entries;
        control[tested] = CONTROL;
        is_reported(&text(entries)) == expected && is_reported(&text(control)) != expected
    }

    /// Returns the entries of a rule that make no difference in any example.
    fn entries_without_effect(rule: &'static str, examples: &[&str]) -> Vec<String> {
        let [first, second] = columns(rule);
        let texts = |column| -> Vec<String> {
            entries(column).map(|entry| Phrase::parse(entry).text.into_owned()).collect()
        };
        let (first, second) = (texts(first), texts(second));
        let empty = [String::new()];
        let partners = if second.is_empty() { &empty[..] } else { &second };
        let has_effect = |entry: &str, tested: usize| {
            let capital = entry[..entry.chars().next().map_or(0, char::len_utf8)].to_uppercase();
            let capital = format!("{capital}{}", entry.chars().skip(1).collect::<String>());
            [entry, &capital, &entry.to_uppercase()].into_iter().any(|entry| {
                let others = if tested == 0 { partners } else { &first };
                others.iter().any(|other| {
                    let both = if tested == 0 { [entry, other] } else { [other.as_str(), entry] };
                    examples.iter().any(|example| holds(example, both, tested))
                })
            })
        };
        let first = first.iter().filter(|entry| !has_effect(entry, 0));
        let second = second.iter().filter(|entry| *entry != "-" && !has_effect(entry, 1));
        first.chain(second).cloned().collect()
    }

    #[test]
    fn every_rule_fires_on_an_example_of_its_own() {
        let mut without_effect = Vec::new();
        for file in FILES {
            let names =
                file.lines().filter_map(|line| line.strip_prefix("== ")?.strip_suffix(" =="));
            // Examples of token patterns are made from their alphabets, in `token_patterns.rs`.
            for name in names.filter(|name| *name != "token_patterns") {
                let examples: Vec<&str> =
                    lines(file, name).filter(|line| is_example(line)).collect();
                for rule in rules(file, name) {
                    let entries = entries_without_effect(rule, &examples);
                    without_effect
                        .extend(entries.into_iter().map(|entry| format!("{name}: {entry}")));
                }
            }
        }
        assert_eq!(without_effect, [] as [String; 0]);
    }

    /// A phrase within another one always fires first.
    #[test]
    fn no_phrase_contains_another() {
        let phrases = PhraseTable::new(PROMPT_INJECTION, "phrases");
        let padded: Vec<String> = phrases.texts().map(|phrase| format!(" {phrase} ")).collect();
        let contains_another = |phrase: &&String| {
            padded.iter().any(|other| other != *phrase && phrase.contains(other))
        };
        assert_eq!(padded.iter().filter(contains_another).count(), 0);
    }

    #[test]
    fn no_rule_is_written_twice() {
        for file in FILES {
            for name in
                file.lines().filter_map(|line| line.strip_prefix("== ")?.strip_suffix(" =="))
            {
                let mut seen = std::collections::BTreeSet::new();
                rules(file, name).for_each(|rule| assert!(seen.insert(rule), "{name}: {rule}"));
            }
        }
    }
}
