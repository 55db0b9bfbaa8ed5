//! Finds a document by the names that people use for it: path, file name, number, slug or title.

use std::cmp::Reverse;
use std::fmt;

use super::address::Resolved;
use super::built::{Built, Listed};
use super::catalogue::Catalogue;
use crate::model::document::is_cover;
use crate::model::layout::digest_path;
use crate::model::series::singular;
use crate::model::uri::slugify;
use crate::model::{Number, ShortId, Status, TextFormat};

/// Longest name that is compared, in bytes.
const MAX_NAME: usize = 512;

/// Maximum number of documents that an error lists.
const MAX_LISTED: usize = 6;

/// The reason why a name does not lead to one document. Documents are given by path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NameError {
    /// No document has this name; with those of similar names.
    NotFound(String, Vec<String>),
    /// Several documents have this name.
    Several(String, Vec<String>),
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameError::NotFound(name, _) => write!(f, "no document is named {name:?}"),
            NameError::Several(name, paths) => {
                write!(f, "{name:?} matches {} documents", paths.len())
            }
        }
    }
}

impl NameError {
    /// Returns what to type instead.
    pub fn hint(&self) -> String {
        let (NameError::NotFound(_, paths) | NameError::Several(_, paths)) = self;
        let listed = paths[..paths.len().min(MAX_LISTED)].join(" or ");
        match paths.len().saturating_sub(MAX_LISTED) {
            _ if paths.is_empty() => {
                "`blue knowledge related \"words\"` searches, `blue knowledge list` lists all"
                    .to_string()
            }
            0 => format!("did you mean {listed}?"),
            n_more => format!("did you mean {listed}, or one of {n_more} more?"),
        }
    }
}

/// Resolves a name that is not an address. `path` is the name as a path below the root.
///
/// The first of these that matches any document decides: a path, the end of a path, a folder, a
/// number with or without a series, a slug, a title. The name of a collection is its digest.
pub fn resolve(built: &Built, name: &str, path: Option<&str>) -> Result<Resolved, NameError> {
    let catalogue = &built.catalogue;
    let name = name.trim();
    let typed = name.trim_start_matches("./").trim_end_matches('/');
    for path in path.into_iter().chain([typed]) {
        if let Some(row) = catalogue.row_of_path(path) {
            return Ok(Resolved::Item(Listed::Document(row)));
        }
        if let Some(row) = built.artifact(path) {
            return Ok(Resolved::Item(Listed::Artifact(row)));
        }
    }
    if typed.is_empty() || typed.len() > MAX_NAME {
        let start = typed.chars().take(60).collect();
        return Err(NameError::NotFound(start, Vec::new()));
    }
    let rules: [&dyn Fn() -> Vec<usize>; 4] = [
        &|| by_path_end(catalogue, typed),
        &|| in_folder(catalogue, path.unwrap_or(typed)),
        &|| by_id(catalogue, typed),
        &|| by_title(catalogue, typed),
    ];
    let rows = rules.iter().map(|rule| rule()).find(|rows| !rows.is_empty()).unwrap_or_default();
    let rows = without_moved(catalogue, rows);
    match rows.as_slice() {
        [row] => Ok(Resolved::Item(Listed::Document(*row))),
        [] => match built.artifact(&digest_path(&typed.to_lowercase())) {
            Some(row) => Ok(Resolved::Item(Listed::Artifact(row))),
            None => Err(NameError::NotFound(name.to_string(), similar(catalogue, typed))),
        },
        several => Err(NameError::Several(name.to_string(), paths(catalogue, several))),
    }
}

/// Returns the document with an id such as `ADR-7` or `RFC 16`, if the text is nothing else and only one
/// document has it.
pub fn row_of_id(built: &Built, text: &str) -> Option<usize> {
    let text = text.trim();
    let n_letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let number = text[n_letters..].trim_start_matches(['-', '#', ' ']);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if !(2..=9).contains(&n_letters) || !is_number {
        return None;
    }
    let rows = without_moved(&built.catalogue, by_id(&built.catalogue, text));
    rows.first().copied().filter(|_| rows.len() == 1)
}

/// Leaves out documents that only say where another one is now, if others remain.
fn without_moved(catalogue: &Catalogue, rows: Vec<usize>) -> Vec<usize> {
    let is_moved = |row: &usize| {
        let line = catalogue.line(*row).filter(|_| !catalogue.is_live(*row));
        line.is_some_and(|line| line.status == Status::Moved.as_str())
    };
    let (moved, others): (Vec<usize>, Vec<usize>) = rows.into_iter().partition(is_moved);
    if others.is_empty() { moved } else { others }
}

fn paths(catalogue: &Catalogue, rows: &[usize]) -> Vec<String> {
    let path = |row: &usize| match catalogue.path(*row) {
        "" => catalogue.uri(*row).to_string(),
        path => path.to_string(),
    };
    rows.iter().map(path).collect()
}

fn rows(catalogue: &Catalogue, matches: impl Fn(usize) -> bool) -> Vec<usize> {
    (0..catalogue.n_documents()).filter(|row| matches(*row)).collect()
}

