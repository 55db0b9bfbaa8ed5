//! Finds documents by the names of folders and files, and by first lines where names do not decide.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::companions::{self, Judgement, Numbering, files_per_folder};
use super::known_folders::{self, DocumentFolder};
use super::numbered_folders::{MainDocuments, NumberedFolders, single_file, split_by_series};
use super::walk::{SIDECARS, WalkedFile, is_text};
use super::{decision_trees, translations};
use crate::model::layout::folder_of;
use crate::model::{Collection, FileName, FoundFile, HeaderKind, Kind, ProbedFile, document};

/// Files whose first lines are looked at. With more undecided files, the deepest are left out.
const MAX_PROBED: usize = 20_000;

/// The result of looking for documents by convention.
pub(super) struct Conventional {
    pub(super) collections: Vec<Collection>,
    /// The documents, sorted by path.
    pub(super) found: Vec<FoundFile>,
    /// The files that were looked at, sorted by path.
    pub(super) probed: Vec<ProbedFile>,
}

/// A file in a folder of documents, with its parsed name.
struct ChosenFile<'a> {
    path: &'a str,
    folder: Arc<DocumentFolder>,
    name: FileName,
}

/// Looks at the first lines of a file. `None` if it cannot be read.
pub(super) type Probe<'a> = &'a (dyn Fn(&str) -> Option<ProbedFile> + Sync);

/// Finds documents by convention. `files` must be sorted by path.
pub(super) fn apply(files: &[WalkedFile], probe: Probe<'_>) -> Conventional {
    let texts: Vec<&str> =
        files.iter().map(|file| file.path.as_str()).filter(|path| is_text(path)).collect();
    let mains = MainDocuments::new(&texts);
    let (named, unnamed) = by_folder(&texts, &mains);
    let counts = files_per_folder(&texts);
    let numbering = numbering_of_folders(&named);
    let judge = |file: &ChosenFile<'_>| {
        let n_files = counts.get(folder_of(file.path)).copied().unwrap_or_default();
        let numbering = numbering[file.folder.base.as_str()];
        companions::judge(file.path, &file.folder, &file.name, &mains, n_files, numbering, &texts)
    };
    let judgements: Vec<Judgement> = named.par_iter().with_min_len(64).map(judge).collect();
    let is_candidate = |path: &&str| is_candidate(path, &mains);
    let candidates: Vec<&str> = unnamed.into_iter().filter(is_candidate).collect();
    let undecided = named.iter().zip(&judgements);
    let undecided = undecided.filter(|(_, judgement)| {
        matches!(judgement, Judgement::Undecided | Judgement::UnlessTemplate)
    });
    let undecided = undecided.map(|(file, _)| file.path).chain(candidates.iter().copied());
    let probed = probe_all(undecided.collect(), probe);
    let header = |path: &str| {
        let at = probed.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        Some(probed[at].header)
    };
    let mut chosen = Vec::new();
    for (file, judgement) in named.into_iter().zip(judgements) {
        let is_document = match judgement {
            Judgement::Document => true,
            Judgement::Companion => false,
            Judgement::UnlessTemplate => header(file.path) != Some(HeaderKind::Template),
            // A file that is not checked out has no lines. Its name is that of a document.
            Judgement::Undecided => match header(file.path) {
                None | Some(HeaderKind::Text) => !file.name.is_index,
                Some(header) => header == HeaderKind::Decision,
            },
        };
        chosen.extend(is_document.then_some(file));
    }
    let candidates = candidates
        .into_iter()
        .filter_map(|path| Some((path, header(path)? == HeaderKind::Decision)));
    let trees = decision_trees::find(&candidates.collect::<Vec<_>>());
    chosen.extend(trees.into_iter().map(|(path, folder)| {
        let name = mains.name(path, folder.base_len());
        ChosenFile { path, folder: Arc::new(folder), name }
    }));
    chosen.sort_by(|a, b| a.path.cmp(b.path));
    let (collections, found) = collect(chosen, files);
    Conventional { collections, found, probed }
}

