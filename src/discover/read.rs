//! Reads a document, also through a symbolic link that is allowed.

use std::io;

use anyhow::Context;

use super::deny::DenyList;
use super::walk::may_be_document;
use crate::model::Plan;
use crate::model::source::with_lf;
use crate::root::{Content, Root, read_fd};

/// Reads a document, with LF line ends if git converted all of them to CRLF. An I/O error is
/// returned and stops the build, because leaving the document out would emit incomplete artifacts.
pub fn read_document(root: &Root, plan: &Plan, path: &str) -> anyhow::Result<Option<Content>> {
    let limit = plan.limits.document_bytes;
    let content = match root.read(path, limit) {
        Err(error) if is_link_error(&error) => read_through_link(root, plan, path, limit),
        other => other,
    };
    Ok(match content.with_context(|| format!("read {path}"))? {
        Some(Content::Bytes(bytes, stat)) => {
            Some(Content::Bytes(with_lf(&bytes).unwrap_or(bytes), stat))
        }
        content => content,
    })
}

fn is_link_error(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    code == Some(rustix::io::Errno::LOOP.raw_os_error())
        || code == Some(rustix::io::Errno::MLINK.raw_os_error())
}

/// Resolves a link, checks its target, and opens the target without following another link.
fn read_through_link(
    root: &Root,
    plan: &Plan,
    path: &str,
    limit: u64,
) -> io::Result<Option<Content>> {
    let resolved = root.path().join(path).canonicalize()?;
    let target = resolved.strip_prefix(root.path()).unwrap_or(&resolved).to_string_lossy();
    // The target may have changed since discovery checked it.
    let denied = DenyList::new(&plan.deny).map(|deny| deny.denied_part(&target).is_some());
    if denied.unwrap_or(true) || !may_be_document(&target) {
        return Ok(Some(Content::NotRegular));
    }
    if let Ok(inside) = resolved.strip_prefix(root.path()) {
        let inside = inside.to_str().ok_or(io::ErrorKind::InvalidInput)?;
        return root.read(inside, limit);
    }
    if !plan.allow_external || !root.machine().allows(&resolved) {
        return Ok(Some(Content::NotRegular));
    }
    let flags = rustix::fs::OFlags::RDONLY
        | rustix::fs::OFlags::NOFOLLOW
        | rustix::fs::OFlags::NONBLOCK
        | rustix::fs::OFlags::CLOEXEC;
    let open = || rustix::fs::open(&resolved, flags, rustix::fs::Mode::empty());
    let fd = rustix::io::retry_on_intr(open)?;
    read_fd(fd, limit).map(Some)
}
