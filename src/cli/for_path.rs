//! `blue knowledge for`: lists the documents that bind a file or a folder.

use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use clap::Args;
use serde_json::json;

use super::open::BuiltProject;
use super::output::OutputFormat;
use super::{Exit, output};
use crate::model::plural::counted;
use crate::root::Root;
use crate::serve::bindings::{self, Bindings, Bound};

/// The flags of `blue knowledge for`.
#[derive(Args, Debug)]
pub(super) struct ForArgs {
    /// File or folder; it need not exist
    path: PathBuf,
    /// Also show superseded, rejected and other documents that are not live
    #[arg(long)]
    all: bool,
    /// Show at most N documents
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

impl ForArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let project = BuiltProject::open(directory)?;
        let path = path_below_root(&project.root, directory, &self.path)?;
        let bindings = bindings::find(&project.root, &project.built.catalogue, &path, self.all)?
            .context("there is no index of paths\nhint: run `blue knowledge build`")?;
        let shown = &bindings.bound[..bindings.bound.len().min(self.limit)];
        match self.format {
            OutputFormat::Json => output::out(&json(&path, &bindings, shown)?)?,
            OutputFormat::Text => output::out(&text(shown))?,
        }
        report_rest(&path, &bindings, shown.len());
        let is_empty = bindings.bound.is_empty() && bindings.n_below == 0;
        Ok(if is_empty { Exit::FoundSomething } else { Exit::Done })
    }
}

/// Reports the documents and paths that are not listed.
fn report_rest(path: &str, bindings: &Bindings, n_shown: usize) {
    let path = output::visible(if path.is_empty() { "." } else { path });
    if bindings.bound.is_empty() {
        let hint = bindings.similar.as_ref().map_or(String::new(), |similar| {
            format!("\nhint: did you mean {}?", output::visible(similar))
        });
        output::say(&format!("blue: no live document names {path}{hint}"));
    }
    if bindings.bound.len() > n_shown {
        let n_more = bindings.bound.len() - n_shown;
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

fn text(bound: &[Bound]) -> String {
    let mut text = String::new();
    for bound in bound {
        let line = &bound.document;
        let replaced = match line.replaced_by.as_slice() {
            [] => String::new(),
            by => format!(", replaced by {}", by.join(" and ")),
        };
        let head = format!("{}  {}  ({}{replaced})", line.uri, line.title, line.status);
        text += &format!("{}\n", output::visible(&head));
        let because = bound.because.iter().map(|because| output::visible(&because.text()));
        text.extend(because.map(|because| format!("    {because}\n")));
    }
    text
}

fn json(path: &str, bindings: &Bindings, bound: &[Bound]) -> anyhow::Result<String> {
    let entry = |bound: &Bound| {
        let line = &bound.document;
        let because: Vec<_> = bound
            .because
            .iter()
            .map(|because| {
                json!({"path": because.path, "kind": because.kind.as_str(),
                    "reason": because.reason, "line": because.line})
            })
            .collect();
        json!({
            "uri": line.uri, "path": line.path, "title": line.title, "status": line.status,
            "live": line.live, "replaced_by": line.replaced_by, "summary": line.summary,
            "because": because,
        })
    };
    let value = json!({
        "path": path, "documents": bound.iter().map(entry).collect::<Vec<_>>(),
        "not_shown": bindings.bound.len() - bound.len(), "history_left_out": bindings.n_history,
        "below": {"paths": bindings.n_below, "documents": bindings.n_documents_below},
        "near": bindings.similar,
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&value)?))
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
