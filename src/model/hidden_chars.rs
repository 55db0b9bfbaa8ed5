//! Finds characters that a reader cannot see.

use super::byte_scan;

/// Returns the hidden characters of a text with their offsets.
///
/// Joiners and selectors that shape an emoji, a flag or a letter have a visible effect, so they are
/// not hidden.
pub fn hidden_in(text: &str) -> Vec<(usize, char)> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut selectors = SelectorRun::default();
    loop {
        // Most text is visible ASCII, which is skipped quickly.
        at += byte_scan::prefix_len(&text.as_bytes()[at..], is_plain_byte);
        let Some(c) = text[at..].chars().next() else { break };
        let end = at + c.len_utf8();
        if may_hide(c) && hides(c, &text[..at], &text[end..]) {
            found.push((at, c));
        } else if is_selector(c) {
            selectors.add(at, c, text, &mut found);
        }
        at = if c == BLACK_FLAG { end + flag_tags(&text[end..]) } else { end };
    }
    selectors.finish(&mut found);
    if selectors.found_any {
        found.sort_unstable_by_key(|(at, _)| *at);
    }
    found
}

/// A run of at least this many characters, each with a variation selector, is not ordinary writing
/// if the selectors differ.
const MIN_HIDDEN_RUN: usize = 6;

/// Variation selectors of consecutive characters.
///
/// A selector chooses a variant of the character before it. The variants are hard to tell apart, so
/// the choice of selectors can encode a hidden text.
#[derive(Default)]
struct SelectorRun {
    selectors: Vec<(usize, char)>,
    /// True if any run so far was reported as hidden.
    found_any: bool,
}

impl SelectorRun {
    fn add(&mut self, at: usize, c: char, text: &str, found: &mut Vec<(usize, char)>) {
        let base = text[..at].chars().next_back().map_or(at, |base| at - base.len_utf8());
        if self.selectors.last().is_some_and(|(last, c)| last + c.len_utf8() != base) {
            self.finish(found);
        }
        self.selectors.push((at, c));
    }

    /// Ends the run and adds its selectors to `found` if they may encode a text.
    fn finish(&mut self, found: &mut Vec<(usize, char)>) {
        let run = std::mem::take(&mut self.selectors);
        let differ = run.iter().any(|(_, c)| Some(c) != run.first().map(|(_, c)| c));
        if run.len() >= MIN_HIDDEN_RUN && differ {
            found.extend(run);
            self.found_any = true;
        }
    }
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

/// Returns the visible mark that replaces a hidden character, such as `[U+202E]`.
pub fn mark(c: char) -> String {
    format!("[U+{:04X}]", c as u32)
}

/// Returns true for visible ASCII, line ends and tabs.
fn is_plain_byte(b: u8) -> bool {
    (b' '..0x7F).contains(&b) | (b == b'\n') | (b == b'\r') | (b == b'\t')
}

/// Returns true if a character is hidden in at least some contexts.
pub fn may_hide(c: char) -> bool {
    match c {
        '\n' | '\r' | '\t' | ' '..='~' => false,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}'
        | '\u{17B5}' => true,
        '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' => true,
        '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FFA0}' | '\u{FEFF}' => true,
        '\u{FE00}'..='\u{FE0F}' | '\u{FFF0}'..='\u{FFFB}' | '\u{FDD0}'..='\u{FDEF}' => true,
        '\u{13430}'..='\u{1343F}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D159}' => true,
        '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}' => true,
        c => c.is_control() || (c as u32) & 0xFFFE == 0xFFFE,
    }
}

