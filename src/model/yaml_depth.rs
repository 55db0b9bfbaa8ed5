//! Nesting depth of YAML, checked before the text reaches a parser.

/// Maximum nesting of YAML that is parsed. Deeper YAML takes a parser quadratic time or overflows
/// its stack.
pub const MAX_DEPTH: usize = 64;

/// Returns true if a text nests deeper than `max`. Brackets in quotes are counted too, which does
/// no harm because a header has few of them.
pub fn is_deep(text: &str, max: usize) -> bool {
    let mut depth = 0usize;
    let mut indents: Vec<usize> = Vec::new();
    for line in text.lines() {
        let marks = line.as_bytes();
        let n_dashes = marks.windows(2).filter(|pair| matches!(*pair, b"- " | b"? ")).count();
        let indent = marks.iter().take_while(|b| **b == b' ').count();
        // A line with more indentation than the one above it opens a level.
        if indent < marks.len() {
            let closed = indents.iter().rev().take_while(|open| **open >= indent).count();
            indents.truncate(indents.len() - closed);
            indents.push(indent);
        }
        if n_dashes > max || indents.len() > max || indent > 16 * max {
            return true;
        }
        for mark in marks {
            match mark {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > max {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_deliberately_nested_yaml_is_too_deep() {
        let is_deep = |text: &str| super::is_deep(text, MAX_DEPTH);
        assert!(is_deep(&"[".repeat(100)));
        assert!(is_deep(&"- ".repeat(100)));
        assert!(is_deep(&"{a: ".repeat(100)));
        let nested: String = (0..100).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
        assert!(is_deep(&nested));
        assert!(!is_deep("title: a - b - c\nlist: [1, [2, {x: 3}]]\n- one\n- two\n"));
        assert!(!is_deep(&"a:\n  b:\n\n    c: 1\n".repeat(100)));
    }
}
