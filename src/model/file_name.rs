//! Parses the file name of a document: number, slug, date, status.

use super::document::is_cover;
use super::uri::slugify;
use super::{
    Number, Status, language, name_date, series, status_folders, status_words, template_name,
};

/// Suffixes between the slug and the extension that state a status.
const STATUS_SUFFIXES: &[&str] = &[
    "draft",
    "wip",
    "proposed",
    "open",
    "active",
    "accepted",
    "approved",
    "done",
    "impl",
    "resolved",
    "closed",
    "recorded",
    "pub",
    "archived",
    "super",
    "rejected",
    "deprecated",
    "superseded",
    "implemented",
    "withdrawn",
];

/// Suffixes that state only a kind of document.
const KIND_SUFFIXES: &[&str] =
    &["dialogue", "plan", "rfc", "adr", "spike", "prd", "pattern", "contract"];

/// Names of files that accompany documents but are none themselves.
const INDEX_NAMES: &[&str] = &[
    "readme",
    "index",
    "_index",
    "summary",
    "contributing",
    "changelog",
    "license",
    "code_of_conduct",
    "security",
    "toc",
    "agents",
    "claude",
    "codeowners",
    "maintainers",
    "glossary",
    "_sidebar",
];

/// The parts of a file name.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FileName {
    /// Series prefix in lower case: `eip` in `eip-1559.md`.
    pub prefix: Option<String>,
    /// The number.
    pub number: Option<Number>,
    /// The number as written.
    pub number_text: String,
    /// The rest of the name as a slug; empty for `eip-1559.md`.
    pub slug: String,
    /// The date, such as `2026-01-25`.
    pub date: Option<String>,
    /// The time after the date, such as `0200Z`.
    pub time: Option<String>,
    /// The status that a letter or suffix states, with the word as written.
    pub status: Option<(Status, String)>,
    /// The status that a folder below the collection's states: `rejected/0012-x.md`.
    pub folder_status: Option<(Status, String)>,
    /// True if the document is the plan of another one.
    pub is_plan: bool,
    /// True for an index or another file that accompanies documents, such as `README.md`.
    pub is_index: bool,
    /// True for a template to copy and fill in.
    pub is_template: bool,
}

/// Returns true if an extension such as `accepted` states a status or a kind, not a file format.
pub fn is_name_suffix(extension: &str) -> bool {
    STATUS_SUFFIXES.contains(&extension) || KIND_SUFFIXES.contains(&extension)
}

impl FileName {
    /// Parses a path below a collection's folder, such as `0012-x.md` or `0012-x/README.md`.
    pub fn parse(path: &str) -> FileName {
        let mut parts = path.rsplit('/');
        let file = parts.next().unwrap_or(path);
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        // `README.zh-CN.md` is an index too.
        let untranslated = language::without_suffix(stem);
        let is_index = INDEX_NAMES.contains(&untranslated.to_lowercase().as_str());
        let mut name = match parts.next() {
            Some(folder) if is_cover(file) => FileName { is_index, ..parse_stem(folder) },
            Some(_) if untranslated.len() < stem.len() => FileName { is_index, ..parse_stem(stem) },
            Some(_) => parse_stem(stem),
            None => FileName { is_index, ..parse_stem(stem) },
        };
        name.folder_status = path.rsplit('/').skip(1).find_map(status_folders::parse);
        name
    }

    /// Returns the status of a document that states `stated`, with its word as written.
    ///
    /// A stated status wins, with two exceptions. A document that states none, or a word that is
    /// not known, has the status of its folder. And a document in a folder for documents that are
    /// not live is not live: a document is moved there after it was written, and its header is
    /// often not updated. An archive is weaker, because documents are also archived when they are
    /// done: it only ends documents that are not decided yet.
    pub fn settle_status(&self, stated: Status, text: String) -> (Status, String) {
        let Some((status, word)) = &self.folder_status else { return (stated, text) };
        let is_vague = matches!(stated, Status::Unstated | Status::Unknown);
        let is_undecided = matches!(stated, Status::Draft | Status::Proposed);
        let ended = !status.is_live() && stated.is_live();
        let is_archive = status_folders::is_archive(word);
        match is_vague || (ended && (is_undecided || !is_archive)) {
            true => (*status, if text.is_empty() || !is_vague { word.clone() } else { text }),
            false => (stated, text),
        }
    }
}

