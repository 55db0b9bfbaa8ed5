//! Hidden characters are reported and shown; ordinary scripts stay as they are.

use super::{URI, project_with, see, token};

#[test]
fn hidden_characters_are_reported_and_removed() {
    for (text, finding, c) in [
        ("ab\u{202E}cd", "3:3 \"hidden character U+202E RIGHT-TO-LEFT OVERRIDE", '\u{202E}'),
        ("ab\u{200B}cd", "U+200B ZERO WIDTH SPACE", '\u{200B}'),
        (
            "a\u{E0041}\u{E0042}\u{E0043}\u{E0044}\u{E0045}\u{E0046}",
            "6 hidden characters from U+E0041 TAG LATIN CAPITAL LETTER A",
            '\u{E0042}',
        ),
        ("h\u{FE01}i\u{FE02}", "U+FE01 VARIATION SELECTOR-2", '\u{FE01}'),
        ("x\u{E0101}\u{E0102}", "U+E0101 VARIATION SELECTOR-18", '\u{E0101}'),
        ("a\u{3164}b", "U+3164 HANGUL FILLER", '\u{3164}'),
        ("a\u{2800}b", "U+2800 BRAILLE PATTERN BLANK", '\u{2800}'),
        ("a\u{115F}b", "U+115F HANGUL CHOSEONG FILLER", '\u{115F}'),
        ("so\u{AD}ft", "U+00AD SOFT HYPHEN", '\u{AD}'),
        ("a\u{180E}b", "U+180E MONGOLIAN VOWEL SEPARATOR", '\u{180E}'),
        ("a\u{FFF9}b", "U+FFF9 INTERLINEAR ANNOTATION ANCHOR", '\u{FFF9}'),
        ("a\u{1D173}b", "U+1D173 MUSICAL SYMBOL BEGIN BEAM", '\u{1D173}'),
        ("a\u{2063}b", "U+2063 INVISIBLE SEPARATOR", '\u{2063}'),
        ("a\u{FEFF}b", "U+FEFF ZERO WIDTH NO-BREAK SPACE", '\u{FEFF}'),
        ("a\u{200F}b", "U+200F RIGHT-TO-LEFT MARK", '\u{200F}'),
        ("\u{1B}[31mred", "U+001B ESCAPE", '\u{1B}'),
        ("a\u{8}b", "U+0008 BACKSPACE", '\u{8}'),
        ("a\u{9B}31m", "U+009B CONTROL SEQUENCE INTRODUCER", '\u{9B}'),
        ("a\u{2028}b", "U+2028 LINE SEPARATOR", '\u{2028}'),
    ] {
        for document in [
            format!("# T\n\n{text}\n"),
            format!("---\ntitle: \"{text}\"\n---\n\nText.\n"),
            format!("# {text}\n\n## Decision\n\n{text}\n"),
        ] {
            let project = project_with(&document);
            let seen = see(&project);
            // Caches are binary, so they may contain any byte.
            let emitted: String = project
                .files()
                .iter()
                .filter(|(path, _)| !path.starts_with("docs/"))
                .map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned())
                .collect();
            assert!(!emitted.contains(c), "{document:?}");
            let place = if document.starts_with("# T") {
                finding
            } else {
                finding.split(" \"").last().unwrap()
            };
            let place = place.trim_start_matches("hidden character ");
            assert!(
                seen.findings.iter().any(|f| f.contains(place)),
                "{document:?}: {:?}",
                seen.findings
            );
            let shown = project.blue(&["knowledge", "show", URI]).stdout;
            assert!(
                !shown.contains(c)
                    && (shown.contains("[U+") || shown.contains("hidden characters from")),
                "{shown}"
            );
        }
    }
}

#[test]
fn text_encoded_in_variation_selectors_is_removed() {
    let row: String = "漢字仮名交文".chars().zip('\u{E0100}'..).flat_map(|(c, s)| [c, s]).collect();
    let project = project_with(&format!("# T\n\n{row}\n"));
    let seen = see(&project);
    let n = seen.findings.iter().filter(|f| f.starts_with("BLUE-DOC-010")).count();
    assert_eq!(n, 6, "{:?}", seen.findings);
    assert!(!project.blue(&["knowledge", "show", URI]).stdout.contains('\u{E0101}'));
}

