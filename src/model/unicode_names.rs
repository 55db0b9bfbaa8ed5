//! Unicode names of hidden characters.

/// Names of the control characters below U+0020.
const CONTROLS: [&str; 32] = [
    "NULL",
    "START OF HEADING",
    "START OF TEXT",
    "END OF TEXT",
    "END OF TRANSMISSION",
    "ENQUIRY",
    "ACKNOWLEDGE",
    "BELL",
    "BACKSPACE",
    "CHARACTER TABULATION",
    "LINE FEED",
    "LINE TABULATION",
    "FORM FEED",
    "CARRIAGE RETURN",
    "SHIFT OUT",
    "SHIFT IN",
    "DATA LINK ESCAPE",
    "DEVICE CONTROL ONE",
    "DEVICE CONTROL TWO",
    "DEVICE CONTROL THREE",
    "DEVICE CONTROL FOUR",
    "NEGATIVE ACKNOWLEDGE",
    "SYNCHRONOUS IDLE",
    "END OF TRANSMISSION BLOCK",
    "CANCEL",
    "END OF MEDIUM",
    "SUBSTITUTE",
    "ESCAPE",
    "INFORMATION SEPARATOR FOUR",
    "INFORMATION SEPARATOR THREE",
    "INFORMATION SEPARATOR TWO",
    "INFORMATION SEPARATOR ONE",
];

/// Names of other single characters, sorted by code point.
const NAMES: &[(u32, &str)] = &[
    (0x7F, "DELETE"),
    (0x85, "NEXT LINE"),
    (0x9B, "CONTROL SEQUENCE INTRODUCER"),
    (0xAD, "SOFT HYPHEN"),
    (0x34F, "COMBINING GRAPHEME JOINER"),
    (0x61C, "ARABIC LETTER MARK"),
    (0x115F, "HANGUL CHOSEONG FILLER"),
    (0x1160, "HANGUL JUNGSEONG FILLER"),
    (0x17B4, "KHMER VOWEL INHERENT AQ"),
    (0x17B5, "KHMER VOWEL INHERENT AA"),
    (0x180B, "MONGOLIAN FREE VARIATION SELECTOR ONE"),
    (0x180C, "MONGOLIAN FREE VARIATION SELECTOR TWO"),
    (0x180D, "MONGOLIAN FREE VARIATION SELECTOR THREE"),
    (0x180E, "MONGOLIAN VOWEL SEPARATOR"),
    (0x180F, "MONGOLIAN FREE VARIATION SELECTOR FOUR"),
    (0x200B, "ZERO WIDTH SPACE"),
    (0x200C, "ZERO WIDTH NON-JOINER"),
    (0x200D, "ZERO WIDTH JOINER"),
    (0x200E, "LEFT-TO-RIGHT MARK"),
    (0x200F, "RIGHT-TO-LEFT MARK"),
    (0x2028, "LINE SEPARATOR"),
    (0x2029, "PARAGRAPH SEPARATOR"),
    (0x202A, "LEFT-TO-RIGHT EMBEDDING"),
    (0x202B, "RIGHT-TO-LEFT EMBEDDING"),
    (0x202C, "POP DIRECTIONAL FORMATTING"),
    (0x202D, "LEFT-TO-RIGHT OVERRIDE"),
    (0x202E, "RIGHT-TO-LEFT OVERRIDE"),
    (0x2060, "WORD JOINER"),
    (0x2061, "FUNCTION APPLICATION"),
    (0x2062, "INVISIBLE TIMES"),
    (0x2063, "INVISIBLE SEPARATOR"),
    (0x2064, "INVISIBLE PLUS"),
    (0x2066, "LEFT-TO-RIGHT ISOLATE"),
    (0x2067, "RIGHT-TO-LEFT ISOLATE"),
    (0x2068, "FIRST STRONG ISOLATE"),
    (0x2069, "POP DIRECTIONAL ISOLATE"),
    (0x206A, "INHIBIT SYMMETRIC SWAPPING"),
    (0x206B, "ACTIVATE SYMMETRIC SWAPPING"),
    (0x206C, "INHIBIT ARABIC FORM SHAPING"),
    (0x206D, "ACTIVATE ARABIC FORM SHAPING"),
    (0x206E, "NATIONAL DIGIT SHAPES"),
    (0x206F, "NOMINAL DIGIT SHAPES"),
    (0x2800, "BRAILLE PATTERN BLANK"),
    (0x3164, "HANGUL FILLER"),
    (0xFEFF, "ZERO WIDTH NO-BREAK SPACE"),
    (0xFFA0, "HALFWIDTH HANGUL FILLER"),
    (0xFFF9, "INTERLINEAR ANNOTATION ANCHOR"),
    (0xFFFA, "INTERLINEAR ANNOTATION SEPARATOR"),
    (0xFFFB, "INTERLINEAR ANNOTATION TERMINATOR"),
    (0x1BCA0, "SHORTHAND FORMAT LETTER OVERLAP"),
    (0x1BCA1, "SHORTHAND FORMAT CONTINUING OVERLAP"),
    (0x1BCA2, "SHORTHAND FORMAT DOWN STEP"),
    (0x1BCA3, "SHORTHAND FORMAT UP STEP"),
    (0x1D159, "MUSICAL SYMBOL NULL NOTEHEAD"),
    (0x1D173, "MUSICAL SYMBOL BEGIN BEAM"),
    (0x1D174, "MUSICAL SYMBOL END BEAM"),
    (0x1D175, "MUSICAL SYMBOL BEGIN TIE"),
    (0x1D176, "MUSICAL SYMBOL END TIE"),
    (0x1D177, "MUSICAL SYMBOL BEGIN SLUR"),
    (0x1D178, "MUSICAL SYMBOL END SLUR"),
    (0x1D179, "MUSICAL SYMBOL BEGIN PHRASE"),
    (0x1D17A, "MUSICAL SYMBOL END PHRASE"),
    (0xE0001, "LANGUAGE TAG"),
    (0xE0020, "TAG SPACE"),
    (0xE007F, "CANCEL TAG"),
];

/// Returns the Unicode name of a hidden character, or the name of its category.
pub fn name(c: char) -> String {
    let code = c as u32;
    if let Ok(at) = NAMES.binary_search_by_key(&code, |(code, _)| *code) {
        return NAMES[at].1.to_string();
    }
    let tagged = char::from_u32(code.wrapping_sub(0xE0000)).unwrap_or(' ');
    match code {
        0..0x20 => CONTROLS[code as usize].to_string(),
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
        assert!(NAMES.is_sorted_by_key(|(code, _)| *code));
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
