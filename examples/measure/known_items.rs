//! Measures the search: looks for documents by the words with which others link to them.
//!
//! The links are removed from the copy of a tree, so that no citing line repeats a query. A query is
//! a link text with at least two terms. Reported are recall@10 and MRR@10 of `blue knowledge related`
//! and of the baselines over whole texts, for all queries and for those with a term that the title
//! of the target does not contain.

use std::collections::BTreeSet;
use std::path::Path;

use blue::build::{self, Options};
use blue::model::word::{stem, stems, words};
use blue::reader::ProjectReader;
use blue::root::Root;
use blue::serve::related::{self, LIMIT, MAX_TOKENS};
use blue::serve::{Built, Library};

use super::baselines::query_scores;
use super::hide::{Case, LinkWords, case};
use super::{N_RUNS, recall_and_mrr};

/// Fewest terms of a query.
const MIN_TERMS: usize = 2;

/// Names of the methods, in the order of their results.
const METHODS: [&str; 4] = ["TF-IDF", "BM25", "BM25F", "blue"];

/// A query with the document that it should find.
#[derive(Eq, Ord, PartialEq, PartialOrd)]
struct KnownItem {
    query: String,
    path: String,
    /// True if the title of the document contains all terms of the query.
    is_title: bool,
}

/// The rank of each query's document by one method, and whether the title contains the query.
type Ranks = Vec<(Option<usize>, bool)>;

/// Measures each tree and prints the results.
pub(crate) fn measure(folders: &[&Path]) {
    println!("recall@10/MRR@10 of all queries, and of those with words that are not in the title");
    let mut trees: Vec<[Ranks; METHODS.len()]> = Vec::new();
    for folder in folders {
        let Some(ranks) = tree(folder).filter(|ranks| !ranks[0].is_empty()) else { continue };
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let n_other = ranks[0].iter().filter(|(_, is_title)| !is_title).count();
        println!("{name}: {} queries, {n_other} not in the title", ranks[0].len());
        for (method, ranks) in METHODS.iter().zip(&ranks) {
            println!("  {method:8} {}", summary(ranks));
        }
        trees.push(ranks);
    }
    println!("all queries together");
    for (row, method) in METHODS.iter().enumerate() {
        let ranks: Ranks = trees.iter().flat_map(|tree| tree[row].iter().copied()).collect();
        println!("  {method:8} {}", summary(&ranks));
    }
}

fn summary(ranks: &Ranks) -> String {
    let value = |ranks: &mut dyn Iterator<Item = &(Option<usize>, bool)>| {
        let answers: Vec<(usize, usize, f64)> = ranks
            .map(|(rank, _)| (1, rank.iter().count(), rank.map_or(0.0, |rank| 1.0 / rank as f64)))
            .collect();
        let (recall, mrr) = recall_and_mrr(answers.iter());
        format!("{recall:.3}/{mrr:.3}")
    };
    let all = value(&mut ranks.iter());
    format!("{all}  {}", value(&mut ranks.iter().filter(|(_, is_title)| !is_title)))
}

/// Returns the ranks of all queries of a tree, by method.
fn tree(folder: &Path) -> Option<[Ranks; METHODS.len()]> {
    let mut all: [Ranks; METHODS.len()] = Default::default();
    for seed in 0..N_RUNS {
        let case = case(folder, seed, LinkWords::Remove)?;
        let items: Vec<KnownItem> = known_items(&case).into_iter().collect();
        for (method, ranks) in all.iter_mut().zip(ranks(&case, &items)) {
            method.extend(ranks.into_iter().zip(items.iter().map(|item| item.is_title)));
        }
    }
    Some(all)
}

fn known_items(case: &Case) -> BTreeSet<KnownItem> {
    let item = |(path, label): &(String, String)| {
        let document = case.graph.documents.iter().find(|document| document.path == *path)?;
        let terms = stems(label, usize::MAX);
        let mut title = BTreeSet::new();
        words(&document.title, |word, _| {
            title.insert(blue::model::term_hash(stem(word)));
        });
        let is_title = terms.iter().all(|term| title.contains(term));
        let (query, path) = (label.clone(), path.clone());
        (terms.len() >= MIN_TERMS).then_some(KnownItem { query, path, is_title })
    };
    case.labels.iter().filter_map(item).collect()
}

/// Returns the rank of each item among the first ten, by method.
fn ranks(case: &Case, items: &[KnownItem]) -> Vec<Vec<Option<usize>>> {
    let queries: Vec<String> = items.iter().map(|item| item.query.clone()).collect();
    let rank = |order: &[&str], item: &KnownItem| {
        order.iter().take(LIMIT).position(|path| *path == item.path).map(|at| at + 1)
    };
    let mut methods: Vec<Vec<Option<usize>>> = Vec::new();
    for scores in query_scores(case, &queries) {
        let of_item = |(scores, item): (&Vec<f64>, &KnownItem)| {
            let mut order: Vec<usize> =
                (0..scores.len()).filter(|row| scores[*row] > 0.0).collect();
            order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
            let paths = order.iter().map(|row| case.graph.documents[*row].path.as_str());
            rank(&paths.collect::<Vec<&str>>(), item)
        };
        methods.push(scores.iter().zip(items).map(of_item).collect());
    }
    methods.push(found_by_blue(case, items, &rank));
    methods
}

/// Builds the copy and searches it as the command line does.
fn found_by_blue(
    case: &Case,
    items: &[KnownItem],
    rank: &dyn Fn(&[&str], &KnownItem) -> Option<usize>,
) -> Vec<Option<usize>> {
    let root = Root::open(case.copy.path()).unwrap();
    build::build(&root, &Options::quiet()).unwrap();
    let built = Built::open(&root).unwrap_or_else(|_| panic!("the copy was built"));
    let reader = ProjectReader::new(build::plan(&root));
    let library = Library { root: &root, built: &built, reader: &reader, work: None, today: 0 };
    let catalogue = &built.catalogue;
    let row_of = |uri: &str| catalogue.row(uri);
    let n = catalogue.n_documents();
    let index = build::search_index(&root, &built.manifest.inputs, n, &row_of).unwrap();
    let found = |item: &KnownItem| {
        let result = related::to_text(&library, &index, &item.query, LIMIT, MAX_TOKENS);
        let paths = result.found.iter().map(|found| found.document.path.as_str());
        rank(&paths.collect::<Vec<&str>>(), item)
    };
    items.iter().map(found).collect()
}