fn parse_stem(stem: &str) -> FileName {
    let mut name = FileName::default();
    let rest = take_suffixes(stem, &mut name);
    let rest = take_date(rest, &mut name);
    let rest = take_number(rest, &mut name);
    let rest = take_letter(rest, &mut name);
    name.slug = slugify(rest);
    name.is_template = template_name::is_template(&name);
    name
}

/// Removes suffixes such as `.accepted`, `.dialogue` and `.plan` from the end.
fn take_suffixes<'a>(stem: &'a str, name: &mut FileName) -> &'a str {
    let mut rest = stem;
    while let Some((head, last)) = rest.rsplit_once('.') {
        let word = last.to_lowercase();
        if STATUS_SUFFIXES.contains(&word.as_str()) {
            name.status = status_words::parse(&word).map(|status| (status, last.to_string()));
        } else if KIND_SUFFIXES.contains(&word.as_str()) {
            name.is_plan |= word == "plan";
        } else {
            break;
        }
        rest = head;
    }
    rest
}

/// Removes a prefix such as `2026-01-25T0200Z-`, `2026-01-25-` or `20260125-`.
fn take_date<'a>(stem: &'a str, name: &mut FileName) -> &'a str {
    let Some(found) = name_date::at_start(stem) else { return stem };
    name.date = Some(found.date);
    name.time = found.time;
    stem[found.length..].trim_start_matches(['-', '_', ' ', '.'])
}

/// Removes a prefix such as `0012-`, `adr-0012-`, `EIP-1559` or `back-12.3 - `.
fn take_number<'a>(stem: &'a str, name: &mut FileName) -> &'a str {
    // `[ADR-0012] Use X` and `(12) Use X`.
    let bracketed = stem.strip_prefix(['[', '(']).filter(|rest| rest.contains([']', ')']));
    let stem = bracketed.unwrap_or(stem);
    let n_letters = stem.bytes().take_while(u8::is_ascii_alphabetic).count();
    let after_letters = &stem[n_letters..];
    let digits = after_letters.trim_start_matches(['-', '_', ' ', '#']);
    let n_separators = after_letters.len() - digits.len();
    let is_known_series = series::known_series(&stem[..n_letters]).is_some();
    // After a date a word is part of the slug: `2026-01-25-iso-8601-dates`.
    let dated = name.date.is_some();
    // A single letter is a prefix before a number with zeros in front: `p0029`.
    let is_padded = after_letters.starts_with("00")
        && after_letters.bytes().take_while(u8::is_ascii_digit).count() >= 4;
    let is_prefix = (2..=4).contains(&n_letters) || is_known_series || n_letters == 1 && is_padded;
    let prefixed = is_prefix && n_separators <= 2 && !dated;
    // `#1234 - Title` has the number of an issue.
    let bare = n_letters == 0 && (n_separators == 0 || stem.starts_with('#') && n_separators == 1);
    // In `meeting-2020-01-02` the digits are a date. The whole name stays the slug, except after
    // the prefix of a known series.
    if n_letters > 0
        && n_separators > 0
        && !dated
        && let Some(found) = name_date::at_start(digits)
    {
        name.date = Some(found.date);
        let rest = digits[found.length..].trim_start_matches(['-', '_', ' ', '.']);
        return if is_known_series { rest } else { stem };
    }
    if !(prefixed || bare) {
        return take_hexadecimal(stem, name);
    }
    let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
    if prefixed && n_separators > 0 && n_digits < 2 {
        // `NIP-C7` has a hexadecimal number; `AB-CD` is a word.
        let known = is_known_series || stem[..n_letters].bytes().all(|b| b.is_ascii_uppercase());
        let is_number = known && digits.bytes().any(|b| b.is_ascii_digit());
        if is_number && take_hexadecimal(digits, name).is_empty() {
            name.prefix = Some(stem[..n_letters].to_lowercase());
            return "";
        }
    }
    let end = n_digits + suffix_len(&digits[n_digits..], n_digits, prefixed);
    let next = digits[end..].chars().next();
    let ends = next.is_none_or(|c| matches!(c, '-' | '_' | ' ' | '.' | ':' | ']' | ')'));
    if n_digits == 0 || n_digits > 6 || !ends {
        return take_hexadecimal(stem, name);
    }
    // In `utf8-text` and `web3-x` the number is part of the word. Without a separator, a short
    // number counts only after the prefix of a known series.
    let is_part_of_word = prefixed && n_separators == 0 && n_digits < 3;
    if is_part_of_word && !is_known_series {
        return stem;
    }
    name.prefix = prefixed.then(|| stem[..n_letters].to_lowercase());
    name.number = Number::new(&digits[..end]);
    name.number_text = digits[..end].to_string();
    digits[end..].trim_start_matches(['-', '_', ' ', '.', ':', ']', ')'])
}

