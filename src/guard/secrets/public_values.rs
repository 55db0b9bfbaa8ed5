//! Values that look like secrets and are public: published examples, public keys, hashes, addresses.

use std::ops::Range;

use super::slice;
use crate::guard::rules::{PUBLIC_VALUES, PhraseTable};

static KNOWN_EXAMPLES: PhraseTable = PhraseTable::new(PUBLIC_VALUES, "known_examples");
static PUBLIC_PREFIXES: PhraseTable = PhraseTable::new(PUBLIC_VALUES, "public_prefixes");
static PUBLIC_NAMES: PhraseTable = PhraseTable::new(PUBLIC_VALUES, "public_names");

/// The longest block of a public key or certificate, in bytes.
const MAX_BLOCK: usize = 8_192;

/// Returns true for a credential that a manual, a standard or a test network publishes.
pub(super) fn is_known_example(value: &str) -> bool {
    let value = value.trim_start_matches("0x").trim_end_matches(['.', ',']);
    KNOWN_EXAMPLES
        .texts()
        .any(|known| known == value || known.len() == 64 && known.eq_ignore_ascii_case(value))
}

/// Returns true if the value at a place is public because of its own form or its surroundings.
pub(super) fn is_public(text: &str, at: &Range<usize>) -> bool {
    let value = &text[at.clone()];
    value.contains("://")
        || value.starts_with("//")
        || is_hash(value)
        || is_shortened(text, at)
        || has_public_prefix(text, at)
        || in_public_block(text, at.start)
}

/// Returns true for an address on a blockchain, 20 bytes, and for 28 bytes in hexadecimal digits.
/// The latter is the length of hashes that name scripts, keys and assets. No key and no token has
/// it. An asset's own name may follow behind a full stop.
fn is_hash(value: &str) -> bool {
    let bare = value.strip_prefix("0x");
    let policy = value.split('.').next().unwrap_or_default();
    bare.is_some_and(|hex| hex.len() == 40)
        || policy.len() == 56 && policy.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Returns true for the beginning of a longer value: `qAue25rghuFRhrue...`. A long beginning is
/// still most of a secret.
fn is_shortened(text: &str, at: &Range<usize>) -> bool {
    let value = text[at.clone()].trim_end_matches('.');
    let rest = &text[at.start + value.len()..];
    value.len() <= 24 && (rest.starts_with("...") || rest.starts_with('…'))
}

fn has_public_prefix(text: &str, at: &Range<usize>) -> bool {
    let value = &text[at.clone()];
    let before = slice(text, at.start.saturating_sub(96)..at.start);
    let is_part = |c: char| c.is_ascii_graphic() && !"\"'`()[]{}<>|,;".contains(c);
    let word = &before[before.trim_end_matches(is_part).len()..];
    PUBLIC_PREFIXES.texts().any(|prefix| {
        let is_inside = |at: usize| !word[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        value.starts_with(prefix)
            || prefix.ends_with(':') && word.rfind(prefix).is_some_and(is_inside)
    })
}

/// Returns true if the value is in a `-----BEGIN` block of something other than a private key.
fn in_public_block(text: &str, at: usize) -> bool {
    let before = slice(text, at.saturating_sub(MAX_BLOCK)..at);
    let Some(dashes) = memchr::memmem::rfind(before.as_bytes(), b"-----") else { return false };
    let line = before[..dashes].rsplit('\n').next().unwrap_or_default();
    let Some((_, label)) = line.split_once("-----BEGIN ") else { return false };
    label.contains("PUBLIC KEY") || label.contains("CERTIFICATE")
}

/// Returns true if the text between a word for a secret and a value gives the value another name,
/// one that is public: `the api key is old; commit: `. Within one clause the word still counts, as
/// in `private key of this address: `. The text is in lower case.
pub(super) fn has_public_name(before: &str) -> bool {
    let is_markup = |c: char| c.is_whitespace() || "\"'`*\\([{".contains(c);
    let bare = before.trim_end_matches(is_markup);
    let Some(name) = bare.strip_suffix([':', '=']) else { return false };
    let name = name.trim_end_matches(is_markup);
    name.contains([',', ';', '.', '\n', '|', '{', '('])
        && PUBLIC_NAMES.texts().any(|public| name.ends_with(public))
}

#[cfg(test)]
mod tests {
    use crate::guard::{Allowed, clean};

    fn n_redacted(text: &str) -> usize {
        clean(text, &Allowed::default()).notes.len()
    }

    #[test]
    fn published_examples_are_not_secrets() {
        for text in [
            "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
            "PRIVATE_KEY=0xAC0974BEC39A17E36BA4A6B4D238FF944BACB478CBED5EFCAE784D7BF4F2FF80",
            "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
            "\"access_token\": \"2YotnFZFEjr1zCsicMWpAA\",",
        ] {
            assert_eq!(n_redacted(text), 0, "{text}");
        }
        // One digit differs.
        let other =
            "PRIVATE_KEY=0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff81";
        assert_eq!(n_redacted(other), 1);
    }

    #[test]
    fn public_keys_addresses_and_names_of_assets_are_not_secrets() {
        let random = concat!("Zk3mQ9xW2vB7nR4tY8pL", "5sD1fG6hJ0cA9eUqZk3m");
        let hex = "9f8b2c4d1e7a6350b4c2d8e1f7a93b609f8b2c4d1e7a6350b4c2d8e1";
        for text in [
            format!("private key of did:sov:{random}"),
            format!("private key of did:web:x.org:users:{random}"),
            format!("user token: `{hex}`"),
            format!("\"token\": \"{hex}.484f534b59\""),
            format!("private key, then\n-----BEGIN PUBLIC KEY-----\n{random}\n{random}\n"),
            format!(
                "private key\n-----BEGIN CERTIFICATE-----\n{random}\n-----END CERTIFICATE-----"
            ),
            format!("\"privateKey\": \"{}....\"", &random[..16]),
            format!("the api key is old; commit: {random}"),
            format!("api key: https://docs.x.org/d/{random}/edit"),
            format!("a credential of the issuer `{random}`"),
            format!("\"credentialSubject.car.vin\": \"{random}\""),
            format!("\"credentialSchema\": \"{random}\""),
        ] {
            assert_eq!(n_redacted(&text), 0, "{text}");
        }
        for text in [
            format!("private_key: {random}"),
            format!("token: {hex}9f8b2c4d"),
            format!("credential: {random}"),
            format!("-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----\nsecret: {random}"),
            format!("\"privateKey\": \"{random}...\""),
            format!("the private key for this address: {random}"),
        ] {
            assert_eq!(n_redacted(&text), 1, "{text}");
        }
    }
}
