//! Rules for edits on the branch of an RFC.

/// Rules for edits on a branch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BranchRules {
    /// Another RFC's document or plan is changed on the branch of an RFC.
    pub wrong_branch: WrongBranch,
    /// Code is changed in a working tree whose RFC is not accepted.
    pub unaccepted_code: Strictness,
    /// A document is created outside its collection.
    pub stray_documents: Strictness,
}

/// Branches on which another RFC's document must not be changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WrongBranch {
    /// Branches of another known RFC.
    Known,
    /// All prefixed branches that are not this RFC's own.
    Any,
    /// None.
    Off,
}

/// The consequence for an edit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Strictness {
    /// It is allowed.
    Off,
    /// It is allowed with a warning.
    Warn,
    /// It is refused.
    Deny,
}
