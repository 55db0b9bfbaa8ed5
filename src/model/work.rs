//! The open work of an RFC or a plan: phase, tasks and success criteria.

/// The work that an RFC or a plan describes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Work {
    /// The summary or decision paragraph.
    pub brief: String,
    /// Current phase: the stated one, or the first with an open task.
    pub phase: Option<String>,
    /// Unchecked tasks in order. The list may be cut; `n_open` counts all of them.
    pub open: Vec<String>,
    /// Number of unchecked tasks.
    pub n_open: usize,
    /// Number of checked tasks.
    pub n_done: usize,
    /// Success criteria.
    pub criteria: Vec<String>,
}
