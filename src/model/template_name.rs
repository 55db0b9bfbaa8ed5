//! Recognises the names of templates.

use std::sync::LazyLock;

use super::{FileName, language, rules};

/// Words for `template` in other languages.
static TEMPLATE_WORDS: LazyLock<Vec<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/template_words.txt")).collect());

/// Returns true for the name of a template to copy and fill in.
pub(super) fn is_template(name: &FileName) -> bool {
    let is_zero = name.number.as_ref().is_some_and(|number| number.as_str() == "0");
    // `0012-use-template` is a decision, `0001-proposal-template` is a template.
    let is_kind = |word: &str| {
        let word = word.strip_prefix("de-").unwrap_or(word);
        ["adr", "decision", "design", "enhancement", "kep", "proposal", "rfc"].contains(&word)
    };
    let is_named = |slug: &str, word: &str, is_sure: bool| {
        let before = slug.strip_suffix(word).and_then(|kind| kind.strip_suffix('-'));
        let after = || slug.strip_prefix(word).and_then(|kind| kind.strip_prefix('-'));
        slug == word
            || before.or_else(after).is_some_and(|kind| is_zero || is_sure || is_kind(kind))
    };
    let slug = language::without_suffix(&name.slug);
    let unnumbered = name.number.is_none();
    let placeholder =
        ["yyyymmdd", "nnnn-", "xxxx-", "yyyy-mm-dd"].iter().any(|p| name.slug.starts_with(p));
    placeholder
        || is_named(slug, "template", unnumbered)
        || TEMPLATE_WORDS.iter().any(|word| is_named(slug, word, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_in_other_languages_are_recognised() {
        assert!(FileName::parse("0000-modele-adr.md").is_template);
        assert!(FileName::parse("0000-adr-template-de.md").is_template);
        assert!(FileName::parse("adr-vorlage.md").is_template);
        assert!(FileName::parse("plantilla-de-adr.md").is_template);
        assert!(!FileName::parse("modelo-de-dados.md").is_template);
    }
}