/// Returns true if a character for which [`may_hide`] holds is hidden between these neighbours.
fn hides(c: char, left: &str, right: &str) -> bool {
    let before = left.chars().next_back().unwrap_or(' ');
    let after = right.chars().next().unwrap_or(' ');
    match c {
        '\u{200B}' => !(is_unspaced(before) && is_unspaced(after)),
        '\u{200C}' => !joins(before),
        '\u{200D}' => !(joins(before) || is_emoji(before) && is_emoji(after)),
        // A digit becomes a keycap; a symbol becomes an emoji or stops being one.
        '\u{FE0E}' | '\u{FE0F}' if before.is_ascii() => {
            !("0123456789#*".contains(before) && after == '\u{20E3}')
        }
        '\u{FE0E}' | '\u{FE0F}' => !is_emoji(before) || before == '\u{FE0F}',
        '\u{FE00}'..='\u{FE0D}' => {
            let shaped = before >= '\u{1000}' && before.is_alphanumeric();
            !shaped && !('\u{2190}'..='\u{2BFF}').contains(&before)
        }
        '\u{E0100}'..='\u{E01EF}' => !is_han(before),
        '\u{180B}'..='\u{180D}' | '\u{180F}' => !is_mongolian(before),
        '\u{180E}' => !(is_mongolian(before) && is_mongolian(after)),
        '\u{2800}' => !is_braille(before) && !is_braille(after),
        '\u{061C}' | '\u{200E}' | '\u{200F}' => {
            let repeated = matches!(before, '\u{061C}' | '\u{200E}' | '\u{200F}');
            repeated || !(reads_leftward(left.chars().rev()) || reads_leftward(right.chars()))
        }
        _ => true,
    }
}

/// Maximum distance in characters between a direction mark and the letters that need it.
const MARK_REACH: usize = 64;

/// Returns true if a right-to-left letter follows on the same line. Direction marks change the
/// layout of punctuation next to such letters; anywhere else they have no visible effect.
fn reads_leftward(mut line: impl Iterator<Item = char>) -> bool {
    let mut line = line.by_ref().take(MARK_REACH).take_while(|c| *c != '\n');
    line.any(|c| {
        matches!(c, '\u{0590}'..='\u{08FF}' | '\u{FB1D}'..='\u{FDCF}' | '\u{FE70}'..='\u{FEFC}')
            && c.is_alphabetic()
    })
}

/// Returns true if a joiner changes the shape of this letter: in Arabic, Indic and related scripts.
fn joins(c: char) -> bool {
    matches!(c, '\u{0600}'..='\u{061B}' | '\u{061D}'..='\u{08FF}' | '\u{0900}'..='\u{0DFF}'
        | '\u{0F00}'..='\u{109F}' | '\u{1780}'..='\u{17B3}' | '\u{17B6}'..='\u{17FF}'
        | '\u{1820}'..='\u{18AF}' | '\u{1B00}'..='\u{1CFF}' | '\u{A800}'..='\u{ABFF}'
        | '\u{FB50}'..='\u{FDCF}' | '\u{FE70}'..='\u{FEFC}' | '\u{11000}'..='\u{11FFF}')
}

/// Returns true for letters of scripts without spaces (Thai, Lao, Myanmar and Khmer), in which a
/// zero-width space marks where a line may break.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0E01}'..='\u{0E4E}' | '\u{0E81}'..='\u{0EDF}' | '\u{1000}'..='\u{109F}'
        | '\u{1780}'..='\u{17B3}' | '\u{17B6}'..='\u{17D3}' | '\u{AA60}'..='\u{AA7F}')
}

fn is_emoji(c: char) -> bool {
    matches!(c, '©' | '®' | '\u{203C}' | '\u{2049}' | '\u{20E3}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}'
        | '\u{FE0F}' | '\u{1F000}'..='\u{1FAFF}')
        && c != '\u{2800}'
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFD}')
}

fn is_mongolian(c: char) -> bool {
    matches!(c, '\u{1820}'..='\u{18AF}')
}

fn is_braille(c: char) -> bool {
    matches!(c, '\u{2801}'..='\u{28FF}')
}

const BLACK_FLAG: char = '\u{1F3F4}';

/// Returns the length in bytes of the tag characters after a black flag, if they make it the flag
/// of England, Scotland or Wales.
///
/// No font draws other tag sequences, so those could hide any text.
fn flag_tags(after: &str) -> usize {
    const REGIONS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];
    let tags: String = after
        .chars()
        .take(6)
        .map_while(|c| char::from_u32((c as u32).checked_sub(0xE0000)?))
        .collect();
    let is_region = REGIONS.iter().any(|region| tags.strip_suffix('\u{7F}') == Some(region));
    if is_region { 6 * 4 } else { 0 }
}

