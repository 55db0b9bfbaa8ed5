//! Prompts, for clients that have slash commands.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role,
};

use super::address;
use super::library::Library;
use super::read;

/// The prompts there are.
pub(super) fn list() -> Vec<Prompt> {
    let rfc = PromptArgument::new("rfc")
        .with_description("Number or slug of an RFC; default: the current one")
        .with_required(false);
    vec![
        Prompt::new("brief", Some("The current RFC: status, open tasks, links"), Some(vec![rfc]))
            .with_title("Brief me on the current work"),
        Prompt::new("decisions", Some("The digest of the project's decisions"), None)
            .with_title("Show the decisions"),
    ]
}

/// What a prompt says.
pub(super) fn get(
    library: &Library,
    request: &GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let text = |key: &str| {
        let value = request.arguments.as_ref().and_then(|arguments| arguments.get(key));
        value.and_then(|value| value.as_str()).map(str::trim).filter(|text| !text.is_empty())
    };
    let (address, what) = match (request.name.as_str(), text("rfc")) {
        ("brief", None) => ("blue://state/current-rfc".to_string(), "The current work"),
        ("brief", Some(id)) => (brief_of(library, id), "The work"),
        ("decisions", _) => (decisions(library), "The decisions"),
        (name, _) => {
            let name = address::shown(name);
            let why = format!("there is no prompt {name:?}; there are brief and decisions");
            return Err(ErrorData::invalid_params(why, None));
        }
    };
    let given = read::read(library, &library.open(), &address);
    let said = match given {
        Ok(given) => {
            given.iter().for_each(|given| read::note(library, "prompts/get", given));
            given.into_iter().map(|given| given.text).collect::<Vec<_>>().join("\n")
        }
        // A prompt becomes a turn of the user; an error would only be a failed command.
        Err(failure) => {
            let failure = read::noted(library, &address, failure);
            format!("blue has nothing to say here: {}", failure.text())
        }
    };
    let message = PromptMessage::new_text(Role::User, said);
    Ok(GetPromptResult::new(vec![message])
        .with_description(format!("{what}, from {}", address::shown(&address))))
}

/// The bundle of an RFC, or else the RFC itself.
fn brief_of(library: &Library, id: &str) -> String {
    let address =
        if id.starts_with("blue://") { id.to_string() } else { format!("blue://rfc/{id}") };
    let open = library.open();
    let Ok(address::Meaning::Item(item)) = address::meaning(library, &open, &address) else {
        return address;
    };
    let Ok(shelf) = &open.shelf else { return address };
    let uri = shelf.uri(item);
    let bundle = shelf.bundles.of_work(uri);
    bundle.map_or_else(|| uri.to_string(), |bundle| bundle.source.clone())
}

/// The digest of the collection that holds decisions.
fn decisions(library: &Library) -> String {
    let open = library.open();
    let collection = open.shelf.as_ref().ok().and_then(|shelf| {
        let catalogue = &shelf.catalogue;
        let mut live = catalogue.by_uri().iter().filter(|row| catalogue.is_live(**row));
        let first = live.clone().find(|row| catalogue.is_kind(**row, "adr"));
        let uri = catalogue.uri(*first.or_else(|| live.next())?);
        uri.strip_prefix("blue://docs/")?.split('/').next().map(str::to_string)
    });
    format!("blue://knowledge/{}", collection.as_deref().unwrap_or("adrs"))
}
