//! Templates of addresses, and completion of their variables.

use rmcp::ErrorData;
use rmcp::model::{ArgumentInfo, CompletionContext, CompletionInfo, Reference, ResourceTemplate};

use super::project::Project;
use crate::serve::{Built, global};

/// A template of addresses: its text, title and description.
struct Template(&'static str, &'static str, &'static str);

const TEMPLATES: &[Template] = &[
    Template("blue://adr/{number}", "Decision", "An architecture decision by number or slug"),
    Template("blue://rfc/{slug}", "RFC", "An RFC by number or slug"),
    Template("blue://rfc/{slug}/plan", "Plan of an RFC", "The plan of an RFC"),
    Template("blue://spike/{name}", "Spike", "A spike by number, date or name"),
    Template("blue://prd/{name}", "PRD", "A product requirements document"),
    Template("blue://pattern/{name}", "Pattern", "A pattern by name"),
    Template("blue://dialogue/{name}", "Dialogue", "A recorded dialogue"),
    Template("blue://contract/{name}", "Contract", "A contract by name"),
    Template("blue://docs/{collection}/", "Digest", "The digest of a collection"),
    Template(ANY_DOCUMENT, "Document", "A document by number, slug or both"),
    Template("blue://knowledge/{name}", "Digest by name", "The digest of a collection"),
    Template("blue://context/{name}", "Context", "session, guide, voice, relevance, workflow"),
    Template("blue://context/workflow/{id}", "Work", "Status, tasks and links of a live RFC"),
    Template(
        "blue://context/relevance/{id}",
        "Near",
        "Documents related to a document, in a budget",
    ),
    Template("blue://state/{name}", "State", "current-rfc, active-tasks"),
];

/// Templates of addresses of the user's own knowledge, if there is any.
const GLOBAL_TEMPLATES: &[Template] = &[
    Template(
        "blue://global/docs/{collection}/{id}",
        "Your own document",
        "A document of the user, for all projects",
    ),
    Template(
        "blue://global/knowledge/{name}",
        "Your own digest",
        "A digest of the user's documents",
    ),
    Template("blue://global/context/{name}", "Your own context", "session, guide, voice"),
];

/// The template that reaches every document.
const ANY_DOCUMENT: &str = "blue://docs/{collection}/{id}";

/// Returns the list of templates. `n_more` is the number of resources that are not listed.
pub(super) fn templates(project: &Project, n_more: usize) -> Vec<ResourceTemplate> {
    let template = |Template(uri, title, description): &Template| {
        let name = uri.trim_start_matches("blue://").replace(['{', '}'], "");
        let mut description = description.to_string();
        if n_more > 0 && *uri == ANY_DOCUMENT {
            description += &format!("; {n_more} more than the resources that are listed");
        }
        ResourceTemplate::new(*uri, name.trim_end_matches('/'))
            .with_title(*title)
            .with_description(description)
            .with_mime_type("text/markdown")
    };
    let global = if project.global().is_ok() { GLOBAL_TEMPLATES } else { &[] };
    TEMPLATES.iter().chain(global).map(template).collect()
}

/// Completes a variable or an argument, the best value first.
pub(super) fn complete(
    project: &Project,
    reference: &Reference,
    argument: &ArgumentInfo,
    context: Option<&CompletionContext>,
) -> Result<CompletionInfo, ErrorData> {
    let open = project.open();
    let Ok(built) = &open.built else { return Ok(CompletionInfo::default()) };
    let value = argument.value.trim();
    let candidates = match reference {
        Reference::Resource(template) => {
            let uri = template.uri.as_str();
            if let (Some(uri), Ok(global)) = (global::local_address(uri), project.global()) {
                let reference = Reference::for_resource(uri);
                return complete(global, &reference, argument, context);
            }
            let exists = TEMPLATES.iter().any(|Template(template, ..)| *template == uri);
            let variable = format!("{{{}}}", argument.name);
            if !exists || !uri.contains(&variable) {
                let why = "no such template or variable; see resources/templates/list";
                return Err(ErrorData::invalid_params(why, None));
            }
            let collection = context.and_then(|context| context.get_argument("collection"));
            complete_variable(built, uri, &argument.name, collection.map(String::as_str), value)
        }
        Reference::Prompt(prompt) if prompt.name == "brief" && argument.name == "rfc" => {
            ids(built, value, |row| built.catalogue.is_kind(row, "rfc"))
        }
        Reference::Prompt(_) => {
            let why = "no such prompt or argument; see prompts/list";
            return Err(ErrorData::invalid_params(why, None));
        }
        _ => Vec::new(),
    };
    let total = candidates.len();
    let values: Vec<String> = candidates.into_iter().take(CompletionInfo::MAX_VALUES).collect();
    let has_more = total > values.len();
    let total = u32::try_from(total).ok();
    CompletionInfo::with_pagination(values, total, has_more)
        .map_err(|why| ErrorData::internal_error(why, None))
}

fn complete_variable(
    built: &Built,
    uri: &str,
    variable: &str,
    collection: Option<&str>,
    value: &str,
) -> Vec<String> {
    let parts: Vec<&str> = uri.trim_start_matches("blue://").split('/').collect();
    let fixed = |names: &[&str]| {
        let names = names.iter().map(|name| name.to_string());
        names.filter(|name| name.contains(&value.to_lowercase())).collect()
    };
    match (parts.as_slice(), variable) {
        (["docs", ..], "collection") | (["knowledge", _], _) => collections(built, value),
        (["docs", ..], _) => ids(built, value, |row| {
            let uri = built.catalogue.uri(row);
            collection.is_none_or(|name| collection_of(uri) == Some(name))
        }),
        (["context", "workflow", _], _) => workflows(built, value),
        (["context", "relevance", _], _) => ids(built, value, |_| true),
        (["context", _], _) => fixed(&["session", "guide", "voice", "relevance", "workflow"]),
        (["state", _], _) => fixed(&["current-rfc", "active-tasks"]),
        ([_, _, "plan"], _) => ids_with_plan(built, value),
        ([kind, ..], _) => ids(built, value, |row| built.catalogue.is_kind(row, kind)),
        ([], _) => Vec::new(),
    }
}

fn collection_of(uri: &str) -> Option<&str> {
    uri.strip_prefix("blue://docs/")?.split('/').next()
}

fn collections(built: &Built, value: &str) -> Vec<String> {
    let artifacts = built.manifest.artifacts.iter();
    let names = artifacts.filter_map(|entry| entry.uri.strip_prefix("blue://knowledge/"));
    let value = value.to_lowercase();
    names.filter(|name| name.contains(&value)).map(str::to_string).collect()
}

fn workflows(built: &Built, value: &str) -> Vec<String> {
    let artifacts = built.manifest.artifacts.iter();
    let names = artifacts.filter_map(|entry| entry.uri.strip_prefix("blue://context/workflow/"));
    let mut ranked: Vec<(u8, &str)> = names
        .filter_map(|name| match_rank(name, String::new, value).map(|rank| (rank, name)))
        .collect();
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, name)| name.to_string()).collect()
}

