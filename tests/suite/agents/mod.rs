//! Hooks, deliveries, installation and usage.

mod delivery;
mod hooks;
mod install;
mod usage;
