//! Decodes percent-encoded links.

/// Decodes percent-encoding. Invalid escapes stay unchanged.
pub fn percent_decoded(path: &str) -> String {
    if !path.contains('%') {
        return path.to_string();
    }
    let hex = |b: u8| (b as char).to_digit(16).map(|digit| digit as u8);
    let bytes = path.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits =
            (bytes.get(at + 1).copied().and_then(hex), bytes.get(at + 2).copied().and_then(hex));
        match (bytes[at], digits) {
            (b'%', (Some(high), Some(low))) => {
                decoded.push(high << 4 | low);
                at += 3;
            }
            (byte, _) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
