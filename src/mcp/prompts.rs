//! Prompts, for clients that have slash commands.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role,
};

use super::failure::shown;
use super::project::Project;
use super::read;
use crate::serve::address::Resolved;

/// Returns the list of prompts.
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

/// Returns the message of a prompt.
pub(super) fn get(
    project: &Project,
    request: &GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let rfc = request.arguments.as_ref().and_then(|arguments| arguments.get("rfc"));
    let rfc = rfc.and_then(|value| value.as_str()).map(str::trim).filter(|id| !id.is_empty());
    let (address, subject) = match (request.name.as_str(), rfc) {
        ("brief", None) => ("blue://state/current-rfc".to_string(), "The current work"),
        ("brief", Some(id)) => (brief_address(project, id), "The work"),
        ("decisions", _) => (decisions_address(project), "The decisions"),
        (name, _) => {
            let name = shown(name);
            let why = format!("no prompt {name:?}; the prompts are brief and decisions");
            return Err(ErrorData::invalid_params(why, None));
        }
    };
    let message = match read::read(project, &project.open(), &address) {
        Ok(texts) => {
            texts.iter().for_each(|text| read::record(project, "prompts/get", text));
            texts.into_iter().map(|text| text.text).collect::<Vec<_>>().join("\n")
        }
        // The message becomes a turn of the user, so the model sees the reason. An error would only
        // be shown as a failed command.
        Err(failure) => {
            let failure = read::record_refusal(project, &address, failure);
            format!("blue cannot answer this: {}", failure.text())
        }
    };
    let message = PromptMessage::new_text(Role::User, message);
    Ok(GetPromptResult::new(vec![message])
        .with_description(format!("{subject}, from {}", shown(&address))))
}

/// Returns the address of an RFC's bundle, or of the RFC itself if it has no bundle.
fn brief_address(project: &Project, id: &str) -> String {
    let address =
        if id.starts_with("blue://") { id.to_string() } else { format!("blue://rfc/{id}") };
    let open = project.open();
    let Ok(Resolved::Item(item)) = read::resolve(project, &open, &address) else { return address };
    let Ok(built) = &open.built else { return address };
    let uri = built.uri(item);
    let bundle = built.bundles.of_work(uri);
    bundle.map_or_else(|| uri.to_string(), |bundle| bundle.source.clone())
}

/// Returns the address of the digest of the collection with decisions.
fn decisions_address(project: &Project) -> String {
    let open = project.open();
    let collection = open.built.as_ref().ok().and_then(|built| {
        let catalogue = &built.catalogue;
        let mut live = catalogue.by_uri().iter().filter(|row| catalogue.is_live(**row));
        let first = live.clone().find(|row| catalogue.is_kind(**row, "adr"));
        let uri = catalogue.uri(*first.or_else(|| live.next())?);
        uri.strip_prefix("blue://docs/")?.split('/').next().map(str::to_string)
    });
    format!("blue://knowledge/{}", collection.as_deref().unwrap_or("adrs"))
}
