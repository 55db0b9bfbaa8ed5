//! `blue knowledge list`.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;

use super::open::BuiltProject;
use super::output::OutputFormat;
use super::{Exit, output};
use crate::model::plural::counted;
use crate::serve::Catalogue;
use crate::serve::listing::{IsoDate, ListFilter, Listing};
use crate::wire::jsonl::DocumentLine;

/// Maximum number of documents that are listed as text without `--all`.
const MAX_LISTED: usize = 50;

/// Columns of a line, and of a path in it. A longer path is not cut, because it must open.
const COLUMNS: usize = 118;
const PATH_COLUMNS: usize = 64;

/// Columns that are left for the title after a long path.
const MIN_TITLE: usize = 24;

/// The flags of `blue knowledge list`.
#[derive(Args, Debug)]
pub(super) struct ListArgs {
    /// Show only this collection or type (rfcs, adr), and documents that have all these words in
    /// title, number, summary or path
    words: Vec<String>,
    /// Show only live documents
    #[arg(long)]
    live: bool,
    /// Show only documents with this status (accepted, draft, …), or live or history
    #[arg(long, value_name = "WORD")]
    status: Option<String>,
    /// Show only documents of this date or later: 2024, 2024-03, 2024-03-01
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    since: Option<IsoDate>,
    /// Show only documents of this date or earlier
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    until: Option<IsoDate>,
    /// Show more than 50 documents
    #[arg(long)]
    all: bool,
    /// Show addresses instead of paths
    #[arg(long)]
    addresses: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

fn parse_date(text: &str) -> Result<IsoDate, String> {
    IsoDate::parse(text).ok_or_else(|| "write a date such as 2024, 2024-03 or 2024-03-01".into())
}

impl ListArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let project = BuiltProject::open(directory)?;
        let catalogue = &project.built.catalogue;
        let filter = ListFilter {
            status: self.status.clone(),
            since: self.since.clone(),
            until: self.until.clone(),
            ..ListFilter::new(catalogue, &self.words)
        };
        let mut listing = filter.list(catalogue)?;
        listing.documents.retain(|document| document.live || !self.live);
        let n_documents = listing.documents.len();
        let n_shown = if self.all { n_documents } else { n_documents.min(MAX_LISTED) };
        let is_filtered = self.live || self.status.is_some() || !self.words.is_empty();
        let n_shown = match self.format {
            OutputFormat::Json => {
                let json = serde_json::to_string_pretty(&listing.documents)?;
                output::out(&format!("{json}\n"))?;
                n_documents
            }
            OutputFormat::Text => {
                output::out(&self.table(&listing.documents[..n_shown]))?;
                n_shown
            }
        };
        self.report_rest(&listing, n_documents - n_shown);
        if n_documents == 0 && (is_filtered || self.has_dates()) {
            self.report_none(catalogue, &filter)?;
            return Ok(Exit::FoundSomething);
        }
        Ok(Exit::Done)
    }

    fn has_dates(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    /// Reports how many documents are not listed, and how to choose among them.
    fn report_rest(&self, listing: &Listing, n_more: usize) {
        if n_more > 0 {
            output::say(&format!(
                "blue: {n_more} more\nhint: filter by words, a collection, --status, --since or --until, or add --all"
            ));
        }
        if listing.n_undated > 0 {
            let documents = counted(listing.n_undated, "document");
            output::say(&format!("blue: {documents} without a date not shown"));
        }
    }

    /// Reports that nothing matches, and which statuses there are if none is the one asked for.
    fn report_none(&self, catalogue: &Catalogue, filter: &ListFilter) -> anyhow::Result<()> {
        let mut hint = "`blue knowledge related \"words\"` searches the text".to_string();
        let documents = catalogue.lines(None)?;
        if !documents.iter().any(|document| filter.has_status(document)) {
            let mut statuses: BTreeMap<String, usize> = BTreeMap::new();
            for document in documents {
                *statuses.entry(document.status).or_default() += 1;
            }
            let statuses = statuses.iter().map(|(status, n)| format!("{status} ({n})"));
            let statuses = statuses.collect::<Vec<_>>().join(", ");
            hint = format!("the statuses are {}, live and history", output::visible(&statuses));
        }
        output::say(&format!("blue: no document matches\nhint: {hint}"));
        Ok(())
    }

    /// Formats a line for each document; `-` marks a document that is not live.
    fn table(&self, documents: &[DocumentLine]) -> String {
        let place = |document: &DocumentLine| match self.addresses {
            true => document.uri.clone(),
            false => output::visible(&document.path),
        };
        let columns = |text: &str| text.chars().count();
        let widths = documents.iter().map(|document| columns(&place(document)));
        let width = widths.max().unwrap_or(0).min(PATH_COLUMNS);
        let line = |document: &DocumentLine| {
            let mark = if document.live { ' ' } else { '-' };
            let date = match document.date.as_deref().filter(|_| self.has_dates()) {
                Some(date) => format!("  {:10}", output::visible(date)),
                None => String::new(),
            };
            let status = &document.status;
            let start = format!("{mark} {:width$}{date}  {status:11}  ", place(document));
            let rest = COLUMNS.saturating_sub(columns(&start)).max(MIN_TITLE);
            format!("{start}{}\n", shortened(&output::visible(&document.title), rest))
        };
        documents.iter().map(line).collect()
    }
}

/// Cuts a text to a number of characters.
fn shortened(text: &str, n: usize) -> String {
    match text.char_indices().nth(n) {
        None => text.to_string(),
        Some(_) => {
            let start: String = text.chars().take(n.saturating_sub(1)).collect();
            format!("{}…", start.trim_end())
        }
    }
}
