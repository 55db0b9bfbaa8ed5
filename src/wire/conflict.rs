//! Texts with git's conflict markers.

/// Starts of conflict markers; a label may follow after a space.
const MARKERS: [&[u8]; 4] = [b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"];

/// Returns the first byte of a marker line.
fn marker(line: &[u8]) -> Option<u8> {
    let line = line.trim_ascii_end();
    let label = MARKERS.iter().find_map(|marker| line.strip_prefix(*marker))?;
    (label.is_empty() || label.starts_with(b" ")).then(|| line[0])
}

/// Returns true if a text has an opening, a middle and a closing marker, in this order.
pub fn has_markers(text: &[u8]) -> bool {
    let mut expected = [b'<', b'=', b'>'].into_iter().peekable();
    for line in text.split(|byte| *byte == b'\n') {
        if marker(line).is_some() && marker(line) == expected.peek().copied() {
            expected.next();
        }
    }
    expected.peek().is_none()
}

/// Returns both sides of a text in conflict. Lines outside the markers are in both.
pub fn sides(text: &[u8]) -> [Vec<u8>; 2] {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut part = None;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match (marker(line), part) {
            (Some(b'<'), None) => part = Some(b'<'),
            (Some(b'|'), Some(b'<')) => part = Some(b'|'),
            (Some(b'='), Some(b'<' | b'|')) => part = Some(b'='),
            (Some(b'>'), Some(b'=')) => part = None,
            (_, Some(b'<')) => ours.extend_from_slice(line),
            (_, Some(b'=')) => theirs.extend_from_slice(line),
            (_, Some(_)) => {}
            (_, None) => {
                ours.extend_from_slice(line);
                theirs.extend_from_slice(line);
            }
        }
    }
    [ours, theirs]
}

/// Returns the lines of both sides of a text in conflict, or all lines of any other text, without
/// line ends.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let has_markers = has_markers(text);
    let mut in_base = false;
    let lines = text.split(|byte| *byte == b'\n').filter(move |line| {
        let marker = marker(line).filter(|_| has_markers);
        in_base = marker.map_or(in_base, |marker| marker == b'|');
        marker.is_none() && !in_base
    });
    lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_conflict_are_returned() {
        let text = b"a\n<<<<<<< HEAD\nb\n||||||| base\nc\n=======\nd\n>>>>>>> x\ne\n";
        assert!(has_markers(text));
        assert_eq!(sides(text), [b"a\nb\ne\n".to_vec(), b"a\nd\ne\n".to_vec()]);
        let all: Vec<&[u8]> = lines(text).collect();
        assert_eq!(all, [&b"a"[..], b"b", b"d", b"e", b""]);
    }

    #[test]
    fn a_heading_or_a_lone_marker_is_no_conflict() {
        assert!(!has_markers(b"Title\n=======\n\n>>>>>>> quoted\n"));
        assert!(!has_markers(b"<<<<<<<x\n=======\n>>>>>>>y\n"));
        assert!(!has_markers(b"<<<<<<< a\nb\n"));
    }
}
