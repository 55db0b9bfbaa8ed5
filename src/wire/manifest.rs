//! `.blue/context.manifest.yaml`, the list of emitted files. Only the build writes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::header;
use crate::model::layout::CONFIG;
use crate::model::{Digest, Format, Hasher};

/// Emitted files, their inputs and checksums.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(title = "blue manifest")]
pub struct Manifest {
    /// The version of this format.
    pub version: u32,
    /// The date of `source_commit`, not of the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated_at: Option<String>,
    /// HEAD when the content last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_commit: Option<String>,
    /// Program that wrote it.
    pub generator: Generator,
    /// One digest over configuration, templates and every document's path and content.
    pub inputs: String,
    /// Tier 1.
    pub identity: IdentityTier,
    /// Tier 2.
    pub workflow: WorkflowTier,
    /// Tier 3.
    pub reference: ReferenceTier,
    /// Plugins by name.
    pub plugins: Vec<String>,
    /// The documents, counted.
    pub documents: DocumentCounts,
    /// Every emitted file but this one.
    pub artifacts: Vec<ManifestEntry>,
    /// The digest of all lines above, less `generated_at`, `source_commit` and the seals.
    pub checksum: String,
    /// The digest of every byte above, dates and header included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

/// Program that wrote a manifest.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Generator {
    /// Always `blue`.
    pub name: String,
    /// The format number that goes into every digest.
    pub format: u32,
}

/// Tier 1 as it was built.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct IdentityTier {
    /// The budget.
    pub max_tokens: u64,
    /// Tokens of the built text.
    pub tokens: u64,
    /// Sources in it.
    pub sources: Vec<TierSource>,
}

/// A source of a tier as it was built.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TierSource {
    /// The address asked for.
    pub uri: String,
    /// The emitted file or the document that answers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
    /// The digest of that file's content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Its tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

/// Tier 2 as it was built.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowTier {
    /// The budget.
    pub max_tokens: u64,
    /// Sources that are chosen at run time.
    pub sources: Vec<TierSource>,
    /// Events after which it is delivered again.
    pub refresh_triggers: Vec<String>,
    /// Number of bundles.
    pub bundles: u64,
}

/// Tier 3 as it was built.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceTier {
    /// The budget.
    pub max_tokens: u64,
    /// The address of the relevance index.
    pub graph: String,
    /// The file behind it.
    pub index: String,
    /// Days without a change or a delivery after which a document is suggested for review.
    pub staleness_days: u64,
}

/// The documents, counted.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentCounts {
    /// Number of documents.
    pub count: u64,
    /// Number of live documents.
    pub live: u64,
    /// The file with a line for each.
    pub index: String,
}

/// One emitted file.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestEntry {
    /// Path below the root.
    pub path: String,
    /// The address under which it is served.
    pub uri: String,
    /// The digest of its content, without the dates in its header.
    pub hash: String,
    /// Bytes of its content, without its header.
    pub bytes: u64,
    /// Tokens, header included; absent if they are not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens: u64,
    /// Digest of all inputs that determine it.
    pub action: String,
    /// The digest of its header, dates included, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Reason why a text is not a manifest that blue wrote.
#[derive(Debug, Eq, PartialEq)]
pub enum Unusable {
    /// Written by hand, in the older format without checksums.
    HandWritten,
    /// Neither written by blue nor in that older format.
    NotAManifest,
    /// Syntax error or wrong checksum.
    Broken(String),
}

/// Manifests of this format and later are sealed.
const SEALED_SINCE: u32 = 4;

impl Manifest {
    /// Returns the entry of an artifact by path.
    pub fn entry(&self, path: &str) -> Option<&ManifestEntry> {
        self.artifacts.iter().find(|entry| entry.path == path)
    }

    /// Renders the file, with its checksum and seal.
    pub fn file(&self, header: &str) -> String {
        let text = format!("{header}{}", self.text());
        let seal = Digest::of(text.as_bytes());
        format!("{text}seal: {seal}\n")
    }

    /// Renders the text between header and seal.
    fn text(&self) -> String {
        let bare = Manifest { checksum: String::new(), seal: None, ..self.clone() };
        let text = serde_yaml::to_string(&bare).expect("a manifest is YAML");
        let end = text.rfind("checksum:").expect("the checksum is the last key");
        let above = &text[..end];
        format!("{above}checksum: {}\n", checksum(above))
    }

    /// Computes the checksum.
    pub fn computed_checksum(&self) -> String {
        let text = self.text();
        text.trim_end().rsplit(' ').next().unwrap_or_default().to_string()
    }

    /// Description of the sources in the header.
    pub fn source_line(&self) -> String {
        format!("{CONFIG} and {} documents", self.documents.count)
    }

    /// Parses a manifest. It must have exactly the bytes that blue wrote.
    pub fn read(text: &str) -> Result<Manifest, Unusable> {
        let broken = |why: &str| Err(Unusable::Broken(why.to_string()));
        if !text.contains("\nchecksum: ") {
            return match text {
                _ if text.trim().is_empty() => broken("it is empty"),
                _ if text.contains("Regenerate: ") || text.contains("\ninputs:") => {
                    broken("it has no checksum")
                }
                _ if has_tiers(text) => Err(Unusable::HandWritten),
                _ => Err(Unusable::NotAManifest),
            };
        }
        let manifest: Manifest =
            serde_yaml::from_str(text).map_err(|error| Unusable::Broken(error.to_string()))?;
        let Some(unsealed) = unsealed(text, &manifest) else {
            return broken("its seal does not hold");
        };
        let Some(file) = header::parse(Format::Yaml, unsealed.as_bytes()) else {
            return broken("its header is not blue's");
        };
        // The checksum covers the text of every line, so it detects changed and added lines.
        let body = std::str::from_utf8(file.body).unwrap_or_default();
        let end = body.rfind("\nchecksum: ").map_or(0, |at| at + 1);
        let stated = format!("checksum: {}\n", checksum(&body[..end]));
        let whole = file.source == manifest.source_line() && body[end..] == stated;
        if whole { Ok(manifest) } else { broken("its checksum does not hold") }
    }
}

/// Returns true if a text has a key of the older format, in which people declared the tiers in the
/// manifest. It need not be valid YAML: `blue init` reports its errors.
fn has_tiers(text: &str) -> bool {
    let keys = ["tiers:", "identity:", "workflow:", "reference:", "plugins:"];
    text.lines().any(|line| keys.iter().any(|key| line.starts_with(key)))
}

/// Returns the text above the seal if the seal is right. Older formats have none.
fn unsealed<'a>(text: &'a str, manifest: &Manifest) -> Option<&'a str> {
    if manifest.seal.is_none() && manifest.generator.format < SEALED_SINCE {
        return Some(text);
    }
    let above = &text[..text.rfind("\nseal: ")? + 1];
    (text[above.len()..] == format!("seal: {}\n", Digest::of(above.as_bytes()))).then_some(above)
}

fn checksum(above: &str) -> Digest {
    let mut hasher = Hasher::new();
    let dated = ["generated_at:", "source_commit:", "  seal: "];
    for line in above.lines() {
        if !dated.iter().any(|key| line.starts_with(key)) {
            hasher.field(line.as_bytes());
        }
    }
    hasher.digest()
}
