//! Input that tries to use up time or memory.

mod limits;
mod linear_formats;
mod linear_time;
mod slow_input;
mod templates;

/// A document with the given front matter between a title and a status.
fn fronted(inner: &str) -> String {
    format!("---\nstatus: accepted\n{inner}\n---\n\n# Lanterns\n\nText.\n")
}

/// Repeats a part until the text has N bytes.
fn fill(part: &str, n_bytes: usize) -> String {
    part.repeat(n_bytes / part.len() + 1)
}
