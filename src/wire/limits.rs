//! `limits:` in the configuration: bounds on the cost of a repository.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::plan::Limits;

/// Limits on the cost of a repository.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitKeys {
    /// Bytes of one document.
    pub document_bytes: u64,
    /// Number of documents.
    pub documents: u64,
    /// Nesting depth of folders.
    pub depth: u64,
    /// Bytes of all documents together; default 2 GiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
    /// Bytes of one line; default 262144.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_bytes: Option<u64>,
    /// Nesting depth of quotes and lists; default 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nesting: Option<u64>,
    /// Bytes of front matter, or of a metadata file; default 65536.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front_matter_bytes: Option<u64>,
    /// Nesting depth of metadata; default 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 120))]
    pub yaml_depth: Option<u64>,
    /// Number of values in metadata with aliases expanded; default 10000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yaml_values: Option<u64>,
    /// Number of different references in one document; default 10000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<u64>,
}

impl Default for LimitKeys {
    fn default() -> LimitKeys {
        let Limits { document_bytes, documents, depth, .. } = Limits::default();
        LimitKeys {
            document_bytes,
            documents,
            depth,
            total_bytes: None,
            line_bytes: None,
            nesting: None,
            front_matter_bytes: None,
            yaml_depth: None,
            yaml_values: None,
            references: None,
        }
    }
}

impl LimitKeys {
    pub(super) fn plan(&self) -> Limits {
        let defaults = Limits::default();
        Limits {
            document_bytes: self.document_bytes,
            documents: self.documents,
            depth: self.depth,
            total_bytes: self.total_bytes.unwrap_or(defaults.total_bytes),
            line_bytes: self.line_bytes.unwrap_or(defaults.line_bytes),
            nesting: self.nesting.unwrap_or(defaults.nesting),
            front_matter_bytes: self.front_matter_bytes.unwrap_or(defaults.front_matter_bytes),
            yaml_depth: self.yaml_depth.unwrap_or(defaults.yaml_depth),
            yaml_values: self.yaml_values.unwrap_or(defaults.yaml_values),
            references: self.references.unwrap_or(defaults.references),
        }
    }
}
