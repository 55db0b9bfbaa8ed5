//! One run's checked configuration.

use std::collections::BTreeMap;

use super::depth::MAX_DEPTH;
use super::{Allowance, Code, Digest, Hasher, Kind, Severity};

/// A number of tokens and of bytes that a text may not exceed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Budget {
    /// What the configuration asks for.
    pub max_tokens: u64,
    /// What may be spent: the maximum less the declared margin.
    pub tokens: u64,
    /// The hard cap in bytes.
    pub bytes: u64,
}

/// Hooks cut what they print at 10,000 bytes or UTF-16 units, silently; blue stays below.
pub const HOOK_BYTES: u64 = 9_500;

impl Budget {
    /// A budget with its margin taken off.
    pub fn new(max_tokens: u64, margin_percent: u64, bytes: u64) -> Budget {
        let tokens = max_tokens * (100 - margin_percent.min(100)) / 100;
        Budget { max_tokens, tokens, bytes }
    }

    /// Whether a text of this size fits.
    pub fn holds(&self, tokens: u64, bytes: u64) -> bool {
        tokens <= self.tokens && bytes <= self.bytes
    }
}

/// Documents that the configuration asks for by glob.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rule {
    /// What they are.
    pub kind: Kind,
    /// The collection they form; a slug.
    pub collection: String,
    /// Mention prefixes, lower case.
    pub series: Vec<String>,
    /// Globs below the root.
    pub paths: Vec<String>,
}

/// A tier of context: what goes in and how much.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tier {
    /// Addresses, in order.
    pub sources: Vec<String>,
    /// How much.
    pub budget: Budget,
}

/// Limits on what a stranger's repository may cost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Bytes of one document.
    pub document_bytes: u64,
    /// How many documents.
    pub documents: u64,
    /// Bytes of all documents together.
    pub total_bytes: u64,
    /// How deep folders may nest.
    pub depth: u64,
    /// Bytes of one line.
    pub line_bytes: u64,
    /// How deep quotes and lists may nest.
    pub nesting: u64,
    /// Bytes of front matter, or of a metadata file.
    pub front_matter_bytes: u64,
    /// How deep metadata may nest.
    pub yaml_depth: u64,
    /// How many values metadata may have once its aliases are followed.
    pub yaml_values: u64,
    /// How many different references one document may have.
    pub references: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            document_bytes: 4 << 20,
            documents: 200_000,
            total_bytes: 2 << 30,
            depth: 64,
            line_bytes: 256 << 10,
            nesting: 64,
            front_matter_bytes: 64 << 10,
            yaml_depth: MAX_DEPTH as u64,
            yaml_values: 10_000,
            references: 10_000,
        }
    }
}

impl Limits {
    /// Tells a digest what decides, besides a document's own digest, what was read of it. The usual
    /// limits tell nothing.
    pub fn tell(&self, told: &mut Hasher) {
        if self.of_document() != Limits::default().of_document() {
            self.of_document().iter().for_each(|limit| {
                told.number(*limit);
            });
        }
    }

    /// The limits that decide what is read of one document's bytes.
    pub fn of_document(&self) -> [u64; 6] {
        [
            self.line_bytes,
            self.nesting,
            self.front_matter_bytes,
            self.yaml_depth,
            self.yaml_values,
            self.references,
        ]
    }
}

/// One run's checked configuration: what to read, what to make, how much.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The project's name.
    pub project: Option<String>,
    /// The realm it belongs to.
    pub realm: String,
    /// Rules for documents; empty means conventions.
    pub rules: Vec<Rule>,
    /// Tier 1.
    pub identity: Tier,
    /// Tokens of tier 1 that the project's way of working may take.
    pub guide_tokens: u64,
    /// Tier 2.
    pub workflow: Tier,
    /// What a branch's name begins with when it is named after an RFC.
    pub branch_prefix: String,
    /// The most bundles of tier 2.
    pub max_bundles: u64,
    /// When tier 2 is given again.
    pub refresh_triggers: Vec<String>,
    /// Tier 3.
    pub reference: Tier,
    /// The address of the relevance index.
    pub graph: String,
    /// After how many days an unread reference counts as stale.
    pub staleness_days: u64,
    /// Globs on path components that are never read.
    pub deny: Vec<String>,
    /// Whether symbolic links may lead out of the root.
    pub allow_external: bool,
    /// What is let through although it hides, or looks like a secret.
    pub allowance: Allowance,
    /// Limits.
    pub limits: Limits,
    /// Plugins by name.
    pub plugins: Vec<String>,
    /// The severity of a code where it is not the usual one; `None` is off.
    pub severities: BTreeMap<Code, Option<Severity>>,
    /// The digest of the configuration as it was understood.
    pub digest: Digest,
}
