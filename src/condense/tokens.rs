//! Tokens, counted with a real byte-pair encoding (o200k).

/// Counts the tokens of a text. The vocabulary is unpacked on first use, which costs as much as
/// parsing a thousand documents: a build with nothing to do never comes here.
pub fn count(text: &str) -> u64 {
    encoding().count(text) as u64
}

/// Unpacks the vocabulary, so that it is there when the first text is counted.
pub fn preload() {
    encoding();
}

fn encoding() -> &'static tiktoken::CoreBpe {
    tiktoken::get_encoding("o200k_base").expect("the vocabulary is embedded")
}
