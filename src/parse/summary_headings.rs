//! Names of the sections in which a summary is searched, and of those in which it is not.

/// Headings of sections that summarise a document, best first.
pub(super) const SUMMARY_HEADINGS: &[&str] =
    &["summary", "simple summary", "short summary", "tl;dr", "tldr", "executive summary"];

/// Headings of sections that state the decision, best first.
pub(super) const DECISION_HEADINGS: &[&str] = &[
    "decision",
    "decision outcome",
    "decision summary",
    "decisions",
    "the decision",
    "our decision",
    "final decision",
    "majority decision",
    "proposed decision",
    "architecture decision",
    "decision made",
    "chosen option",
    "chosen solution",
    "outcome",
    "resolution",
    "conclusion",
    "principle",
];

/// Headings of sections that describe the proposal, often after other things.
pub(super) const PROPOSAL_HEADINGS: &[&str] = &[
    "introduction",
    "overview",
    "description",
    "proposed solution",
    "proposed change",
    "proposed changes",
    "proposed approach",
    "proposed design",
    "solution",
    "proposal",
    "our proposal",
    "recommendation",
    "product overview",
    "requirements",
    "functional requirements",
];

/// Headings of sections that say why a document exists, best first.
pub(super) const CONTEXT_HEADINGS: &[&str] = &[
    "goal",
    "goals",
    "objective",
    "objectives",
    "purpose",
    "scope",
    "motivation",
    "problem",
    "problem statement",
    "question",
    "topic",
    "context",
    "context and problem statement",
    "background",
];

/// Headings of sections about the effect of a decision, best first.
pub(super) const CONSEQUENCE_HEADINGS: &[&str] =
    &["consequences", "consequence", "rationale", "reasons", "implications", "context"];

/// Headings of sections about the document itself.
pub(super) const SKIPPED_HEADINGS: &[&str] = &[
    "acknowledgements",
    "acknowledgments",
    "author",
    "authors",
    "change history",
    "changelog",
    "contents",
    "copyright",
    "date",
    "draft",
    "history",
    "license",
    "links",
    "metadata",
    "preamble",
    "references",
    "revision history",
    "status",
    "table of contents",
    "wip",
    "work in progress",
];
