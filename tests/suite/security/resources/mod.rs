//! Input that tries to use up time or memory.

mod limits;
mod linear_time;
mod slow_input;
mod templates;

/// `key: value` lines, with a title and a status around some front matter.
fn fronted(inner: &str) -> String {
    format!("---\nstatus: accepted\n{inner}\n---\n\n# Title\n\nText.\n")
}

/// Repeats a part until a text has so many bytes.
fn fill(part: &str, n_bytes: usize) -> String {
    part.repeat(n_bytes / part.len() + 1)
}
