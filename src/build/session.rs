//! The session bundle: how people work here, what is decided, and how to ask.

use serde::Serialize;

use super::artifacts::{BuiltArtifact, CurrentArtifacts, check_wrapper, fit};
use super::choice::Choice;
use super::decisions;
use super::file_pattern::file_pattern;
use super::{Corpus, Inputs};
use crate::condense::{self, Fitted, tokens};
use crate::model::escape::escape_attribute;
use crate::model::layout::{CONFIG, GUIDE, SESSION, SESSION_JSON, VOICE};
use crate::model::uri::GLOBAL;
use crate::model::{
    Action, Artifact, Budget, Bundle, Candidate, Code, Diagnostic, DocId, Format, Graph, Level,
    Listener,
};
use crate::render::view;
use crate::wire::header;

#[derive(Serialize)]
struct SessionView<'a> {
    project: Option<String>,
    inputs: &'a str,
    guide: Option<&'a str>,
    voice: Option<&'a str>,
    groups: Vec<Group>,
    hidden: Option<view::Hidden>,
    proposed: Vec<String>,
    n_hidden_proposed: usize,
    collections: &'a [CollectionView],
}

/// Decisions in force of one collection.
#[derive(Serialize)]
struct Group {
    files: String,
    entries: Vec<view::Entry>,
    /// Numbers and titles of those that have no room for a sentence.
    titles: Vec<String>,
}

#[derive(Serialize)]
struct CollectionView {
    #[serde(skip)]
    row: usize,
    files: String,
    n_live: usize,
}

/// Everything that the bundle is rendered from.
struct SessionMaterial<'a> {
    inputs: &'a Inputs,
    graph: &'a Graph,
    choice: Choice,
    voice: Option<String>,
    guide: Option<String>,
    /// Collections with decisions, each with the pattern of its files.
    decisions: Vec<(usize, String)>,
    /// Collections without decisions.
    collections: Vec<CollectionView>,
    budget: Budget,
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

/// Tokens of the session bundle for all but the lists of decisions: its tag, the headings, the other
/// collections and the line about asking.
const FRAME_TOKENS: u64 = 110;

/// Tokens of the line that says that there is no guide.
const NO_GUIDE_TOKENS: u64 = 20;

