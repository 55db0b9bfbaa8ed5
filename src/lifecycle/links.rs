//! Rewrites the links of a document to files that were renamed.

use crate::link::{joined, relative};
use crate::model::TextFormat;
use crate::model::layout::folder_of;
use crate::model::text_format::EXTENSIONS;
use crate::parse;

/// Returns a text with every link rewritten for which `target` returns the path of another file, and
/// the number of those links. `target` is called with a path as written and with the paths below the
/// root that it can mean. `None` if nothing changes.
pub(super) fn rewritten(
    text: &str,
    path: &str,
    target: &dyn Fn(&str, &str) -> Option<String>,
) -> Option<(String, usize)> {
    let (mark, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => (&text[..3], body),
        None => ("", text),
    };
    let format = TextFormat::of_path(path).unwrap_or_default();
    let mut result = mark.to_string();
    let (mut at, mut n_links) = (0, 0);
    for range in parse::destinations(body, format) {
        if range.start < at {
            continue;
        }
        if let Some(new) = redirected(&body[range.clone()], path, target) {
            result += &body[at..range.start];
            result += &new;
            at = range.end;
            n_links += 1;
        }
    }
    result += &body[at..];
    (n_links > 0).then_some((result, n_links))
}

/// Returns the new spelling of one destination. Its fragment, and its folders if they are still
/// right, are written as before.
fn redirected(
    written: &str,
    from: &str,
    target: &dyn Fn(&str, &str) -> Option<String>,
) -> Option<String> {
    let bare = &written[..written.find(['#', '?']).unwrap_or(written.len())];
    if bare.is_empty() || bare.contains("://") || bare.starts_with("//") {
        return None;
    }
    let decoded = parse::percent_decoded(bare);
    let of_document = joined(from, &decoded);
    let of_root = joined("", decoded.trim_start_matches('/'));
    let candidates = of_document.into_iter().chain(of_root);
    let (full, new) = candidates.into_iter().find_map(|full| {
        let new = target(&decoded, &full)?;
        Some((full, new))
    })?;
    let file = new.rsplit('/').next().unwrap_or(&new);
    let has_extension = TextFormat::of_path(&decoded).is_some();
    let shown = if has_extension { file } else { TextFormat::without_extension(file) };
    let start = match folder_of(&full) == folder_of(&new) {
        true => bare.rfind('/').map_or("", |at| &bare[..=at]).to_string(),
        false if bare.starts_with('/') => format!("/{}", encoded(folder_of(&new), written) + "/"),
        false => {
            let path = relative(from, &new);
            let folder = path.rfind('/').map_or("", |at| &path[..=at]);
            let same = if bare.starts_with("./") && !folder.starts_with("..") { "./" } else { "" };
            format!("{same}{}", encoded(folder, written))
        }
    };
    Some(format!("{start}{}{}", encoded(shown, written), &written[bare.len()..]))
}

/// Encodes the characters that would end a destination. Where the old one has a bare space, it was in
/// angle brackets or quotes, and needs no encoding.
fn encoded(path: &str, written: &str) -> String {
    if written.contains(' ') {
        return path.to_string();
    }
    let mut result = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            ' ' => result.push_str("%20"),
            '(' => result.push_str("%28"),
            ')' => result.push_str("%29"),
            '<' => result.push_str("%3C"),
            '>' => result.push_str("%3E"),
            '%' => result.push_str("%25"),
            '#' => result.push_str("%23"),
            '?' => result.push_str("%3F"),
            c => result.push(c),
        }
    }
    result
}

/// Returns true if a path below the root names a document, also without its extension as websites
/// do.
pub(super) fn names(full: &str, document: &str) -> bool {
    full == document
        || EXTENSIONS.iter().any(|(extension, _)| {
            document.strip_suffix(extension).and_then(|stem| stem.strip_suffix('.')) == Some(full)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(text: &str) -> String {
        let target = |_: &str, full: &str| {
            names(full, "docs/a b.draft.md").then(|| "docs/a b.accepted.md".to_string())
        };
        rewritten(text, "docs/x.md", &target).map_or(String::new(), |(text, _)| text)
    }

    #[test]
    fn a_link_keeps_everything_but_the_name() {
        for (old, new) in [
            ("[a](a%20b.draft.md)", "[a](a%20b.accepted.md)"),
            ("[a](<a b.draft.md> 't')", "[a](<a b.accepted.md> 't')"),
            ("[a](./a%20b.draft.md#part)", "[a](./a%20b.accepted.md#part)"),
            ("[a](/docs/a%20b.draft)", "[a](/docs/a%20b.accepted)"),
            ("[a](../docs/a%20b.draft.md)", "[a](../docs/a%20b.accepted.md)"),
            ("[a]\r\n\r\n[a]: a%20b.draft.md\r\n", "[a]\r\n\r\n[a]: a%20b.accepted.md\r\n"),
            ("\u{feff}[a](a%20b.draft.md)", "\u{feff}[a](a%20b.accepted.md)"),
        ] {
            assert_eq!(moved(old), new);
        }
        for other in ["[a](b.md)", "`[a](a%20b.draft.md)`", "a%20b.draft.md", "[a](#a)"] {
            assert_eq!(moved(other), "", "{other}");
        }
    }

    #[test]
    fn a_link_to_another_folder_is_relative_to_the_document() {
        let target =
            |written: &str, _: &str| (written == "old/a.md").then(|| "docs/new/a.md".to_string());
        let (text, n_links) = rewritten("[a](old/a.md#b) [a](old/b.md)", "docs/x.md", &target)
            .expect("one link changes");
        assert_eq!((text.as_str(), n_links), ("[a](new/a.md#b) [a](old/b.md)", 1));
    }
}