/// Escapes control and hidden characters of a text for a terminal, on one line.
pub fn visible(text: &str) -> String {
    let hidden = hidden_in(text);
    let mut hidden = hidden.iter().peekable();
    let mut shown = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let is_hidden = hidden.next_if(|(place, _)| *place == at).is_some();
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            c if is_hidden => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joiners_and_selectors_in_emoji_and_scripts_are_not_hidden() {
        for text in [
            "👩\u{200D}💻 👨\u{200D}👩\u{200D}👧\u{200D}👦 ❤\u{FE0F}\u{200D}🔥 🏳\u{FE0F}\u{200D}🌈",
            "👍🏽 👩🏾\u{200D}🚀 1\u{FE0F}\u{20E3} #\u{FE0F}\u{20E3} ✔\u{FE0F} ☺\u{FE0E} ©\u{FE0F} 🇩🇪",
            "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F} Scotland",
            "می\u{200C}خواهم نامه\u{200C}ای",
            "क्\u{200D}ष ന്\u{200D} ක්\u{200D}ර",
            "שלום עולם, مرحبا بالعالم",
            "גרסה 2.0\u{200F} של C++\u{200E} עברית",
            "葛\u{E0100}城 ≨\u{FE00} ⠓⠑\u{2800}⠇",
            "ᠮᠣᠩ\u{180B}ᠭ\u{180E}ᠠ",
            "ភាសា\u{200B}ខ្មែរ ภาษา\u{200B}ไทย ພາສາ\u{200B}ລາວ မြန်မာ\u{200B}ဘာသာ",
            "辻\u{E0100}邉\u{E0101}城 ❤\u{FE0F}☀\u{FE0F}✔\u{FE0F}☺\u{FE0F}✂\u{FE0F}✈\u{FE0F}☎\u{FE0F}",
            "naïve – “quotes” … ☃ 漢字 \u{A0}\u{3000}",
        ] {
            assert_eq!(hidden_in(text), [], "{text}");
        }
    }

    #[test]
    fn characters_without_visible_effect_are_hidden() {
        let hidden = "\u{200B}\u{200C}\u{200D}\u{2060}\u{FEFF}\u{202E}\u{2066}\u{200E}\u{061C}\u{AD}\
            \u{180E}\u{115F}\u{1160}\u{3164}\u{FFA0}\u{2800}\u{FFF9}\u{1D173}\u{E0001}\
            \u{E0041}\u{FE0F}\u{FE01}\u{E0101}\u{1B}\u{7}\u{8}\u{7F}\u{85}\u{9B}\u{2028}\
            \u{2064}\u{206A}\u{17B4}\u{034F}\u{FFFE}\u{1BCA0}";
        for c in hidden.chars() {
            let text = format!("a{c}b");
            assert_eq!(hidden_in(&text), [(1, c)], "{}", mark(c));
        }
        assert_eq!(hidden_in("🏴\u{E0067}\u{E0062}\u{E0078}\u{E007F}").len(), 4);
        assert_eq!(hidden_in("❤\u{FE0F}\u{FE0F}\u{FE0F}").len(), 2);
        assert_eq!(hidden_in("ไทย\u{200B}\u{200B}ไทย").len(), 2);
        assert_eq!(hidden_in("ไทย\u{200B}a").len(), 1);
        assert_eq!(hidden_in("👩\u{200D}a").len(), 1);
        assert_eq!(hidden_in("می\u{200C}\u{200C}خ").len(), 1);
    }

    #[test]
    fn a_run_of_different_selectors_is_hidden() {
        let row: String =
            "漢字仮名交文".chars().zip('\u{E0100}'..).flat_map(|(c, s)| [c, s]).collect();
        assert_eq!(hidden_in(&format!("a {row} b")).len(), 6);
        let found = hidden_in(&format!("\u{202E}{row}x\u{202E}"));
        assert!(found.len() == 8 && found.is_sorted_by_key(|(at, _)| *at), "{found:?}");
        let symbols: String = "❤☀✔☺✂✈"
            .chars()
            .zip(['\u{FE0F}', '\u{FE0E}'].into_iter().cycle())
            .flat_map(|(c, s)| [c, s])
            .collect();
        assert_eq!(hidden_in(&symbols).len(), 6);
    }
}
