//! The patterns of addresses, and what their variables can be.

use rmcp::ErrorData;
use rmcp::model::{ArgumentInfo, CompletionContext, CompletionInfo, Reference, ResourceTemplate};

use super::library::Library;
use crate::serve::Shelf;

/// A pattern: its template, a title, and what it gives.
struct Pattern(&'static str, &'static str, &'static str);

const PATTERNS: &[Pattern] = &[
    Pattern("blue://adr/{number}", "Decision", "An architecture decision by number or slug"),
    Pattern("blue://rfc/{slug}", "RFC", "An RFC by number or slug"),
    Pattern("blue://rfc/{slug}/plan", "Plan of an RFC", "The plan of an RFC"),
    Pattern("blue://spike/{name}", "Spike", "A spike by number, date or name"),
    Pattern("blue://prd/{name}", "PRD", "A product requirements document"),
    Pattern("blue://pattern/{name}", "Pattern", "A pattern by name"),
    Pattern("blue://dialogue/{name}", "Dialogue", "A recorded dialogue"),
    Pattern("blue://contract/{name}", "Contract", "A contract by name"),
    Pattern("blue://docs/{collection}/", "Digest", "The digest of a collection"),
    Pattern("blue://docs/{collection}/{id}", "Document", "A document by number, slug or both"),
    Pattern("blue://knowledge/{name}", "Digest by name", "The digest of a collection"),
    Pattern("blue://context/{name}", "Context", "session, guide, voice, relevance, workflow"),
    Pattern("blue://context/workflow/{id}", "Work", "Status, tasks and links of a live RFC"),
    Pattern("blue://context/relevance/{id}", "Near", "What lies near a document, in a budget"),
    Pattern("blue://state/{name}", "State", "current-rfc, active-tasks"),
];

/// The templates of every pattern.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |Pattern(uri, title, description): &Pattern| {
        let name = uri.trim_start_matches("blue://").replace(['{', '}'], "");
        ResourceTemplate::new(*uri, name.trim_end_matches('/'))
            .with_title(*title)
            .with_description(*description)
            .with_mime_type("text/markdown")
    };
    PATTERNS.iter().map(template).collect()
}

/// What a variable can be, the best first.
pub(super) fn complete(
    library: &Library,
    reference: &Reference,
    argument: &ArgumentInfo,
    context: Option<&CompletionContext>,
) -> Result<CompletionInfo, ErrorData> {
    let open = library.open();
    // Nothing was built: nothing completes.
    let Ok(shelf) = &open.shelf else { return Ok(CompletionInfo::default()) };
    let value = argument.value.trim();
    let candidates = match reference {
        Reference::Resource(template) => {
            let uri = template.uri.as_str();
            let known = PATTERNS.iter().any(|Pattern(known, ..)| *known == uri);
            let variable = format!("{{{}}}", argument.name);
            if !known || !uri.contains(&variable) {
                let why = "no such template or variable; see resources/templates/list";
                return Err(ErrorData::invalid_params(why, None));
            }
            let collection = context.and_then(|context| context.get_argument("collection"));
            of_template(shelf, uri, &argument.name, collection.map(String::as_str), value)
        }
        Reference::Prompt(prompt) if prompt.name == "brief" && argument.name == "rfc" => {
            ids(shelf, value, |row| shelf.catalogue.is_kind(row, "rfc"))
        }
        Reference::Prompt(_) => {
            let why = "no such prompt or argument; see prompts/list";
            return Err(ErrorData::invalid_params(why, None));
        }
        _ => Vec::new(),
    };
    let total = candidates.len();
    let values: Vec<String> = candidates.into_iter().take(CompletionInfo::MAX_VALUES).collect();
    let more = total > values.len();
    let total = u32::try_from(total).ok();
    CompletionInfo::with_pagination(values, total, more)
        .map_err(|why| ErrorData::internal_error(why, None))
}

fn of_template(
    shelf: &Shelf,
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
        (["docs", ..], "collection") | (["knowledge", _], _) => collections(shelf, value),
        (["docs", ..], _) => ids(shelf, value, |row| {
            let uri = shelf.catalogue.uri(row);
            collection.is_none_or(|name| collection_of(uri) == Some(name))
        }),
        (["context", "workflow", _], _) => workflows(shelf, value),
        (["context", "relevance", _], _) => ids(shelf, value, |_| true),
        (["context", _], _) => fixed(&["session", "guide", "voice", "relevance", "workflow"]),
        (["state", _], _) => fixed(&["current-rfc", "active-tasks"]),
        ([_, _, "plan"], _) => planned(shelf, value),
        ([kind, ..], _) => ids(shelf, value, |row| shelf.catalogue.is_kind(row, kind)),
        ([], _) => Vec::new(),
    }
}

fn collection_of(uri: &str) -> Option<&str> {
    uri.strip_prefix("blue://docs/")?.split('/').next()
}

fn collections(shelf: &Shelf, value: &str) -> Vec<String> {
    let digests = shelf.manifest.artifacts.iter();
    let names = digests.filter_map(|entry| entry.uri.strip_prefix("blue://knowledge/"));
    let value = value.to_lowercase();
    names.filter(|name| name.contains(&value)).map(str::to_string).collect()
}

fn workflows(shelf: &Shelf, value: &str) -> Vec<String> {
    let bundles = shelf.manifest.artifacts.iter();
    let names = bundles.filter_map(|entry| entry.uri.strip_prefix("blue://context/workflow/"));
    let mut ranked: Vec<(u8, &str)> =
        names.filter_map(|name| fits(name, String::new, value).map(|rank| (rank, name))).collect();
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, name)| name.to_string()).collect()
}

/// Documents that have a plan.
fn planned(shelf: &Shelf, value: &str) -> Vec<String> {
    let plans = ids(shelf, value, |row| {
        shelf.catalogue.is_kind(row, "plan") || shelf.catalogue.id(row).ends_with("plan")
    });
    let of = |id: String| id.trim_end_matches(".plan").trim_end_matches("-plan").to_string();
    plans.into_iter().map(of).collect()
}

/// The ids of documents that a value fits, the live ones first, then by how well.
fn ids(shelf: &Shelf, value: &str, wanted: impl Fn(usize) -> bool) -> Vec<String> {
    let catalogue = &shelf.catalogue;
    let mut ranked: Vec<((bool, u8, &str), &str)> = Vec::new();
    for row in catalogue.by_uri().iter().copied().filter(|row| wanted(*row)) {
        let id = catalogue.id(row);
        let title = || catalogue.line(row).map_or(String::new(), |line| line.title);
        if let Some(rank) = fits(id, title, value) {
            ranked.push(((!catalogue.is_live(row), rank, catalogue.uri(row)), id));
        }
    }
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, id)| id.to_string()).collect()
}

/// How well a value fits an id: its number is it, begins with it, or its slug or title has it.
fn fits(id: &str, title: impl Fn() -> String, value: &str) -> Option<u8> {
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
    use super::fits;

    #[test]
    fn numbers_come_before_slugs_and_slugs_before_titles() {
        let rank = |value| fits("0015-single-source", || "One place for all".to_string(), value);
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
