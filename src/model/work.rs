//! What a document says of the work it asks for.

/// What there is to do under an RFC or a plan, as it is written.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Work {
    /// The summary or decision paragraph.
    pub brief: String,
    /// The phase the work is in: as stated, or the first that has an open task.
    pub phase: Option<String>,
    /// Tasks without a tick, in order; the first of many.
    pub open: Vec<String>,
    /// How many tasks have none.
    pub n_open: usize,
    /// How many tasks have one.
    pub n_done: usize,
    /// What must hold in the end.
    pub criteria: Vec<String>,
}
