//! The MCP server.

mod addresses;
mod global;
mod protocol;
mod resources;
mod sessions;
mod tools;

use crate::support::Project;
use crate::support::mcp_client::Era;

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// A project with current work, a superseded decision, a plan, CRLF files and a voice.
fn sample() -> Project {
    let project = Project::new();
    let adr = |i: usize, title: &str, status: &str, more: &str| {
        format!(
            "# ADR {i:04}: {title}\n\n- Status: {status}\n{more}\n## Decision\n\n{title} it is.\n"
        )
    };
    project
        .write(".blue/docs/adrs/0001-cache.md", adr(1, "Cache", "superseded", "- Superseded by: ADR 0002\n"))
        .write(".blue/docs/adrs/0002-no-cache.md", adr(2, "No cache", "accepted", "- Supersedes: ADR 0001\n"))
        .write(".blue/docs/adrs/0003-überblick.md", adr(3, "Überblick", "accepted", ""))
        .write(".blue/docs/adrs/0012-locks.md", adr(12, "Locks", "accepted", "- Related: ADR 0002\n"))
        .write(".blue/docs/adrs/0013-crlf.md", adr(13, "Windows", "accepted", "").replace('\n', "\r\n"))
        .write(
            ".blue/docs/rfcs/0016-context.md",
            "# RFC 0016: Context\n\n- Status: in progress\n- Depends on: ADR 0002\n\nSee ADR 0012.\n\n## Tasks\n\n- [x] first\n- [ ] second\n- [ ] third\n",
        )
        .write(".blue/docs/rfcs/0016-context.plan.md", "# Plan\n\n- [ ] plan it\n")
        .write("shared/text.md", "# ADR 0014: Linked\r\n\r\nStatus: accepted\r\n")
        .write(".blue/voice.md", "Plain words.\r\n")
        .write(".git/HEAD", "ref: refs/heads/rfc/0016\n");
    let link = project.path().join(".blue/docs/adrs/0014-linked.md");
    std::os::unix::fs::symlink("../../../shared/text.md", link).unwrap();
    project.build();
    project
}