#[test]
fn emoji_and_scripts_are_unchanged() {
    for text in [
        "👩\u{200D}💻 ❤\u{FE0F}\u{200D}🔥 1\u{FE0F}\u{20E3} 👍🏽 🇩🇪",
        "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
        "می\u{200C}خواهم",
        "क्\u{200D}ष",
        "שלום עולם",
        "مرحبا",
        "גרסה 2.0\u{200F} עברית",
        "葛\u{E0100}城",
        "ភាសា\u{200B}ខ្មែរ ภาษา\u{200B}ไทย",
    ] {
        let project = project_with(&format!("# {text}\n\n## Decision\n\nText {text}.\n"));
        let seen = see(&project);
        assert_eq!(seen.findings, [] as [&str; 0], "{text}");
        assert!(project.read("knowledge/adrs.md").contains(text), "{text}");
        assert!(project.read(".blue/context/documents.jsonl").contains(text), "{text}");
    }
}

#[test]
fn hidden_characters_pass_only_where_configured() {
    let project = project_with("# So\u{AD}ft a\u{200B}b\n\nText.\n");
    project.write("docs/adr/0002-b.md", "# Other so\u{AD}ft\n\nText.\n");
    let rule = |path: &str, reason: &str| {
        format!(
            "security:\n  allow_hidden:\n    - {{path: '{path}', chars: [U+00AD], reason: '{reason}'}}\n"
        )
    };
    project.write(".blue/config.yaml", rule("docs/adr/0001-*.md", ""));
    assert_eq!(project.blue(&["knowledge", "build"]).code, 2);
    project.write(".blue/config.yaml", rule("docs/adr/[", "x"));
    assert_eq!(project.blue(&["knowledge", "build"]).code, 2);
    project.write(".blue/config.yaml", rule("docs/adr/0001-*.md", "long German words"));
    let seen = see(&project);
    let digest = project.read("knowledge/adrs.md");
    assert!(
        digest.contains("So\u{AD}ft a[U+200B]b") && digest.contains("Other so[U+00AD]ft"),
        "{digest}"
    );
    assert_eq!(seen.findings.len(), 2, "{:?}", seen.findings);
    assert!(project.blue(&["knowledge", "show", URI]).stdout.contains("So\u{AD}ft a[U+200B]b"));
}

#[test]
fn names_that_hide_or_leak_are_not_read() {
    let secret = token("ghp_", "Zk3mQ9xW2vB7nR4tY8pL5sD1fG6hJ0cA9eUq");
    for (name, code) in [
        (format!("0002-{secret}.md"), "BLUE-SEC-002"),
        ("0002-a\u{202E}b.md".to_string(), "BLUE-HID-001"),
        ("0002-a\u{200B}b.md".to_string(), "BLUE-HID-001"),
    ] {
        let project = project_with("# T\n\nText.\n");
        project.write(&format!("docs/adr/{name}"), "# Other\n");
        let seen = see(&project);
        assert!(seen.findings.iter().any(|f| f.starts_with(code)), "{name}: {:?}", seen.findings);
        assert!(!seen.emitted.contains(&secret[4..]), "{name}");
        assert!(!project.read(".blue/context/documents.jsonl").contains("0002"), "{name}");
    }
}

#[test]
fn mixed_scripts_in_ids_and_addresses_are_reported() {
    for (text, n) in [
        ("see АDR-5", 0),
        ("see АDR-5 and blue://docs/adrs/0001-pаy", 1),
        ("see ADR-5", 0),
        ("see [x](0001-pаypal.md)", 1),
        ("https://gіthub.com/x", 1),
        ("Документ ADR-5, JSONом, Δt and µs", 0),
        ("see АDR-5 in Рfc-7", 0),
        ("see АDR-5, RFС-16", 1),
    ] {
        // A Cyrillic А with Latin letters behind it is an id of two scripts.
        let n = n + usize::from(text.contains("АDR-5"));
        let seen = see(&project_with(&format!("# T\n\n{text}\n")));
        let mixed = seen.findings.iter().filter(|f| f.starts_with("BLUE-HID-002 3:")).count();
        assert_eq!(mixed, n, "{text}: {:?}", seen.findings);
    }
    let project = project_with("# T\n");
    project.write("docs/adr/0002-pаypal.md", "# Two\n");
    assert!(see(&project).findings.iter().any(|f| f.starts_with("BLUE-HID-002")));
}

#[test]
fn line_numbers_match_an_editor_where_yaml_counts_differently() {
    let project = project_with(
        "---\ntitle: \"a\u{2028}b\"\nsummary: \"c\u{2028}d\"\nx: [1\ny: 2\n---\n\n# T\n",
    );
    project.write(
        ".blue/config.yaml",
        "security:\n  allow_hidden:\n    - {path: 'docs/**', chars: [U+2028], reason: x}\n",
    );
    let lint = project.blue(&["knowledge", "lint"]).stdout;
    assert!(lint.contains("0001-a.md:5:1: warning: front matter is not YAML"), "{lint}");
}