impl<'a> SessionMaterial<'a> {
    fn new(corpus: &'a Corpus<'_>, notes: &mut Vec<Diagnostic>) -> SessionMaterial<'a> {
        let Corpus { inputs, graph, .. } = corpus;
        let plan = &inputs.plan;
        let (ids, voice) = decisions::sources(inputs, graph, notes);
        let guide = inputs.guide.as_deref().filter(|text| !text.trim().is_empty());
        let guide = guide.map(|text| clipped(text, GUIDE, &plan.guide, "guide_tokens", notes));
        let voice_budget = Budget { tokens: plan.identity.budget.tokens * 2 / 5, ..plan.guide };
        let voice = voice.map(|text| clipped(&text, VOICE, &voice_budget, "max_tokens", notes));
        let tokens_of = |text: &Option<String>| text.as_deref().map_or(0, tokens::count);
        // The workflow has a budget of its own, so it does not shorten the list of decisions.
        let identity = plan.identity.budget;
        let budget = Budget { tokens: identity.tokens + tokens_of(&guide), ..identity };
        let is_global = corpus.root.machine().is_global;
        let without_guide = if guide.is_none() && !is_global { NO_GUIDE_TOKENS } else { 0 };
        let frame = FRAME_TOKENS + without_guide + tokens_of(&voice);
        let for_lists = identity.tokens.saturating_sub(frame);
        let mut decisions = file_patterns(graph, &ids);
        let mut collections = collections(graph, &decisions);
        if is_global {
            let address = |row: usize| format!("{GLOBAL}docs/{}/", graph.collections[row].name);
            decisions.iter_mut().for_each(|(row, files)| *files = address(*row) + "<number>");
            collections
                .iter_mut()
                .for_each(|collection| collection.files = address(collection.row));
        }
        SessionMaterial {
            inputs,
            graph,
            choice: decisions::choice(corpus, ids, for_lists, &budget),
            voice,
            guide,
            collections,
            decisions,
            budget,
        }
    }

    /// Renders the text within its budget.
    fn render(&self, corpus: &Corpus<'_>, digest: &str) -> anyhow::Result<Fitted> {
        let SessionMaterial { inputs, graph, choice, .. } = self;
        let longer = choice.longer(corpus)?;
        let mut render = |bundle: &Bundle| {
            let view = SessionView {
                project: inputs.plan.project.as_deref().map(escape_attribute),
                inputs: digest,
                guide: self.guide.as_deref(),
                voice: self.voice.as_deref(),
                groups: self.groups(&longer, bundle),
                hidden: choice.hidden(graph, bundle),
                proposed: self.titles(bundle, |candidate| candidate.is_last),
                n_hidden_proposed: choice.n_hidden_last(bundle),
                collections: &self.collections,
            };
            inputs.templates.render(inputs.session_template, &view)
        };
        let candidates = (choice.candidates.as_slice(), choice.order);
        let fitted = fit(SESSION, inputs.session_template, candidates, &self.budget, &mut render)?;
        check_wrapper(inputs.session_template, &fitted.text, digest)?;
        Ok(fitted)
    }

    /// Returns the decisions of a bundle by collection, those with the most weight first.
    fn groups(&self, longer: &view::LongerTexts, bundle: &Bundle) -> Vec<Group> {
        let graph = self.graph;
        let in_collection = |row: usize| {
            let of_row = move |candidate: &&Candidate| {
                graph.document(candidate.id).collection == row && !candidate.is_last
            };
            let mut found: Vec<&Candidate> = self.choice.candidates.iter().filter(of_row).collect();
            found.sort_by_key(|candidate| (std::cmp::Reverse(candidate.weight), candidate.id));
            found
        };
        let group = |(row, files): &(usize, String)| {
            let mut group = Group { files: files.clone(), entries: vec![], titles: vec![] };
            for candidate in in_collection(*row) {
                match level_of(bundle, candidate.id) {
                    None => {}
                    Some(Level::Title) => {
                        group.titles.push(view::head(graph.document(candidate.id)));
                    }
                    Some(level) => {
                        group.entries.push(view::decision(graph, longer, candidate.id, level));
                    }
                }
            }
            group
        };
        let groups = self.decisions.iter().map(group);
        groups.filter(|group| !group.entries.is_empty() || !group.titles.is_empty()).collect()
    }

    /// Returns numbers and titles of the candidates in a bundle that meet a condition.
    fn titles(&self, bundle: &Bundle, is_meant: impl Fn(&Candidate) -> bool) -> Vec<String> {
        let meant = self.choice.candidates.iter().filter(|candidate| is_meant(candidate));
        let shown = meant.filter(|candidate| level_of(bundle, candidate.id).is_some());
        shown.map(|candidate| view::head(self.graph.document(candidate.id))).collect()
    }

    /// Returns the facts that decide the bundle.
    fn action(&self) -> Action {
        let plan = &self.inputs.plan;
        let text = |text: &Option<String>| text.clone().unwrap_or_default().into_bytes();
        let mut action = Action::new();
        action.add_fact(
            "template",
            self.inputs.templates.digest(self.inputs.session_template).as_bytes(),
        );
        action.add_fact("project", &text(&plan.project));
        action.add_fact("budget", format!("{:?}", self.budget).as_bytes());
        action.add_fact("voice", &text(&self.voice));
        action.add_fact("guide", &text(&self.guide));
        let decisions = self.decisions.iter().map(|(_, files)| files.clone());
        let counts = self.collections.iter().map(|c| format!("{} {}", c.files, c.n_live));
        let collections: Vec<String> = decisions.chain(counts).collect();
        action.add_fact("collections", collections.join("\n").as_bytes());
        self.choice.add_facts(self.graph, &mut action);
        plan.allowance.add_facts(&mut action);
        action
    }
}

/// Cuts a text of the project to its budget, with a finding that names the setting.
fn clipped(
    text: &str,
    path: &str,
    budget: &Budget,
    setting: &str,
    notes: &mut Vec<Diagnostic>,
) -> String {
    let whole = text.trim();
    let bounded = condense::clip(whole, budget.bytes as usize, path);
    let clipped = condense::clip_to_tokens(&bounded, budget.tokens, path);
    if clipped != whole {
        let message = format!(
            "{} tokens; the session shows the first {}",
            tokens::count(whole),
            budget.tokens
        );
        let hint = format!("shorten it, or raise identity.{setting} in {CONFIG}");
        notes.push(Diagnostic::new(Code::TextCut, path, message).hint(hint));
    }
    clipped
}

fn level_of(bundle: &Bundle, id: DocId) -> Option<Level> {
    let at = bundle.shown.binary_search_by_key(&id, |(id, _)| *id).ok()?;
    Some(bundle.shown[at].1)
}

/// Returns the collections of some documents, each with the pattern of its files.
fn file_patterns(graph: &Graph, ids: &[DocId]) -> Vec<(usize, String)> {
    let mut rows: Vec<usize> = ids.iter().map(|id| graph.document(*id).collection).collect();
    rows.sort_unstable();
    rows.dedup();
    let pattern = |row: usize| {
        let of_row = |id: &&DocId| graph.document(**id).collection == row;
        let ids: Vec<DocId> = ids.iter().filter(of_row).copied().collect();
        (row, file_pattern(graph, row, &ids))
    };
    rows.into_iter().map(pattern).collect()
}

/// Returns the collections with live documents that are not listed as decisions.
fn collections(graph: &Graph, decisions: &[(usize, String)]) -> Vec<CollectionView> {
    let rows = (0..graph.collections.len())
        .filter(|row| decisions.iter().all(|(listed, _)| listed != row));
    let collection = |row: usize| {
        let ids: Vec<DocId> = graph.of_collection(row).filter(|id| graph.is_live(*id)).collect();
        let n_live = ids.len();
        (n_live > 0).then(|| CollectionView { row, files: file_pattern(graph, row, &ids), n_live })
    };
    rows.filter_map(collection).take(12).collect()
}
