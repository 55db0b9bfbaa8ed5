//! The session bundle: tier 1, and the addresses of tiers 2 and 3.

use serde::Serialize;

use super::artifacts::{BuiltArtifact, CurrentArtifacts, check_wrapper, fit};
use super::choice::Choice;
use super::{Corpus, Inputs};
use crate::condense::{self, Fitted};
use crate::model::escape::escape_attribute;
use crate::model::layout::{CONFIG, SESSION, SESSION_JSON};
use crate::model::{
    Action, Artifact, Bundle, Code, Collection, Diagnostic, DocId, Format, Graph, Listener, ShortId,
};
use crate::render::view;
use crate::wire::header;

#[derive(Serialize)]
struct SessionView<'a> {
    project: Option<String>,
    inputs: &'a str,
    entries: bool,
    groups: Vec<Group>,
    hidden: Option<view::Hidden>,
    voice: Option<&'a str>,
    guide: Option<&'a str>,
    workflow: Option<String>,
    collections: &'a [CollectionView],
    graph: &'a str,
}

#[derive(Serialize)]
struct Group {
    uri: String,
    entries: Vec<view::Entry>,
}

#[derive(Serialize)]
struct CollectionView {
    uri: String,
    n_live: usize,
}

/// SourceMeaning of an address among the sources of tier 1.
pub(super) enum SourceMeaning {
    Documents(Vec<DocId>),
    Voice,
    Nothing,
}

/// Returns true if an address means a collection: by its name, or by the plural of its type.
pub(super) fn means_collection(source: &str, collection: &Collection) -> bool {
    let Some(name) = source.strip_prefix("blue://docs/").and_then(|rest| rest.strip_suffix('/'))
    else {
        return false;
    };
    collection.name == name || format!("{}s", collection.kind) == name
}

/// Resolves an address among the sources of tier 1.
pub(super) fn meaning(graph: &Graph, source: &str) -> SourceMeaning {
    if source == "blue://context/voice" {
        return SourceMeaning::Voice;
    }
    if let Some(id) = graph.ids().find(|id| graph.document(*id).uri.as_str() == source) {
        return SourceMeaning::Documents(vec![id]);
    }
    let rows: Vec<usize> = (0..graph.collections.len())
        .filter(|i| means_collection(source, &graph.collections[*i]))
        .collect();
    let ids: Vec<DocId> = graph
        .ids()
        .filter(|id| {
            rows.contains(&graph.document(*id).collection) || short_means(graph, source, *id)
        })
        .collect();
    if ids.is_empty() { SourceMeaning::Nothing } else { SourceMeaning::Documents(ids) }
}

/// Returns true if an address such as `blue://docs/adrs/5` or `blue://adr/5` means a document.
fn short_means(graph: &Graph, source: &str, id: DocId) -> bool {
    let document = graph.document(id);
    let collection = &graph.collections[document.collection];
    let after = |scheme: &str, name: &str| {
        source.strip_prefix(scheme)?.strip_prefix(name)?.strip_prefix('/')
    };
    let short = after("blue://docs/", &collection.name);
    let short = short.or_else(|| after("blue://", document.kind.as_str()));
    let short = short.filter(|short| !short.is_empty()).and_then(ShortId::new);
    short.is_some_and(|id| id.matches(document.number.as_ref(), &document.slug, document.is_plan))
}

/// Everything that the bundle is rendered from.
struct SessionMaterial<'a> {
    inputs: &'a Inputs,
    graph: &'a Graph,
    choice: Choice,
    voice: Option<String>,
    guide: Option<String>,
    workflow: Option<String>,
    collections: Vec<CollectionView>,
}

