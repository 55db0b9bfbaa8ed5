//! Which characters a reader cannot see.

/// Whether a character is a control other than a line end or a tab.
fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

/// Whether a character hides from readers where it stands; `before` decides for joiners.
pub fn is_hidden(c: char, before: char) -> bool {
    match c {
        // Joiners hold emoji and some scripts together; alone or after ASCII they only hide.
        '\u{200C}' | '\u{200D}' => before.is_ascii(),
        // One selector after a visible character chooses its shape.
        '\u{FE00}'..='\u{FE0F}' => {
            before.is_whitespace() || matches!(before, '\u{FE00}'..='\u{FE0F}')
        }
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}'
        | '\u{17B5}' => true,
        '\u{180B}'..='\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}' => true,
        '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{3164}'
        | '\u{FEFF}'
        | '\u{FFA0}' => true,
        '\u{FFF9}'..='\u{FFFB}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}' => true,
        c => is_control(c),
    }
}
