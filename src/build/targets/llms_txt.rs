//! `llms.txt`: the documents in force, one line each, for any reader that knows the format.

use super::super::Corpus;
use super::super::artifacts::{BuiltArtifact, CurrentArtifacts, source_line};
use super::short_file;
use crate::model::build_target::LLMS_TXT;
use crate::model::escape::escape_except;
use crate::model::layout::digest_path;
use crate::model::plural::counted;
use crate::model::{DocId, Format, Level};
use crate::render::view;
use crate::wire::path_rule::one_line;

/// Maximum bytes of the lists. Readers load the whole file.
const MAX_BYTES: usize = 40_000;

/// Renders the index.
pub(super) fn index(corpus: &Corpus<'_>, current: &CurrentArtifacts) -> BuiltArtifact {
    let graph = &corpus.graph;
    let allowed = corpus.inputs.plan.allowance.hidden_chars();
    let shown = |text: &str| escape_except(&one_line(text), &allowed).into_owned();
    let project = corpus.inputs.plan.project.as_deref().unwrap_or("Decisions of this project");
    let mut text = format!(
        "# {}\n\n> The decisions and proposals in force in this repository.\n",
        shown(project)
    );
    let with_live: Vec<usize> = (0..graph.collections.len())
        .filter(|row| graph.of_collection(*row).any(|id| graph.is_live(id)))
        .collect();
    let share = MAX_BYTES / with_live.len().max(1);
    for row in with_live {
        let name = &graph.collections[row].name;
        text.push_str(&format!("\n## {}\n\n", shown(name)));
        let ids: Vec<DocId> = graph.of_collection(row).filter(|id| graph.is_live(*id)).collect();
        let end = text.len() + share;
        for (i, id) in ids.iter().enumerate() {
            let entry = view::linked(graph, &view::LongerTexts::new(), *id, Level::Line);
            let link = entry.link.trim_start_matches("../");
            let summary = if entry.text.is_empty() { "" } else { ": " };
            let line =
                format!("- [{}]({link}){summary}{}\n", shown(&entry.head), shown(&entry.text));
            if text.len() + line.len() > end {
                let more = counted(ids.len() - i, "more document");
                text.push_str(&format!("- [{more}]({})\n", digest_path(name)));
                break;
            }
            text.push_str(&line);
        }
    }
    let places: Vec<String> =
        graph.collections.iter().flat_map(|collection| collection.globs.clone()).collect();
    let source = source_line(&places, graph.documents.len());
    short_file(LLMS_TXT, "blue://targets/llms-txt", Format::Markdown, source, text, current)
}
