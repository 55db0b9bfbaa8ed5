//! Hostile clients of the MCP server.

mod addresses;
mod load;

use crate::support::Project;

const SECRET: &str = "TOP-SECRET-VALUE";

/// A project with secrets beside its documents.
fn sample() -> Project {
    let project = Project::new();
    for i in 1..=30 {
        project.write(
            &format!(".blue/docs/adrs/{i:04}-part.md"),
            format!("# ADR {i:04}: Part {i}\n\n- Status: accepted\n\nSee ADR {}.\n", i % 30 + 1),
        );
    }
    project
        .write(".env", SECRET)
        .write("secret.md", SECRET)
        .write("src/key.pem", SECRET)
        .write(".git/config", SECRET)
        .write(".git/HEAD", "ref: refs/heads/main\n");
    project.build();
    project
}
