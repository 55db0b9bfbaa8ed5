//! blue's server in the settings of Codex, `.codex/config.toml`.
//!
//! The entry is a marked block at the end, so that removing it restores every byte. `toml_edit`
//! checks the file before and after, and finds servers that were added by other means.

use toml_edit::{Document, Item};

use super::agent::SERVER;
use super::jsonc::SettingsError;
use super::marked_block::{self, HASH};

const CONTENT: &str = "[mcp_servers.blue]\ncommand = \"blue\"\nargs = [\"mcp\"]\n";

fn parse(text: &str) -> Result<Document<&str>, SettingsError> {
    // A byte order mark is not part of the text, but counts for offsets.
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    Document::parse(bare).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start) + (text.len() - bare.len());
        SettingsError::at(text, offset, error.message().replace('\n', ", "))
    })
}

/// Returns the server with blue's name.
fn server<'a>(document: &'a Document<&str>) -> Option<&'a Item> {
    document.get("mcp_servers")?.get(SERVER)
}

fn is_own(server: &Item) -> bool {
    server.get("command").and_then(Item::as_str) == Some("blue")
}

fn is_current(server: &Item) -> bool {
    let arguments = server.get("args").and_then(Item::as_array);
    let mut arguments = arguments.into_iter().flatten().map(|argument| argument.as_str());
    is_own(server) && arguments.next() == Some(Some("mcp")) && arguments.next().is_none()
}

/// Returns true if a text has blue's server.
pub(super) fn is_in(text: &str) -> Result<bool, SettingsError> {
    Ok(server(&parse(text)?).is_some_and(is_own))
}

/// Returns true if another server has blue's name.
pub(super) fn is_name_taken(text: &str) -> bool {
    parse(text).is_ok_and(|document| server(&document).is_some_and(|server| !is_own(server)))
}

/// Returns the text with blue's server. A server that is current stays as it is, with the settings
/// that a user added to it.
pub(super) fn add(text: &str) -> Result<String, SettingsError> {
    if server(&parse(text)?).is_some_and(is_current) {
        return Ok(text.to_string());
    }
    // `blue install` records whether the file existed.
    let before = Some(text).filter(|text| !text.is_empty());
    let added = marked_block::set(before, HASH, "", CONTENT);
    match parse(&added) {
        Ok(document) if server(&document).is_some_and(is_current) => Ok(added),
        _ => {
            let message =
                "a table [mcp_servers.blue] cannot be added here; write `mcp_servers` as tables";
            Err(SettingsError::at(text, text.len(), message))
        }
    }
}

/// Returns the text without blue's server: the inverse of [`add`]. A server outside of blue's block
/// stays.
pub(super) fn remove(text: &str) -> String {
    marked_block::remove(text, HASH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removal_restores_every_byte() {
        for text in [
            "",
            "model = \"o\"",
            "# only a comment\n",
            "\u{feff}model = \"o\"\r\n\r\n[a]\r\nb = 1\r\n",
            "[mcp_servers.other] # theirs\ncommand = \"x\"\n\n\n",
            "[mcp_servers]\nother = { command = \"x\" }",
        ] {
            let added = add(text).unwrap();
            assert!(added.starts_with(text) && is_in(&added).unwrap(), "{added}");
            assert_eq!(add(&added).unwrap(), added);
            assert_eq!(remove(&added), text);
        }
    }

    #[test]
    fn other_servers_and_a_users_settings_stay() {
        let taken = "[mcp_servers.blue]\ncommand = \"blueprint\"\n";
        assert!(is_name_taken(taken) && !is_in(taken).unwrap());
        let by_hand =
            "[mcp_servers.blue]\ncommand = \"blue\"\nargs = [\"mcp\"]\nenv = { A = \"1\" }\n";
        assert_eq!(add(by_hand).unwrap(), by_hand);
        assert_eq!(remove(by_hand), by_hand);
        let inline = "mcp_servers = { other = { command = \"x\" } }\n";
        assert!(add(inline).unwrap_err().message.contains("as tables"));
        let fault = add("a = 1\nb = = 2\n").unwrap_err();
        assert_eq!(fault.line, 2, "{fault}");
        let older = add("").unwrap().replace("\"mcp\"", "\"serve\"");
        assert_eq!(add(&older).unwrap(), add("").unwrap());
    }
}