/// Renders the session bundle as text and as JSON.
pub(super) fn session(
    corpus: &Corpus<'_>,
    current: &CurrentArtifacts,
    notes: &mut Vec<Diagnostic>,
) -> anyhow::Result<Vec<BuiltArtifact>> {
    let material = SessionMaterial::new(corpus, notes);
    let action = material.action();
    let digest = action.digest().short();
    let artifact = |path: &str, text: String, tokens: u64, action: &Action| {
        let (uri, body) = ("blue://context/session", vec![text.into_bytes()]);
        let artifact =
            Artifact::new(path, uri, Format::Bundle, String::new(), body, action.digest());
        Artifact { tokens, ..artifact }
    };
    let mut rendered = None;
    let mut render = || -> anyhow::Result<Fitted> {
        if let Some(fitted) = &rendered {
            return Ok(Fitted::clone(fitted));
        }
        Ok(rendered.insert(material.render(corpus, &digest)?).clone())
    };
    let plain = BuiltArtifact::unless_current(SESSION, action.clone(), current, |action| {
        let fitted = render()?;
        Ok(artifact(SESSION, fitted.text, fitted.tokens, action))
    })?;
    let json = BuiltArtifact::unless_current(SESSION_JSON, action, current, |action| {
        let fitted = render()?;
        let json = header::hook_json("SubagentStart", &fitted.text);
        Ok(artifact(SESSION_JSON, json, fitted.tokens, action))
    })?;
    Ok(vec![plain, json])
}

impl<'a> SessionMaterial<'a> {
    fn new(corpus: &'a Corpus<'_>, notes: &mut Vec<Diagnostic>) -> SessionMaterial<'a> {
        let Corpus { inputs, graph, .. } = corpus;
        let plan = &inputs.plan;
        let budget = plan.identity.budget;
        let (ids, voice) = sources(inputs, graph, notes);
        // The session bundle shows decisions in force. History is read on demand.
        let live: Vec<DocId> = ids.into_iter().filter(|id| graph.is_live(*id)).collect();
        let guide = inputs.guide.as_deref().filter(|text| !text.trim().is_empty());
        let max_voice = (budget.tokens * 4 * 2 / 5) as usize;
        SessionMaterial {
            inputs,
            graph,
            choice: Choice::new(corpus, &live, &budget),
            voice: voice.map(|text| condense::clip(&text, max_voice, "blue://context/voice")),
            guide: guide.map(|text| {
                condense::clip_to_tokens(text, plan.guide_tokens, "blue://context/guide")
            }),
            workflow: workflow_line(graph),
            collections: collections(graph),
        }
    }

    /// Renders the text within its budget.
    fn render(&self, corpus: &Corpus<'_>, digest: &str) -> anyhow::Result<Fitted> {
        let SessionMaterial { inputs, graph, choice, .. } = self;
        let longer = choice.longer(corpus)?;
        let mut render = |bundle: &Bundle| {
            let groups = groups(graph, &longer, bundle);
            let uri = groups.first().map_or("blue://docs/", |group| group.uri.as_str()).to_string();
            let view = SessionView {
                project: inputs.plan.project.as_deref().map(escape_attribute),
                inputs: digest,
                entries: !groups.is_empty(),
                groups,
                hidden: choice.hidden(graph, bundle, &uri),
                voice: self.voice.as_deref(),
                guide: self.guide.as_deref(),
                workflow: self.workflow.clone(),
                collections: &self.collections,
                graph: &inputs.plan.graph,
            };
            inputs.templates.render("session.md", &view)
        };
        let budget = inputs.plan.identity.budget;
        let fitted = fit(SESSION, "session.md", &choice.candidates, &budget, &mut render)?;
        check_wrapper("session.md", &fitted.text, digest)?;
        Ok(fitted)
    }

    /// Returns the facts that decide the bundle.
    fn action(&self) -> Action {
        let plan = &self.inputs.plan;
        let text = |text: &Option<String>| text.clone().unwrap_or_default().into_bytes();
        let mut action = Action::new();
        action.add_fact("template", self.inputs.templates.digest("session.md").as_bytes());
        action.add_fact("project", &text(&plan.project));
        action.add_fact("budget", format!("{:?}", plan.identity.budget).as_bytes());
        action.add_fact("voice", &text(&self.voice));
        action.add_fact("guide", &text(&self.guide));
        action.add_fact("graph", plan.graph.as_bytes());
        action.add_fact("workflow", &text(&self.workflow));
        let counts: Vec<String> =
            self.collections.iter().map(|c| format!("{} {}", c.uri, c.n_live)).collect();
        action.add_fact("collections", counts.join("\n").as_bytes());
        self.choice.add_facts(self.graph, &mut action);
        plan.allowance.add_facts(&mut action);
        action
    }
}

