//! The configuration of one run, checked and complete.

use std::collections::BTreeMap;

use super::branch_name::OLDER_PREFIX;
use super::branch_rules::BranchRules;
use super::yaml_depth::MAX_DEPTH;
use super::{Allowance, BuildTarget, Code, Digest, Hasher, Kind, Severity};

/// The number of tokens and of bytes that a text may not exceed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Budget {
    /// Maximum from the configuration.
    pub max_tokens: u64,
    /// Tokens that may be used: the maximum minus the margin.
    pub tokens: u64,
    /// Maximum in bytes.
    pub bytes: u64,
}

/// Maximum size of a bundle. Agent hosts silently cut the output of a hook at 10,000 bytes or
/// UTF-16 units, so bundles stay below that.
pub const HOOK_BYTES: u64 = 9_500;

impl Budget {
    /// Creates a budget and subtracts the margin.
    pub fn new(max_tokens: u64, margin_percent: u64, bytes: u64) -> Budget {
        let tokens = max_tokens * (100 - margin_percent.min(100)) / 100;
        Budget { max_tokens, tokens, bytes }
    }

    /// Returns true if a text of this size fits.
    pub fn holds(&self, tokens: u64, bytes: u64) -> bool {
        tokens <= self.tokens && bytes <= self.bytes
    }
}

/// A rule of the configuration that selects documents by glob.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rule {
    /// Kind of the documents.
    pub kind: Kind,
    /// Name of their collection, a slug.
    pub collection: String,
    /// Prefixes of mentions, in lower case.
    pub series: Vec<String>,
    /// Globs below the root.
    pub paths: Vec<String>,
}

/// A tier of context: its sources and its budget.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tier {
    /// Addresses of the sources, in order.
    pub sources: Vec<String>,
    /// Maximum size of the tier.
    pub budget: Budget,
}

/// Limits on the resources that an untrusted repository can use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Maximum bytes of one document.
    pub document_bytes: u64,
    /// Maximum number of documents.
    pub documents: u64,
    /// Maximum bytes of all documents together.
    pub total_bytes: u64,
    /// Maximum nesting of folders.
    pub depth: u64,
    /// Maximum bytes of one line.
    pub line_bytes: u64,
    /// Maximum nesting of quotes and lists.
    pub nesting: u64,
    /// Maximum bytes of front matter, or of a metadata file.
    pub front_matter_bytes: u64,
    /// Maximum nesting of metadata.
    pub yaml_depth: u64,
    /// Maximum number of values in metadata after its aliases are expanded.
    pub yaml_values: u64,
    /// Maximum number of different references in one document.
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
    /// Hashes the limits that affect the facts of a document, unless they have their default
    /// values.
    pub fn hash_into(&self, hasher: &mut Hasher) {
        if self.parse_limits() != Limits::default().parse_limits() {
            self.parse_limits().iter().for_each(|limit| {
                hasher.number(*limit);
            });
        }
    }

    /// Returns the limits that affect the facts parsed from one document's bytes.
    pub fn parse_limits(&self) -> [u64; 6] {
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

/// Settings of responsibilities: roles with a container of files each.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ResponsibilityPlan {
    /// Name of the workspace; `None` to accept rows of any.
    pub workspace: Option<String>,
    /// Folder of the containers.
    pub registry: String,
    /// Path of the database with the requests.
    pub queue: Option<String>,
    /// Role that may override a hygiene gate.
    pub steward: String,
    /// Role that is the author of what blue writes in containers; `None` if blue may not.
    pub context_worker: Option<String>,
    /// Number of events in `recent_activity.md`.
    pub n_recent: u64,
    /// Part of each budget that stays free.
    pub margin_percent: u64,
    /// True if a gate of hygiene holds a publication.
    pub holds_red: bool,
    /// True if the states of containers, and the texts made from them, are not committed.
    pub is_state_local: bool,
    /// Further files of `ai_context/`.
    pub addons: Vec<AddonPlan>,
}

/// A further file of `ai_context/`, made from files of the container.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AddonPlan {
    /// Name of the file.
    pub name: String,
    /// Globs of the files that it is made from, below the container.
    pub from: Vec<String>,
    /// Name of the project's template that renders it; `None` for a list.
    pub template: Option<String>,
    /// Its budget in tokens, without the front matter.
    pub max_tokens: u64,
}

/// The configuration of one run: the documents to read, the files to emit and their budgets.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the project.
    pub project: Option<String>,
    /// Name of the realm that the project belongs to.
    pub realm: String,
    /// Rules that select documents. If empty, conventions select them.
    pub rules: Vec<Rule>,
    /// Tier 1, the session bundle.
    pub identity: Tier,
    /// Maximum size of the description of the project's workflow, beside the budget of tier 1.
    pub guide: Budget,
    /// Maximum size of the bundle of hand-written knowledge.
    pub knowledge: Budget,
    /// Maximum size of each digest.
    pub digests: Budget,
    /// Tier 2, the workflow bundles.
    pub workflow: Tier,
    /// Prefix of branches that are named after an RFC.
    pub branch_prefix: String,
    /// Former prefixes, whose branches still name an RFC.
    pub former_prefixes: Vec<String>,
    /// Branch that work starts from, if the configuration names one.
    pub base: Option<String>,
    /// Rules for edits on the branch of an RFC.
    pub branch_rules: BranchRules,
    /// True if the MCP server may create documents.
    pub mcp_write: bool,
    /// Maximum number of tier 2 bundles.
    pub max_bundles: u64,
    /// Events that deliver tier 2 again.
    pub refresh_triggers: Vec<String>,
    /// Tier 3, the documents for reference.
    pub reference: Tier,
    /// Address of the relevance index.
    pub graph: String,
    /// Days after which an unread document counts as stale.
    pub staleness_days: u64,
    /// Globs of path components that are never read.
    pub deny: Vec<String>,
    /// True if they apply to the titles of decisions, too. Otherwise a decision about secrets is
    /// read and scanned.
    pub deny_decisions: bool,
    /// True if symbolic links may point outside the root.
    pub allow_external: bool,
    /// Hidden characters and supposed secrets that are allowed.
    pub allowance: Allowance,
    /// Limits on resources.
    pub limits: Limits,
    /// Files for other agents to write, sorted.
    pub targets: Vec<BuildTarget>,
    /// Settings of responsibilities.
    pub responsibilities: ResponsibilityPlan,
    /// Names of plugins.
    pub plugins: Vec<String>,
    /// Severities that differ from the default; `None` turns a code off.
    pub severities: BTreeMap<Code, Option<Severity>>,
    /// Digest of the parsed configuration.
    pub digest: Digest,
}

impl Plan {
    /// Returns the prefixes of branches that name an RFC: the current one, former ones, and the older
    /// default.
    pub fn branch_prefixes(&self) -> Vec<&str> {
        let former = self.former_prefixes.iter().map(String::as_str);
        let mut prefixes: Vec<&str> = Vec::new();
        for prefix in
            std::iter::once(self.branch_prefix.as_str()).chain(former).chain([OLDER_PREFIX])
        {
            if !prefixes.contains(&prefix) {
                prefixes.push(prefix);
            }
        }
        prefixes
    }
}
