//! A line diff of two texts.

use super::output;

/// Maximum number of pairs of lines to compare. A larger part is shown as removed and added.
const MAX_PAIRS: usize = 4_000_000;

/// Returns the diff of two texts; empty if they are equal.
pub(super) fn diff(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    if before == after {
        return String::new();
    }
    let name = |text: Option<&str>, side| match text {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_string(),
    };
    let header = format!("--- {}\n+++ {}\n", name(before, "a"), name(after, "b"));
    let old: Vec<&str> = before.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<&str> = after.unwrap_or_default().split_inclusive('\n').collect();
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = tail.take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut text = header;
    let (mut i, mut j) = (0, 0);
    for (a, b) in common(old, new).into_iter().chain([(old.len(), new.len())]) {
        if i < a || j < b {
            text.push_str(&format!("@@ -{} +{} @@\n", head + i + 1, head + j + 1));
        }
        old[i..a].iter().for_each(|line| text.push_str(&format_line('-', line)));
        new[j..b].iter().for_each(|line| text.push_str(&format_line('+', line)));
        (i, j) = (a + 1, b + 1);
    }
    text
}

fn format_line(sign: char, line: &str) -> String {
    let ends = line.ends_with('\n');
    let line = line.trim_end_matches('\n').trim_end_matches('\r');
    let note = if ends { "" } else { "\\ no newline at the end\n" };
    format!("{sign}{}\n{note}", output::shown(line))
}

/// Returns the pairs of line numbers in a longest common subsequence.
fn common(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    if old.is_empty() || new.is_empty() || old.len().saturating_mul(new.len()) > MAX_PAIRS {
        return Vec::new();
    }
    let width = new.len() + 1;
    let mut longest = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = match old[i] == new[j] {
                true => longest[(i + 1) * width + j + 1] + 1,
                false => longest[(i + 1) * width + j].max(longest[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_lines_are_shown() {
        let text = diff("f", Some("a\nb\nc\nd\n"), Some("a\nx\nc\ne\nd"));
        assert_eq!(
            text,
            "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n+x\n@@ -4 +4 @@\n-d\n+e\n+d\n\\ no newline at the end\n"
        );
        assert_eq!(diff("f", None, Some("a\n")), "--- /dev/null\n+++ b/f\n@@ -1 +1 @@\n+a\n");
        assert_eq!(diff("f", Some("a"), Some("a")), "");
    }
}