/// Separates the files in folders that names or numbers recognise from all others.
fn by_folder<'a>(
    texts: &[&'a str],
    mains: &MainDocuments<'_>,
) -> (Vec<ChosenFile<'a>>, Vec<&'a str>) {
    let divided = known_folders::divided_by_status(texts);
    // Most folders are recognised by name. File names are parsed only in the others.
    let mut known: BTreeMap<&str, Option<DocumentFolder>> = BTreeMap::new();
    for path in texts {
        let folder = folder_of(path);
        known.entry(folder).or_insert_with(|| {
            let named = known_folders::nearest(folder);
            named.or_else(|| known_folders::nearest_divided(folder, &divided))
        });
    }
    let others = texts.iter().copied().filter(|path| known[folder_of(path)].is_none());
    let numbered = NumberedFolders::new(others, mains);
    let mut folders: BTreeMap<&str, Option<Arc<DocumentFolder>>> = BTreeMap::new();
    let mut chosen: Vec<(&str, Arc<DocumentFolder>)> = Vec::new();
    let mut unnamed = Vec::new();
    for path in texts {
        let parent = folder_of(path);
        let folder = folders.entry(parent).or_insert_with(|| {
            let known = known[parent].clone();
            known.or_else(|| numbered.nearest(parent)).map(Arc::new)
        });
        let folder = folder.clone().map(|folder| split_by_series(folder, path));
        match folder.or_else(|| single_file(path).map(Arc::new)) {
            Some(folder) => chosen.push((path, folder)),
            None => unnamed.push(*path),
        }
    }
    let named = chosen.into_par_iter().with_min_len(64).map(|(path, folder)| {
        let mut name = mains.name(path, folder.base_len());
        let of_folder =
            || folder.status.clone().or_else(|| known_folders::ended_place(&folder.base));
        name.folder_status = name.folder_status.or_else(of_folder);
        ChosenFile { path, folder, name }
    });
    (named.collect(), unnamed)
}

