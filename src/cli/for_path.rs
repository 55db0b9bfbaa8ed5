//! `blue knowledge for`: lists the documents about a file or a folder.

use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use clap::Args;
use serde_json::{Value, json};

use super::open::BuiltProject;
use super::output::OutputFormat;
use super::{Exit, output};
use crate::model::plural::counted;
use crate::root::Root;
use crate::serve::Catalogue;
use crate::serve::bindings::Bound;
use crate::serve::path_answer::{self, PathAnswer};
use crate::serve::related_text;
use crate::serve::symbol_mentions::NamesSymbols;
use crate::wire::jsonl::DocumentLine;

/// Maximum number of reasons and symbols that are printed per document.
const MAX_REASONS: usize = 4;

/// The flags of `blue knowledge for`.
#[derive(Args, Debug)]
pub(super) struct ForArgs {
    /// File or folder; it need not exist
    path: PathBuf,
    /// Also show superseded, rejected and other documents that are not live
    #[arg(long)]
    all: bool,
    /// Show at most N documents that name the path, and N that name what it defines
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Print passages of at most this many tokens for documents that are found by meaning
    #[arg(long, value_name = "TOKENS", default_value_t = 300)]
    budget: u64,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

impl ForArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let project = BuiltProject::open(directory)?;
        let path = path_below_root(&project.root, directory, &self.path)?;
        let index = project.search_index()?;
        let library = project.library();
        let answer = path_answer::find(&library, &index, &path, self.all, self.budget)?
            .context("there is no index of paths\nhint: run `blue knowledge build`")?;
        let catalogue = &project.built.catalogue;
        output::out(&match self.format {
            OutputFormat::Json => self.json(catalogue, &path, &answer)?,
            OutputFormat::Text => self.text(catalogue, &answer),
        })?;
        self.report_rest(&path, &answer);
        Ok(if answer.is_empty() { Exit::FoundSomething } else { Exit::Done })
    }

    fn bound<'a>(&self, answer: &'a PathAnswer) -> &'a [Bound] {
        &answer.bindings.bound[..answer.bindings.bound.len().min(self.limit)]
    }

    fn by_symbol<'a>(&self, answer: &'a PathAnswer) -> &'a [NamesSymbols] {
        &answer.by_symbol[..answer.by_symbol.len().min(self.limit)]
    }

    /// Reports the documents and paths that are not listed.
    fn report_rest(&self, path: &str, answer: &PathAnswer) {
        let bindings = &answer.bindings;
        let path = output::visible(if path.is_empty() { "." } else { path });
        if bindings.bound.is_empty() {
            let hint = bindings.similar.as_ref().map_or(String::new(), |similar| {
                format!("\nhint: did you mean {}?", output::visible(similar))
            });
            output::say(&format!("blue: no live document names {path}{hint}"));
        }
        let n_all = bindings.bound.len() + answer.by_symbol.len();
        let n_more = n_all - self.bound(answer).len() - self.by_symbol(answer).len();
        if n_more > 0 {
            output::say(&format!("blue: {n_more} more\nhint: raise --limit"));
        }
        if bindings.n_below > 0 {
            let paths = counted(bindings.n_below, "named path");
            let documents = counted(bindings.n_documents_below, "document");
            output::say(&format!("blue: below {path}: {paths}, by {documents}"));
        }
        if bindings.n_history > 0 {
            let documents = counted(bindings.n_history, "document");
            output::say(&format!("blue: {documents} not shown because not live\nhint: add --all"));
        }
    }

    /// Formats the documents. A line names every group but the first.
    fn text(&self, catalogue: &Catalogue, answer: &PathAnswer) -> String {
        let mut text = String::new();
        for bound in self.bound(answer) {
            text += &head(catalogue, &bound.document);
            let because = bound.because.iter().take(MAX_REASONS);
            let because = because.map(|because| output::visible(&because.text()));
            text.extend(because.map(|because| format!("    {because}\n")));
            text += &summary(&bound.document);
        }
        for (i, found) in self.by_symbol(answer).iter().enumerate() {
            if i == 0 {
                text += "By symbol: documents that name what the file defines\n";
            }
            text += &head(catalogue, &found.document);
            let symbols = found.symbols.iter().take(MAX_REASONS);
            let symbols = symbols.map(|symbol| format!("{}, line {}", symbol.name, symbol.line));
            let symbols = symbols.collect::<Vec<_>>().join("; ");
            text += &format!("    {}\n", output::visible(&symbols));
            text += &summary(&found.document);
        }
        for (i, found) in answer.by_meaning.iter().enumerate() {
            if i == 0 {
                text += "By meaning: documents with similar words, which do not name the path\n";
            }
            text += &related_text::document_text(catalogue, found);
        }
        text
    }

    fn json(
        &self,
        catalogue: &Catalogue,
        path: &str,
        answer: &PathAnswer,
    ) -> anyhow::Result<String> {
        let because = |bound: &Bound| -> Vec<Value> {
            let because = bound.because.iter().map(|because| {
                json!({"path": because.path, "kind": because.kind.as_str(),
                    "reason": because.reason, "line": because.line})
            });
            because.collect()
        };
        let symbols = |found: &NamesSymbols| -> Vec<Value> {
            let symbols = found.symbols.iter();
            symbols.map(|symbol| json!({"symbol": symbol.name, "line": symbol.line})).collect()
        };
        let bound = self.bound(answer).iter().map(|bound| entry(&bound.document, because(bound)));
        let by_symbol = self.by_symbol(answer).iter();
        let by_symbol = by_symbol.map(|found| entry(&found.document, symbols(found)));
        let by_meaning =
            answer.by_meaning.iter().map(|found| related_text::entry(catalogue, found));
        let bindings = &answer.bindings;
        let value = json!({
            "path": path, "documents": bound.collect::<Vec<_>>(),
            "by_symbol": by_symbol.collect::<Vec<_>>(),
            "by_meaning": by_meaning.collect::<Vec<_>>(),
            "not_shown": bindings.bound.len() - self.bound(answer).len(),
            "history_left_out": bindings.n_history,
            "below": {"paths": bindings.n_below, "documents": bindings.n_documents_below},
            "near": bindings.similar,
        });
        Ok(format!("{}\n", serde_json::to_string_pretty(&value)?))
    }
}