/// Returns the documents and the voice that the configuration asks for.
fn sources(
    inputs: &Inputs,
    graph: &Graph,
    notes: &mut Vec<Diagnostic>,
) -> (Vec<DocId>, Option<String>) {
    let mut ids = Vec::new();
    let mut voice = None;
    let configured = inputs.files.iter().any(|file| file.path == CONFIG && !file.is_absent());
    for source in &inputs.plan.identity.sources {
        match meaning(graph, source) {
            SourceMeaning::Documents(found) => {
                let short = |id: &DocId| short_means(graph, source, *id);
                if found.len() > 1 && found.iter().all(short) {
                    notes.push(ambiguous(graph, source, &found));
                }
                ids.extend(found);
            }
            SourceMeaning::Voice => voice = inputs.voice.clone(),
            SourceMeaning::Nothing if configured && source != "blue://docs/adrs/" => {
                let message = format!("identity asks for {source}, which is not in this project");
                let hint = "run `blue knowledge list --addresses` to see them";
                notes.push(Diagnostic::new(Code::SourceUnknown, CONFIG, message).hint(hint));
            }
            SourceMeaning::Nothing => {}
        }
    }
    ids.sort_unstable();
    ids.dedup();
    (ids, voice.filter(|text| !text.trim().is_empty()))
}

/// Returns the finding about a source that fits several documents. All of them are in the bundle.
fn ambiguous(graph: &Graph, source: &str, found: &[DocId]) -> Diagnostic {
    let all: Vec<&str> = found.iter().take(6).map(|id| graph.document(*id).path.as_str()).collect();
    let message = format!(
        "identity asks for {source}, which fits {} documents: {}",
        found.len(),
        all.join(", ")
    );
    let hint = format!("write the address of one, such as {}", graph.document(found[0]).uri);
    Diagnostic::new(Code::Ambiguous, CONFIG, message).hint(hint)
}

fn groups(graph: &Graph, longer: &view::LongerTexts, bundle: &Bundle) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (id, level) in bundle.shown.iter().filter(|(id, _)| graph.is_live(*id)) {
        let uri =
            format!("blue://docs/{}/", graph.collections[graph.document(*id).collection].name);
        let entry = view::entry(graph, longer, *id, *level);
        match groups.last_mut().filter(|group| group.uri == uri) {
            Some(group) => group.entries.push(entry),
            None => groups.push(Group { uri, entries: vec![entry] }),
        }
    }
    groups
}

fn collections(graph: &Graph) -> Vec<CollectionView> {
    let mut n_live = vec![0usize; graph.collections.len()];
    for id in graph.ids().filter(|id| graph.is_live(*id)) {
        n_live[graph.document(id).collection] += 1;
    }
    let named = graph.collections.iter().zip(n_live).filter(|(_, n_live)| *n_live > 0);
    named
        .map(|(c, n_live)| CollectionView { uri: format!("blue://docs/{}/", c.name), n_live })
        .take(12)
        .collect()
}

/// Returns the address of tier 2, which is chosen at run time.
fn workflow_line(graph: &Graph) -> Option<String> {
    let rfcs = graph.ids().any(|id| graph.is_live(id) && graph.document(id).kind.as_str() == "rfc");
    rfcs.then(|| "blue://state/current-rfc".to_string())
}