/// Counts the files with and without a number below each folder of documents.
fn numbering_of_folders(named: &[ChosenFile<'_>]) -> BTreeMap<String, Numbering> {
    let mut numbering: BTreeMap<String, Numbering> = BTreeMap::new();
    for ChosenFile { path, folder, name } in named {
        if !numbering.contains_key(&folder.base) {
            numbering.insert(folder.base.clone(), Numbering::default());
        }
        let Some(counts) = numbering.get_mut(&folder.base) else { continue };
        match name.number.is_some() || name.date.is_some() {
            true => counts.n_numbered += 1,
            false if name.is_index || name.is_template => {}
            false if companions::is_companion(&path[folder.base_len()..], name) => {}
            false => counts.n_other += 1,
        }
    }
    numbering
}

/// Returns true if a file in a folder that names do not recognise may be a document.
fn is_candidate(path: &str, mains: &MainDocuments<'_>) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let name = FileName::parse(path);
    let is_cover = document::is_cover(file) && path.contains('/');
    let is_index = FileName::parse(file).is_index && !is_cover;
    !is_index
        && !companions::is_template(path, &name)
        && !companions::is_companion(path, &name)
        && mains.of(path, 0).is_none_or(|main| main == path)
}

/// Looks at the first lines of files. The result is sorted by path.
fn probe_all(mut paths: Vec<&str>, probe: Probe<'_>) -> Vec<ProbedFile> {
    if paths.len() > MAX_PROBED {
        paths.sort_by_key(|path| (path.matches('/').count(), *path));
        paths.truncate(MAX_PROBED);
    }
    let probed = paths.par_iter().with_min_len(16).filter_map(|path| probe(path));
    let mut probed: Vec<ProbedFile> = probed.collect();
    probed.sort_by(|a, b| a.path.cmp(&b.path));
    probed
}

/// Groups documents into collections, without annexes and translations.
fn collect(chosen: Vec<ChosenFile<'_>>, files: &[WalkedFile]) -> (Vec<Collection>, Vec<FoundFile>) {
    let mut rows: BTreeMap<String, usize> = BTreeMap::new();
    let mut collections: Vec<Collection> = Vec::new();
    let mut found = Vec::new();
    let mut last: Option<(Arc<DocumentFolder>, usize)> = None;
    for ChosenFile { path, folder, name } in chosen {
        let row = match last.as_ref().filter(|(last, _)| Arc::ptr_eq(last, &folder)) {
            Some((_, row)) => *row,
            None => *rows.entry(folder.name.clone()).or_insert_with(|| {
                let DocumentFolder { name, kind, series, .. } = DocumentFolder::clone(&folder);
                let kind = Kind::new(&kind);
                collections.push(Collection { name, kind, series, globs: Vec::new() });
                collections.len() - 1
            }),
        };
        found.push(FoundFile {
            path: path.to_string(),
            base: folder.base_len(),
            collection: row,
            sidecar: sidecar_of(path, files),
            name,
        });
        last = Some((folder, row));
    }
    companions::drop_numbered_annexes(&mut found);
    translations::drop_translations(&mut found);
    add_globs(&mut collections, &found);
    add_prefixes(&mut collections, &found);
    (collections, found)
}

/// Adds the globs that match the documents of each collection: `*.md` for files in its folder,
/// `**/*.md` or `*/README.md` for others.
fn add_globs(collections: &mut [Collection], found: &[FoundFile]) {
    let mut folders: BTreeMap<(usize, &str), Vec<&str>> = BTreeMap::new();
    for found in found {
        let base = &found.path[..found.base];
        folders.entry((found.collection, base)).or_default().push(found.path_in_collection());
    }
    for ((collection, base), paths) in folders {
        let file = |path: &&str| path.rsplit('/').next().map(str::to_string);
        let extension =
            |path: &&str| path.rsplit_once('.').map(|(_, extension)| format!("*.{extension}"));
        let (below, direct): (Vec<&str>, Vec<&str>) =
            paths.into_iter().partition(|path| path.contains('/'));
        let covers: BTreeSet<String> = below.iter().filter_map(file).collect();
        let is_shared = |file: &String| {
            document::is_cover(file) || (below.len() > 1 && FileName::parse(file).number.is_none())
        };
        let names = match covers.len() == 1 && covers.iter().all(is_shared) {
            true => covers,
            false => below.iter().filter_map(extension).collect(),
        };
        let is_one_deep = below.iter().all(|path| path.matches('/').count() == 1);
        let folders = if is_one_deep && direct.is_empty() { "*/" } else { "**/" };
        // `**/` also matches the folder itself.
        let direct: BTreeSet<String> = direct.iter().filter_map(extension).collect();
        let direct = direct.iter().filter(|name| !names.contains(*name)).cloned();
        let globs = direct.chain(names.iter().map(|name| format!("{folders}{name}")));
        collections[collection].globs.extend(globs.map(|glob| format!("{base}{glob}")));
    }
}

/// Returns the path of the metadata file beside a cover page.
pub(super) fn sidecar_of(path: &str, files: &[WalkedFile]) -> Option<String> {
    let (folder, file) = path.rsplit_once('/')?;
    if !document::is_cover(file) {
        return None;
    }
    let mut candidates = SIDECARS.iter().map(|name| format!("{folder}/{name}"));
    candidates.find(|path| files.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok())
}

/// Adds the file-name prefixes that most documents of a collection share to its series.
fn add_prefixes(collections: &mut [Collection], found: &[FoundFile]) {
    let mut counts: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    let mut sizes = vec![0; collections.len()];
    for found in found {
        sizes[found.collection] += 1;
        if let Some(prefix) = found.name.prefix.as_deref() {
            *counts.entry((found.collection, prefix)).or_default() += 1;
        }
    }
    for ((collection, prefix), n) in counts {
        let series = &mut collections[collection].series;
        if n * 2 > sizes[collection] && !series.iter().any(|known| known == prefix) {
            series.push(prefix.to_string());
        }
    }
}
