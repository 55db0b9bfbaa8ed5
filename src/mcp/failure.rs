//! Formats the error of a request, for a model and for the protocol.

use std::sync::Arc;

use rmcp::ErrorData;
use serde_json::json;

use super::project::BUILD;
use crate::model::escape::escape;
use crate::serve::ReadError;

/// The reason why a request fails.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nothing was built, or the indexes cannot be used; with the message.
    Unbuilt(Arc<str>),
    /// The address cannot be read; with similar addresses to suggest.
    Read(ReadError, Vec<String>),
}

impl Failure {
    /// Returns true if the address was refused, which the audit log records.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, Failure::Read(error, _) if error.is_refusal())
    }

    /// Returns the message for a model.
    pub(super) fn text(&self) -> String {
        let (error, candidates) = match self {
            Failure::Unbuilt(why) => return why.to_string(),
            Failure::Read(error, candidates) => (error, candidates),
        };
        let mut text = match error {
            _ if error.is_refusal() => format!("refused: {error}"),
            ReadError::Address(_) => format!("not found: {error}"),
            ReadError::Unreadable(..) => format!("{error}: {BUILD}"),
            ReadError::Refused(_) | ReadError::Nothing(_) => error.to_string(),
        };
        if let ReadError::Address(error) = error
            && let Some(hint) = error.hint()
        {
            text += &format!(": {hint}");
        }
        if !candidates.is_empty() {
            text += &format!("; did you mean {}?", candidates.join(" or "));
        }
        escape(&crate::guard::redacted(&text)).into_owned()
    }

    /// Returns the error for the protocol.
    pub(super) fn error(&self, uri: &str) -> ErrorData {
        // A client may compare this address with the address that it sent, so it is returned unchanged
        // unless it is very long.
        let mut data = json!({"uri": if uri.len() > 2_048 { shown(uri) } else { uri.to_string() }});
        match self {
            Failure::Unbuilt(_) | Failure::Read(ReadError::Unreadable(..), _) => {
                data["hint"] = json!(BUILD);
            }
            Failure::Read(_, candidates) if !candidates.is_empty() => {
                data["nearest"] = json!(candidates);
            }
            Failure::Read(..) => {}
        }
        ErrorData::resource_not_found(self.text(), Some(data))
    }
}

/// Cuts a text from a client to 512 bytes, redacts secrets and escapes hidden characters.
pub(super) fn shown(text: &str) -> String {
    let mut end = text.len().min(512);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    escape(&crate::guard::redacted(&text[..end])).into_owned()
}