/// Returns the length of a suffix that makes the number of another one: `.3` in `back-12.3`, and
/// the part number `-01` in `cap-0046-01`. In `0012-64-bit` the second number is part of the slug,
/// so a part number ends the name or has a leading zero.
fn suffix_len(rest: &str, n_digits: usize, prefixed: bool) -> usize {
    let n = rest.bytes().skip(1).take_while(u8::is_ascii_digit).count();
    let next = rest.as_bytes().get(1 + n);
    match rest.as_bytes().first() {
        Some(b'.') if prefixed && n > 0 => 1 + n,
        Some(b'-') if n == 2 && n_digits >= 3 => {
            let ends = next.is_none();
            let padded = rest.as_bytes()[1] == b'0' && matches!(next, Some(b'-' | b'_' | b' '));
            if ends || padded { 1 + n } else { 0 }
        }
        _ => 0,
    }
}

/// Reads a name of two hexadecimal digits, such as `7D.md`.
fn take_hexadecimal<'a>(stem: &'a str, name: &mut FileName) -> &'a str {
    let upper_hex = |b: u8| b.is_ascii_digit() || (b'A'..=b'F').contains(&b);
    if stem.len() == 2 && stem.bytes().all(upper_hex) {
        name.number = Number::new(stem);
        name.number_text = stem.to_string();
        return "";
    }
    stem
}

