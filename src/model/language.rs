//! Language codes in names of files and folders.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::rules;

/// Codes of languages into which documents are translated, in lower case.
static LANGUAGES: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| rules::entries(include_str!("rules/languages.txt")).collect());

/// Folders that contain one folder per language.
const CONTAINERS: &[&str] = &[
    "i18n",
    "l10n",
    "lang",
    "langs",
    "languages",
    "locale",
    "locales",
    "translation",
    "translations",
];

/// Returns true for a language code with or without a region or a script: `de`, `zh-CN`, `pt_br`.
pub fn is_code(word: &str) -> bool {
    let (code, region) = match word.split_once(['-', '_']) {
        Some((code, region)) => (code, Some(region)),
        None => (word, None),
    };
    let is_region = |region: &str| {
        region.bytes().all(|b| b.is_ascii_alphabetic()) && matches!(region.len(), 2 | 4)
    };
    matches!(code.len(), 2 | 3)
        && region.is_none_or(is_region)
        && LANGUAGES.contains(code.to_ascii_lowercase().as_str())
}

/// Returns true for a code of English, the language in which most originals are written.
pub fn is_english(code: &str) -> bool {
    code.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("en"))
}

/// Returns true for the name of a folder that contains one folder per language.
pub fn is_container(folder: &str) -> bool {
    CONTAINERS.iter().any(|name| folder.eq_ignore_ascii_case(name))
}

/// Splits a language off the end of a file's stem: `0001-x.zh-CN` gives `0001-x` and `zh-CN`.
pub fn split_suffix(stem: &str) -> Option<(&str, &str)> {
    let split = |stem: &str| stem.rfind(['.', '_', '-']).filter(|at| *at > 0);
    let last = split(stem)?;
    // A code with a region has a separator of its own, so the longer end is tried first.
    [split(&stem[..last]), Some(last)]
        .into_iter()
        .flatten()
        .map(|at| (&stem[..at], &stem[at + 1..]))
        .find(|(_, code)| is_code(code))
}

/// Returns a file's stem without the language at its end.
pub fn without_suffix(stem: &str) -> &str {
    split_suffix(stem).map_or(stem, |(rest, _)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_an_optional_region() {
        for code in ["de", "zh-CN", "pt_br", "zh-Hans", "JA"] {
            assert!(is_code(code), "{code}");
        }
        for word in ["db", "qa", "ui", "it", "de-x", "go", "", "-", "zh-"] {
            assert!(!is_code(word), "{word}");
        }
        assert_eq!(split_suffix("0001-x.zh-CN"), Some(("0001-x", "zh-CN")));
        assert_eq!(split_suffix("README_ja"), Some(("README", "ja")));
        assert_eq!(split_suffix("use-x"), None);
    }
}
