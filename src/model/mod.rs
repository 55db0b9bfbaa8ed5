//! The nouns every room shares, with their invariants.

pub mod action;
pub mod artifact;
pub mod bundle;
pub mod depth;
pub mod diagnostic;
pub mod digest;
pub mod document;
pub mod graph;
pub mod hidden;
pub mod name;
pub mod neutral;
pub mod number;
pub mod place;
pub mod plan;
pub mod record;
pub mod series;
pub mod source;
pub mod status;
pub mod status_words;
pub mod uri;
pub mod work;

pub use action::{Action, FORMAT, Listener};
pub use artifact::{Artifact, Format};
pub use bundle::{Bundle, Candidate, Level};
pub use diagnostic::{Code, Diagnostic, Noted, Severity};
pub use digest::{Digest, Hasher};
pub use document::{Document, Facts, Label, Note, Reference, Relation, Sizes, Target, Texts};
pub use graph::{DocId, Edge, Graph, Neighbour};
pub use number::Number;
pub use plan::{Budget, Plan};
pub use record::{Folder, Record, Stat, Watched};
pub use source::{Collection, Found, Kind, Source};
pub use status::Status;
pub use uri::Uri;
pub use work::Work;
