//! Lines of `paths.jsonl`.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::escape::escape;
use crate::model::{Binding, Graph};

/// A file, a folder or a pattern, and the documents that name it.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(title = "line of paths.jsonl")]
pub struct PathLine {
    /// Path below the root, or a pattern over such paths.
    pub path: String,
    /// Kind of the path.
    pub kind: PathLineKind,
    /// Documents that name it, most explicit first.
    pub documents: Vec<NamedBy>,
}

/// Kind of a path.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PathLineKind {
    /// A file.
    File,
    /// A folder. Documents name it with all that is in it, unless their entry says otherwise.
    Folder,
    /// A pattern.
    Glob,
}

impl PathLineKind {
    /// Returns the word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            PathLineKind::File => "file",
            PathLineKind::Folder => "folder",
            PathLineKind::Glob => "glob",
        }
    }
}

/// A document that names a path.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NamedBy {
    /// Its address.
    pub uri: String,
    /// Kind of mention: affects it, links to it, named in code.
    pub reason: String,
    /// Line; absent if the path is named in a metadata file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// True if it names the folder, but not what is in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub folder_only: bool,
}

/// A [`PathLine`] to write.
#[derive(Serialize)]
struct PathRow<'a> {
    path: Cow<'a, str>,
    kind: &'static str,
    documents: Vec<NamedByRow<'a>>,
}

#[derive(Serialize)]
struct NamedByRow<'a> {
    uri: &'a str,
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    folder_only: bool,
}

/// Renders the body of `paths.jsonl`. The bindings must be sorted by path.
pub fn paths(graph: &Graph, bindings: &[Binding]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for group in bindings.chunk_by(|a, b| (&a.path, a.kind) == (&b.path, b.kind)) {
        let documents = group.iter().map(|binding| NamedByRow {
            uri: graph.document(binding.document).uri.as_str(),
            reason: binding.naming.as_str(),
            line: Some(binding.line).filter(|line| *line > 0),
            folder_only: binding.folder_only,
        });
        let row = PathRow {
            path: escape(&group[0].path),
            kind: group[0].kind.as_str(),
            documents: documents.collect(),
        };
        serde_json::to_writer(&mut bytes, &row).expect("a line is JSON");
        bytes.push(b'\n');
    }
    bytes
}
