//! House rules about words, names and the size of test files.

use std::collections::BTreeMap;

use super::{MAX_FILE_LINES, files, production, sources};

/// Private words and their usual replacements. The glossary is in ARCHITECTURE.md, "Terms".
const BANNED: &[(&str, &str)] = &[
    ("told", "rendered, hashed, logged, reported or listed"),
    ("tells", "reports, lists or returns"),
    ("hears", "is notified of or receives"),
    ("whoever", "the caller or a user"),
    ("nobody", "no other document or no user"),
    ("somebody", "a user"),
    ("strangers", "rarely used pairs or other users"),
    ("anew", "rebuild, recompute or again from scratch"),
    ("manieth", "n-th"),
    ("likeness", "cosine similarity"),
    ("tongue", "language"),
];

/// Names of the standard prelude, which a type of this crate would shadow.
const PRELUDE: &[&str] = &[
    "AsMut",
    "AsRef",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Hash",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Send",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Vec",
];

/// The words of a text in lower case. `is_told`, `IsTold` and `so-manieth` have two words each.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous = ' ';
    for c in text.chars() {
        if !c.is_alphabetic() || c.is_uppercase() && previous.is_lowercase() {
            words.push(String::new());
        }
        if c.is_alphabetic() {
            words.last_mut().unwrap().extend(c.to_lowercase());
        }
        previous = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The line without the contents of its string literals.
fn without_strings(line: &str) -> String {
    let line = line.replace("\\\"", "");
    line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

/// Banned words of a line as `file:line: word: fix`.
fn banned(place: &str, line: &str) -> Vec<String> {
    let words = words(line);
    let found = BANNED.iter().filter(|(word, _)| words.iter().any(|other| other == word));
    found.map(|(word, fix)| format!("{place}: \"{word}\": write {fix}")).collect()
}

fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} places:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn private_words_are_banned_in_src() {
    let mut wrong = Vec::new();
    for path in files("src").keys() {
        let path = format!("src/{}", path.display());
        wrong.extend(banned(&path, &path));
    }
    for (path, text) in sources() {
        // The examples in unit tests may contain any text.
        let n_lines = production(&text).lines().count();
        for (i, line) in text.lines().enumerate() {
            let line = if i < n_lines { line.to_string() } else { without_strings(line) };
            wrong.extend(banned(&format!("src/{}:{}", path.display(), i + 1), &line));
        }
    }
    assert_none(&wrong);
}

#[test]
fn doc_comments_do_not_open_with_a_question_word() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let mut inside = false;
        for (i, line) in text.lines().enumerate() {
            let line = line.trim_start();
            let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
            let first = doc.and_then(|doc| doc.split_whitespace().next()).unwrap_or_default();
            if !inside && ["What", "Who", "Whose"].contains(&first) {
                wrong.push(format!(
                    "src/{}:{}: {line}: open with a verb (\"Returns …\") or name the thing",
                    path.display(),
                    i + 1
                ));
            }
            inside = doc.is_some();
        }
    }
    assert_none(&wrong);
}

#[test]
fn test_files_stay_small() {
    let mut wrong = Vec::new();
    for (path, text) in files("tests/suite") {
        let n_lines = text.lines().count();
        if n_lines > MAX_FILE_LINES {
            wrong.push(format!(
                "tests/suite/{}: {n_lines} lines, at most {MAX_FILE_LINES}: split it by topic",
                path.display()
            ));
        }
    }
    assert_none(&wrong);
}

/// The name that a line defines as a type. Associated types are indented and do not count, nor do
/// names that a macro fills in.
fn defined_type(line: &str) -> Option<String> {
    let is_outer = !line.starts_with(' ');
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    match words.next()? {
        "struct" | "enum" | "trait" => {}
        "type" if is_outer => {}
        _ => return None,
    }
    let name: String =
        words.next()?.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    name.starts_with(char::is_uppercase).then_some(name)
}

/// Every definition of a type outside unit tests, by name, with its places.
fn types() -> BTreeMap<String, Vec<String>> {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in sources() {
        for (i, line) in production(&text).lines().enumerate() {
            if let Some(name) = defined_type(line) {
                types.entry(name).or_default().push(format!("src/{}:{}", path.display(), i + 1));
            }
        }
    }
    types
}

#[test]
fn a_type_name_means_one_thing() {
    let repeated = types().into_iter().filter(|(_, places)| places.len() > 1);
    let wrong: Vec<String> = repeated
        .map(|(name, places)| format!("{}: {name}: rename all but one", places.join(", ")))
        .collect();
    assert_none(&wrong);
}

#[test]
fn no_name_shadows_the_prelude() {
    let mut wrong = Vec::new();
    for name in PRELUDE {
        for place in types().get(*name).into_iter().flatten() {
            wrong.push(format!("{place}: {name}: rename it, the prelude has this name"));
        }
    }
    for (path, text) in sources() {
        for (i, line) in text.lines().enumerate() {
            let Some(imported) = line.trim_start().strip_prefix("use ") else { continue };
            if !imported.starts_with("crate::") && !imported.starts_with("super::") {
                continue;
            }
            let names = imported.split(|c: char| !c.is_alphanumeric() && c != '_');
            for name in names.filter(|name| PRELUDE.contains(name)) {
                let place = format!("src/{}:{}", path.display(), i + 1);
                wrong.push(format!("{place}: {name}: rename it, the prelude has this name"));
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn words_are_split_at_underscores_and_capitals() {
    assert_eq!(
        words("fn is_told(SoTold, so-manieth)"),
        ["fn", "is", "told", "so", "told", "so", "manieth"]
    );
    assert_eq!(without_strings(r#"let a = "told \" told"; b"#), "let a = \"\"; b");
}