/// Removes a status letter from the front, such as the `D-` of `0016-D-slug`.
fn take_letter<'a>(rest: &'a str, name: &mut FileName) -> &'a str {
    let mut chars = rest.chars();
    let (Some(first), Some('-')) = (chars.next(), chars.next()) else { return rest };
    match status_words::parse_letter(first).filter(|_| name.number.is_some()) {
        Some(status) => {
            name.status.get_or_insert((status, first.to_string()));
            &rest[2..]
        }
        None => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, number: &str, slug: &str, status: Option<Status>) {
        let name = FileName::parse(path);
        assert_eq!(name.number.map(|n| n.to_string()).unwrap_or_default(), number, "{path}");
        assert_eq!(name.slug, slug, "{path}");
        assert_eq!(name.status.map(|(status, _)| status), status, "{path}");
    }

    #[test]
    fn every_naming_convention_is_parsed() {
        check("0001-purpose.accepted.md", "1", "purpose", Some(Status::Accepted));
        check("0016-D-context-injection.md", "16", "context-injection", Some(Status::Draft));
        check("0017-plan-file.plan.md", "17", "plan-file", None);
        check("2026-01-25T0200Z-slug.done.md", "", "slug", Some(Status::Implemented));
        check("2026-01-25-slug.md", "", "slug", None);
        check("20200924-use-x.md", "", "use-x", None);
        check("2020-01-02_012-use-x.md", "12", "use-x", None);
        check("slug.dialogue.recorded.md", "", "slug", Some(Status::Recorded));
        check("eip-1559.md", "1559", "", None);
        check("ADR-0012-use-x.md", "12", "use-x", None);
        check("adr006-avoid-x.md", "6", "avoid-x", None);
        check("CIP-0068/README.md", "68", "", None);
        check("0012-use-x/index.md", "12", "use-x", None);
        check("back-12.3 - Title With Spaces.md", "12.3", "title-with-spaces", None);
        check("01.md", "1", "", None);
        check("7D.md", "7D", "", None);
        check("web3-things.md", "", "web3-things", None);
        check("talk/round-0/summary.md", "", "summary", None);
        check("2026-01-26T1600Z-iso-8601-dates.wip.md", "", "iso-8601-dates", Some(Status::Active));
        check("round-2.md", "", "round-2", None);
        check("proposal-2.md", "2", "", None);
        check("p0029-linear-types.md", "29", "linear-types", None);
        check("p2029-linear-types.md", "", "p2029-linear-types", None);
        check("-leading.md", "", "leading", None);
        check("[ADR-0012] Use X.md", "12", "use-x", None);
        check("(12) Use X.md", "12", "use-x", None);
        check("#1234 - Use X.md", "1234", "use-x", None);
        check("NIP-C7.md", "C7", "", None);
        check("nip-c7.md", "", "nip-c7", None);
        check("C7.md", "C7", "", None);
        check("EE.md", "EE", "", None);
        check("v1/0001-x.md", "1", "x", None);
    }

    #[test]
    fn a_date_in_a_name_is_not_a_number() {
        for (path, date, slug) in [
            ("2013/LDM-2013-10-07.md", "2013-10-07", "ldm-2013-10-07"),
            ("meeting-2020-01-02.md", "2020-01-02", "meeting-2020-01-02"),
            ("notes_20200102.md", "2020-01-02", "notes-20200102"),
            ("adr-2020-01-02-use-x.md", "2020-01-02", "use-x"),
            ("2020.01.02-use-x.md", "2020-01-02", "use-x"),
            ("2020-05.md", "2020-05", ""),
            ("202005-planning.md", "2020-05", "planning"),
            ("2020-05-planning.md", "2020-05", "planning"),
            ("2020_05_06_planning.md", "2020-05-06", "planning"),
            ("7-august-2023-paste-button.md", "2023-08-07", "paste-button"),
            ("07_Aug_2023.md", "2023-08-07", ""),
        ] {
            let name = FileName::parse(path);
            assert_eq!(name.date.as_deref(), Some(date), "{path}");
            assert_eq!(name.slug, slug, "{path}");
            assert_eq!(name.number, None, "{path}");
        }
        check("2005-match-ergonomics.md", "2005", "match-ergonomics", None);
        check("2020-64-bit.md", "2020", "64-bit", None);
    }

    #[test]
    fn a_part_number_is_a_number_of_its_own() {
        check("cap-0046-01.md", "46-01", "", None);
        check("cap-0046.md", "46", "", None);
        check("cap-0046-12.md", "46-12", "", None);
        check("cap-0046-02-events.md", "46-02", "events", None);
        check("adr-0012-64-bit.md", "12", "64-bit", None);
        check("0012-2-phase-commit.md", "12", "2-phase-commit", None);
        check("12-34.md", "12", "34", None);
    }

    #[test]
    fn a_folder_for_ended_documents_wins_over_a_status_from_before() {
        let settled =
            |path: &str, stated| FileName::parse(path).settle_status(stated, String::new()).0;
        assert_eq!(settled("rejected/0001-x.md", Status::Unstated), Status::Rejected);
        assert_eq!(settled("rejected/0001-x/README.md", Status::Proposed), Status::Rejected);
        assert_eq!(settled("Defunct/x.md", Status::Unknown), Status::Deprecated);
        assert_eq!(settled("superseded/0001-x.md", Status::Accepted), Status::Superseded);
        assert_eq!(settled("superseded/0001-x.md", Status::Deprecated), Status::Deprecated);
        assert_eq!(settled("archive/0001-x.md", Status::Implemented), Status::Implemented);
        assert_eq!(settled("archive/0001-x.md", Status::Draft), Status::Deprecated);
        assert_eq!(settled("accepted/2020/x.md", Status::Unstated), Status::Accepted);
        assert_eq!(settled("accepted/x.md", Status::Proposed), Status::Proposed);
        assert_eq!(settled("0001-x.md", Status::Accepted), Status::Accepted);
    }

    #[test]
    fn templates_and_indexes_are_recognised() {
        assert!(FileName::parse("0000-template.md").is_template);
        assert!(FileName::parse("adr-template.md").is_template);
        assert!(FileName::parse("YYYYMMDD-template.md").is_template);
        assert!(FileName::parse("001-proposal-template.md").is_template);
        assert!(!FileName::parse("0012-use-template.md").is_template);
        assert!(FileName::parse("README.md").is_index);
        assert!(FileName::parse("README.zh-CN.md").is_index);
        assert!(FileName::parse("guide/README_ja.md").is_index);
        assert!(!FileName::parse("0001-readme-driven.md").is_index);
    }
}
