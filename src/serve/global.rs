//! Addresses of the user's own knowledge, `blue://global/…`, which is a project of its own.
//!
//! Within that project, addresses have no `global/`. It is removed before an address is resolved
//! there, and added to everything that is returned.

use std::path::Path;

use super::related::Related;
use super::{AddressError, ReadError, Text};
use crate::model::uri::{GLOBAL, SCHEME};

/// Message if an address is global and the user has no knowledge of their own.
pub const NONE: &str = "you have no global knowledge: \
    write decisions into ~/.blue/docs/adrs and run `blue -C ~/.blue init`";

/// Returns the address within the user's own project. `None` if an address is not global.
pub fn local_address(address: &str) -> Option<String> {
    address.strip_prefix(GLOBAL).map(|rest| format!("{SCHEME}{rest}"))
}

/// Returns the global address of an address within the user's own project.
pub fn global_address(address: &str) -> String {
    match address.strip_prefix(SCHEME) {
        Some(rest) => format!("{GLOBAL}{rest}"),
        None => address.to_string(),
    }
}

/// Converts a text that was read in the user's own project, whose folder is `home`.
pub fn text(text: Text, home: &Path) -> Text {
    let line = text.line.map(|mut line| {
        line.uri = global_address(&line.uri);
        line.replaced_by.iter_mut().for_each(|uri| *uri = global_address(uri));
        line
    });
    let path = home.join(&text.path).display().to_string();
    Text { uri: global_address(&text.uri), path, line, ..text }
}

/// Converts the paths of documents that were found in the user's own project.
pub fn related(found: &mut [Related], home: &Path) {
    for related in found {
        related.document.path = home.join(&related.document.path).display().to_string();
        related.document.uri = global_address(&related.document.uri);
    }
}

/// Converts the reason why an address cannot be read in the user's own project.
pub fn error(error: ReadError) -> ReadError {
    let all = |uris: Vec<String>| uris.iter().map(|uri| global_address(uri)).collect();
    let error = match error {
        ReadError::Address(error) => error,
        ReadError::Unreadable(path, problem) => {
            return ReadError::Unreadable(format!("{path} of the global knowledge"), problem);
        }
        other => return other,
    };
    ReadError::Address(match error {
        AddressError::NotFound(uri) => AddressError::NotFound(global_address(&uri)),
        AddressError::Ambiguous(uri, uris) => {
            AddressError::Ambiguous(global_address(&uri), all(uris))
        }
        AddressError::OtherCollection(uri, collection) => {
            AddressError::OtherCollection(global_address(&uri), collection)
        }
        AddressError::NotADocument(uri) => AddressError::NotADocument(global_address(&uri)),
        AddressError::NotIndexed(uri) => AddressError::NotIndexed(global_address(&uri)),
        other @ (AddressError::Malformed(_)
        | AddressError::NotUtf8
        | AddressError::NoCurrentWork(_)) => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_converted_both_ways() {
        let address = "blue://global/docs/adrs/5";
        let local = local_address(address).expect("a global address");
        assert_eq!(local, "blue://docs/adrs/5");
        assert_eq!(global_address(&local), address);
        assert_eq!(local_address("blue://docs/global/5"), None);
        assert_eq!(local_address("blue://globally/5"), None);
    }
}
