//! Embeds the token vocabulary, the character classes and the pages of `blue explain`.
//!
//! The tables are written in the layout in which the program searches them, so nothing has to be
//! decoded at startup.

#![allow(
    clippy::disallowed_methods,
    reason = "a build script reads its environment and writes to OUT_DIR"
)]

use std::path::Path;

use layout::{Class, EMPTY, ID_BITS, N_SLOTS, fingerprint, first_slot, hash};

#[path = "src/condense/tokens/layout.rs"]
mod layout;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/condense/tokens/layout.rs");
    let folder = std::env::var_os("OUT_DIR").expect("cargo sets the variable");
    let write = |name: &str, bytes: Vec<u8>| {
        std::fs::write(Path::new(&folder).join(name), bytes).expect("OUT_DIR is writable")
    };
    let tokens = tokens();
    let mut ends = Vec::new();
    let mut n_bytes = 0u32;
    for token in &tokens {
        n_bytes += token.len() as u32;
        ends.extend(n_bytes.to_le_bytes());
    }
    write("o200k.slots", slots(&tokens));
    write("o200k.ends", ends);
    write("o200k.bytes", tokens.concat());
    write("o200k.classes", classes());
    write("pages.rs", pages().into_bytes());
}

/// Returns Rust source for a table of the pages in `codes/`, sorted by code.
fn pages() -> String {
    println!("cargo::rerun-if-changed=codes");
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets the variable");
    let files = std::fs::read_dir(Path::new(&folder).join("codes")).expect("codes/ exists");
    let paths = files.map(|file| file.expect("codes/ is readable").path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    paths.sort();
    let mut table = String::from("const PAGES: &[(&str, &str)] = &[\n");
    for path in paths {
        let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let file = format!("/codes/{name}.md");
        // The path is resolved when the crate is compiled, so a moved checkout still builds.
        table.push_str(&format!(
            "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))),\n"
        ));
    }
    table + "];\n"
}

/// Returns every token, ordered by rank.
fn tokens() -> Vec<Vec<u8>> {
    let encoding = tiktoken::get_encoding("o200k_base").expect("the vocabulary is embedded");
    let mut tokens = Vec::new();
    for rank in 0.. {
        let token = encoding.decode(&[rank]);
        if token.is_empty() || token.starts_with(b"<|endof") {
            break;
        }
        tokens.push(token);
    }
    assert!(tokens.len() > 199_000 && tokens.len() < 1 << ID_BITS, "{} tokens", tokens.len());
    tokens
}

/// Returns an open-addressed hash table from a token's hash to its rank.
fn slots(tokens: &[Vec<u8>]) -> Vec<u8> {
    let mut slots = vec![EMPTY; N_SLOTS];
    for (rank, token) in tokens.iter().enumerate() {
        let hash = hash(token);
        let mut at = first_slot(hash);
        while slots[at] != EMPTY {
            at = (at + 1) % N_SLOTS;
        }
        slots[at] = rank as u32 | fingerprint(hash) << ID_BITS;
    }
    slots.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Returns the start of each run of characters of one class, with the class in the high byte.
fn classes() -> Vec<u8> {
    let mut classes = vec![Class::Other; 0x11_0000];
    let named = [
        (r"\s", Class::Space),
        (r"[\r\n]", Class::Newline),
        (r"[\p{Lu}\p{Lt}]", Class::Upper),
        (r"\p{Ll}", Class::Lower),
        (r"[\p{Lm}\p{Lo}]", Class::Caseless),
        (r"\p{M}", Class::Mark),
        (r"\p{N}", Class::Number),
    ];
    for (pattern, class) in named {
        let hir = regex_syntax::parse(pattern).expect("the pattern is a character class");
        let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(set)) = hir.kind()
        else {
            panic!("{pattern} is not a character class")
        };
        for range in set.ranges() {
            classes[range.start() as usize..=range.end() as usize].fill(class);
        }
    }
    let mut bytes = Vec::new();
    let mut last = None;
    for (at, class) in classes.into_iter().enumerate() {
        if last != Some(class) {
            bytes.extend((at as u32 | (class as u32) << 24).to_le_bytes());
            last = Some(class);
        }
    }
    bytes
}
