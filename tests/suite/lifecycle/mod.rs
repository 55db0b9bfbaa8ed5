//! New documents, statuses and names that change, links that follow, and the guard of branches.

mod branch_guard;
mod crash;
mod new_documents;
mod server_and_guide;
mod status_changes;

use crate::support::Project;

/// A project with three RFCs that refer to each other in every way, not built yet.
pub fn three_rfcs() -> Project {
    let project = Project::with(
        "docs/rfcs/0001-cache.draft.md",
        "# RFC 0001: Cache\n\n| | |\n|---|---|\n| **Status** | Draft |\n\n## Summary\n\nA cache. See [itself](0001-cache.draft.md#summary).\n",
    );
    project.write(
        "docs/rfcs/0002-queue.accepted.md",
        "\u{feff}# RFC 0002: Queue\r\n\r\n**Status:** Accepted  \r\n**Depends On:** 0001-cache.draft.md\r\n\r\n## Summary\r\n\r\nA queue, after [the cache][1] and [again](./0001-cache.draft.md#summary \"x\").\r\n\r\n```\r\n[code](0001-cache.draft.md)\r\n```\r\n\r\n[1]: 0001-cache.draft.md\r\n",
    );
    project.write(
        "docs/adr/0001-use-rust.md",
        "---\nstatus: accepted\nrelated: [\"../rfcs/0001-cache.draft.md\"]\n---\n# Use Rust\n\n## Decision\n\nWe use Rust, see [RFC](/docs/rfcs/0001-cache.draft.md).\n",
    );
    project
}

/// The documents of a project.
pub fn documents(project: &Project) -> std::collections::BTreeMap<String, Vec<u8>> {
    project.files().into_iter().filter(|(path, _)| path.starts_with("docs/")).collect()
}
