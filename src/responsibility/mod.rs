//! Responsibilities: turns the files of a role's container and its state into bundles for agents.
//!
//! Everything here works on values. `build` reads the files, mandates write the state.

pub mod addons;
pub mod append_only;
pub mod bundle;
pub mod compaction;
pub mod compose;
pub mod container;
pub mod events;
pub mod gates;
pub mod inbox;
pub mod lists;
pub mod model_policy;
pub mod refresh;
pub mod registry;
pub mod sla;

pub use container::{Container, ContainerFile};