/// Formats the path, title, status and date of a document.
fn head(catalogue: &Catalogue, line: &DocumentLine) -> String {
    let states = related_text::states(catalogue, line).join(", ");
    let head = format!("{}  {}  ({states})", line.path, related_text::title(line));
    format!("{}\n", output::visible(&head))
}

fn summary(line: &DocumentLine) -> String {
    match line.summary.as_str() {
        "" => String::new(),
        summary => format!("    {}\n", output::visible(summary)),
    }
}

fn entry(line: &DocumentLine, because: Vec<Value>) -> Value {
    json!({
        "uri": line.uri, "path": line.path, "title": line.title, "status": line.status,
        "live": line.live, "replaced_by": line.replaced_by, "summary": line.summary,
        "because": because,
    })
}

/// Converts a path that is absolute or relative to `directory` to a path below the root.
pub(super) fn path_below_root(
    root: &Root,
    directory: &Path,
    path: &Path,
) -> anyhow::Result<String> {
    let shown = path.display();
    let outside = || format!("{shown} is not in this project");
    let here = std::path::absolute(directory).with_context(|| format!("find {shown}"))?;
    let top = std::path::absolute(root.path()).with_context(|| format!("find {shown}"))?;
    let wanted = normalize(&here.join(path));
    let rest = match wanted.strip_prefix(normalize(&top)) {
        Ok(rest) => rest.to_path_buf(),
        // The same folder can have two names, one of them through a symbolic link.
        Err(_) => real(&wanted).strip_prefix(real(&top)).with_context(outside)?.to_path_buf(),
    };
    let parts: Option<Vec<&str>> = rest.iter().map(|part| part.to_str()).collect();
    Ok(parts.with_context(|| format!("{shown} is not UTF-8"))?.join("/"))
}

/// Removes `.` and `..` from a path without reading the disk.
fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

/// Follows the symbolic links in the part of a path that exists.
fn real(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    let mut at = path;
    loop {
        if let Ok(real) = at.canonicalize() {
            return missing.iter().rev().fold(real, |real, name| real.join(name));
        }
        let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else {
            return path.to_path_buf();
        };
        missing.push(name);
        at = parent;
    }
}
