//! Unicode names of hidden characters.

use std::sync::LazyLock;

use super::rules;

/// Names of single characters, sorted by code point.
static NAMES: LazyLock<Vec<(u32, &str)>> = LazyLock::new(|| {
    rules::entries(include_str!("rules/unicode_names.txt"))
        .filter_map(|entry| {
            let (code, name) = entry.split_once(" = ")?;
            Some((u32::from_str_radix(code, 16).ok()?, name))
        })
        .collect()
});

/// Returns the Unicode name of a hidden character, or the name of its category.
pub fn name(c: char) -> String {
    let code = c as u32;
    if let Ok(at) = NAMES.binary_search_by_key(&code, |(code, _)| *code) {
        return NAMES[at].1.to_string();
    }
    let tagged = char::from_u32(code.wrapping_sub(0xE0000)).unwrap_or(' ');
    match code {
        0xFE00..=0xFE0F => format!("VARIATION SELECTOR-{}", code - 0xFE00 + 1),
        0xE0100..=0xE01EF => format!("VARIATION SELECTOR-{}", code - 0xE0100 + 17),
        0xE0030..=0xE0039 => format!("TAG DIGIT {tagged}"),
        0xE0041..=0xE005A => format!("TAG LATIN CAPITAL LETTER {tagged}"),
        0xE0061..=0xE007A => format!("TAG LATIN SMALL LETTER {}", tagged.to_ascii_uppercase()),
        0xE0021..=0xE007E => format!("TAG {tagged}"),
        0x13430..=0x1343F => "EGYPTIAN HIEROGLYPH FORMAT CONTROL".to_string(),
        _ if c.is_control() => "CONTROL".to_string(),
        _ if code & 0xFFFE == 0xFFFE || (0xFDD0..=0xFDEF).contains(&code) => {
            "NONCHARACTER".to_string()
        }
        _ => "UNASSIGNED".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_have_unicode_names() {
        let n_entries = rules::entries(include_str!("rules/unicode_names.txt")).count();
        assert_eq!(NAMES.len(), n_entries, "an entry is not `code point = name`");
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        for (c, expected) in [
            ('\u{202E}', "RIGHT-TO-LEFT OVERRIDE"),
            ('\u{1B}', "ESCAPE"),
            ('\u{FE0F}', "VARIATION SELECTOR-16"),
            ('\u{E01EF}', "VARIATION SELECTOR-256"),
            ('\u{E0061}', "TAG LATIN SMALL LETTER A"),
            ('\u{90}', "CONTROL"),
            ('\u{E0FFF}', "UNASSIGNED"),
        ] {
            assert_eq!(name(c), expected);
        }
    }
}