/// Returns the documents whose path ends with these parts, with or without the extension.
fn by_path_end(catalogue: &Catalogue, name: &str) -> Vec<usize> {
    let name = name.to_lowercase();
    let ends = |path: &str| {
        path.strip_suffix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    rows(catalogue, |row| {
        let path = catalogue.path(row).to_lowercase();
        ends(&path) || ends(TextFormat::without_extension(&path))
    })
}

/// Returns the documents in a folder.
fn in_folder(catalogue: &Catalogue, folder: &str) -> Vec<usize> {
    rows(catalogue, |row| {
        let rest = catalogue.path(row).strip_prefix(folder);
        rest.is_some_and(|rest| rest.starts_with('/'))
    })
}

/// Returns the documents that an id names: `ADR 5`, `adr-0005`, `rfc#16`, `MSC2676`, `adr/5`, `5`,
/// `0005-slug`, `slug`.
fn by_id(catalogue: &Catalogue, name: &str) -> Vec<usize> {
    let name = name.to_lowercase();
    let Some((series, id)) = series_and_id(&name) else {
        let found = numbered(catalogue, &name);
        return match name.split_once('/') {
            Some((group, id)) if found.is_empty() => catalogue.by_short_id(Some(group), id),
            _ => found,
        };
    };
    let numbered = numbered(catalogue, id);
    let is_own = |row: &usize| is_in_series(catalogue, *row, &series);
    let found: Vec<usize> = numbered.iter().copied().filter(is_own).collect();
    if !found.is_empty() {
        return found;
    }
    // A slug can start like an id: `oauth2-tokens`.
    if ShortId::new(&name).is_some_and(|id| id.number().is_none()) {
        let found = catalogue.by_short_id(None, &name);
        if !found.is_empty() {
            return found;
        }
    }
    // The same number of another series is another document. But where documents have a plain type,
    // such as `proposal`, people call them by an abbreviation that is in no index: `MSC2676`.
    let is_plain = |row: &usize| {
        let kind = catalogue.line(*row).map_or(0, |line| line.kind.len());
        kind > MAX_ABBREVIATION
    };
    let is_unknown = || !(0..catalogue.n_documents()).any(|row| is_own(&row));
    match series.len() <= MAX_ABBREVIATION && numbered.iter().all(is_plain) && is_unknown() {
        true => numbered,
        false => Vec::new(),
    }
}

/// Returns the documents with a number or slug. A dotted number looks like a file name with an
/// extension, so it is compared as a whole.
fn numbered(catalogue: &Catalogue, id: &str) -> Vec<usize> {
    let found = catalogue.by_short_id(None, id);
    match Number::new(id).filter(|_| found.is_empty() && id.contains('.')) {
        Some(number) => rows(catalogue, |row| {
            let line = catalogue.line(row);
            line.and_then(|line| Number::new(line.number.as_deref()?)) == Some(number.clone())
        }),
        None => found,
    }
}

/// Longest abbreviation of a series, in letters.
const MAX_ABBREVIATION: usize = 5;

/// Splits an id in lower case into the series and the rest, which starts with a digit: `adr-0005`,
/// `some project rfc 23`.
fn series_and_id(name: &str) -> Option<(String, &str)> {
    let start = name.find(|c: char| c.is_ascii_digit())?;
    let before = name[..start].trim_end_matches(|c: char| !c.is_alphanumeric());
    let words = before.split_whitespace();
    let series = words.last().filter(|word| word.bytes().all(|b| b.is_ascii_alphabetic()))?;
    Some((singular(series), &name[start..]))
}

/// Returns true if a document is of a series, by its type, its collection or its file name.
fn is_in_series(catalogue: &Catalogue, row: usize, series: &str) -> bool {
    let collection = catalogue.uri(row).rsplit('/').nth(1).unwrap_or_default();
    let mut parts = catalogue.path(row).rsplit('/');
    let mut file = parts.next().unwrap_or_default();
    if is_cover(file) {
        file = parts.next().unwrap_or_default();
    }
    let file = file.to_lowercase();
    let rest = file.strip_prefix(series);
    catalogue.is_kind(row, series)
        || singular(collection) == series
        || rest.is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
}

/// Returns the documents with this title.
fn by_title(catalogue: &Catalogue, name: &str) -> Vec<usize> {
    let wanted = slugify(name);
    rows(catalogue, |row| {
        !wanted.is_empty()
            && catalogue.line(row).is_some_and(|line| {
                let number = line.number.as_deref().unwrap_or_default();
                [slugify(&line.title), slugify(&format!("{number} {}", line.title))]
                    .contains(&wanted)
            })
    })
}

/// Returns the paths of at most three documents with similar names.
fn similar(catalogue: &Catalogue, name: &str) -> Vec<String> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let wanted = slugify(TextFormat::without_extension(file));
    let words: Vec<&str> = wanted.split('-').filter(|word| !word.is_empty()).collect();
    let number = words.iter().find_map(|word| {
        let digits = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        digits.parse::<u32>().ok()
    });
    let of_number: Vec<usize> =
        number.map(|n| catalogue.by_short_id(None, &n.to_string())).unwrap_or_default();
    let n_shared = |row: usize| {
        let parts: Vec<&str> = catalogue.id(row).split('-').collect();
        let is_word = |word: &&&str| word.len() > 2 && parts.contains(*word);
        words.iter().filter(is_word).count() + usize::from(of_number.binary_search(&row).is_ok())
    };
    let mut keyed: Vec<_> = (0..catalogue.n_documents())
        .map(|row| (Reverse(n_shared(row)), Reverse(catalogue.is_live(row)), row))
        .collect();
    keyed.sort();
    // An edit distance takes long, so only the most promising names are compared.
    let distances = keyed.into_iter().take(200).map(|(shared, _, row)| {
        (shared, strsim::damerau_levenshtein(&wanted, catalogue.id(row)), row)
    });
    let mut distances: Vec<_> =
        distances.filter(|(shared, n, _)| shared.0 > 0 || n * 2 <= wanted.len()).collect();
    distances.sort();
    let rows: Vec<usize> = distances.into_iter().take(3).map(|(_, _, row)| row).collect();
    paths(catalogue, &rows)
}
