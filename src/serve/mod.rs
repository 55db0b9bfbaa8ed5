//! Looks up and copies what was built; computes nothing.

pub mod bundles;
pub mod catalogue;
pub mod delivery;
pub mod reference;

pub use bundles::Bundles;
pub use catalogue::{Catalogue, Lookup};
pub use delivery::{Log, Staleness};