/// Returns the ids of documents that have a plan.
fn ids_with_plan(built: &Built, value: &str) -> Vec<String> {
    let plans = ids(built, value, |row| {
        built.catalogue.is_kind(row, "plan") || built.catalogue.id(row).ends_with("plan")
    });
    let id = |plan: String| plan.trim_end_matches(".plan").trim_end_matches("-plan").to_string();
    plans.into_iter().map(id).collect()
}

/// Returns the ids of documents that match a value: live documents first, then by match.
fn ids(built: &Built, value: &str, wanted: impl Fn(usize) -> bool) -> Vec<String> {
    let catalogue = &built.catalogue;
    let mut ranked: Vec<((bool, u8, &str), &str)> = Vec::new();
    for row in catalogue.by_uri().iter().copied().filter(|row| wanted(*row)) {
        let id = catalogue.id(row);
        let title = || catalogue.line(row).map_or(String::new(), |line| line.title);
        if let Some(rank) = match_rank(id, title, value) {
            ranked.push(((!catalogue.is_live(row), rank, catalogue.uri(row)), id));
        }
    }
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, id)| id.to_string()).collect()
}

/// Ranks a match by number, slug or title, where 0 is best. `None` if the value does not match.
fn match_rank(id: &str, title: impl Fn() -> String, value: &str) -> Option<u8> {
    let value = value.to_lowercase();
    let bare = |text: &str| text.trim_start_matches('0').to_string();
    let number: String = id.chars().take_while(char::is_ascii_digit).collect();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) && !number.is_empty() {
        if bare(&number) == bare(&value) {
            return Some(0);
        }
        if number.starts_with(&value) || bare(&number).starts_with(&bare(&value)) {
            return Some(1);
        }
    }
    let id = id.to_lowercase();
    match () {
        () if id.starts_with(&value) => Some(2),
        () if id.contains(&value) => Some(3),
        () if title().to_lowercase().contains(&value) => Some(4),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::match_rank;

    #[test]
    fn numbers_rank_above_slugs_and_slugs_above_titles() {
        let rank =
            |value| match_rank("0015-single-source", || "One place for all".to_string(), value);
        assert_eq!(rank("15"), Some(0));
        assert_eq!(rank("0015"), Some(0));
        assert_eq!(rank("1"), Some(1));
        assert_eq!(rank("00"), Some(1));
        assert_eq!(rank("0015-s"), Some(2));
        assert_eq!(rank("SOURCE"), Some(3));
        assert_eq!(rank("place"), Some(4));
        assert_eq!(rank("5-s"), Some(3));
        assert_eq!(rank("16"), None);
        assert_eq!(rank(""), Some(2));
    }
}
