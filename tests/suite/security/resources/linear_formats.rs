//! Translating other formats to Markdown takes time linear in the size of any input.

use blue::model::TextFormat;

use super::fill;
use super::linear_time::{Shape, stays_linear};

/// Markup without an end, in one line or in many.
const MARKUP: &[Shape] = &[
    ("open page links", |n| fill("[[a", n)),
    ("page links", |n| fill("[[a.wiki|b]]", n)),
    ("nested page links", |n| format!("{}a{}", fill("[[", n / 2), fill("]]", n / 2))),
    ("open addresses", |n| fill("[https://a ", n)),
    ("closing brackets", |n| fill("]]", n)),
    ("apostrophes", |n| fill("'", n)),
    ("emphasis", |n| fill("''a'''b", n)),
    ("open code", |n| format!("{}`</code>", fill("<code>", n))),
    ("code", |n| fill("<code>a</code>", n)),
    ("open pre", |n| fill("<pre>\n", n)),
    ("pre without a header", |n| fill("<pre>\na: b\n", n)),
    ("closing tags", |n| format!("<pre>\n{}", fill("</", n))),
    ("comments", |n| fill("<!--\n", n)),
    ("templates", |n| fill("{{a\n", n)),
    ("templates in a line", |n| fill("{{a}}", n)),
    ("wiki tables", |n| fill("{|\n| a\n", n)),
    ("cells in a line", |n| format!("{{|\n{}", fill("| a ||", n))),
    ("signs", |n| fill("=", n)),
    ("headings", |n| fill("==a==\n", n)),
    ("deep items", |n| format!("{} a\n", fill("*", n))),
    ("items in steps", |n| {
        let depth = (n as f64).sqrt() as usize;
        (1..depth).map(|i| format!("{} a\n", "*".repeat(i))).collect()
    }),
    ("quotes after a colon", |n| format!(": {}a\n{}", fill("> ", n / 2), fill("b\n", n / 2))),
    ("quotes in an item", |n| format!(". {}a\n{}", fill("> ", n / 2), fill("b\n", n / 2))),
    ("links", |n| fill("link:", n)),
    ("open links", |n| fill("link:a[", n)),
    ("cross references", |n| fill("xref:a.adoc[b]", n)),
    ("open cross references", |n| fill("<<a", n)),
    ("closing cross references", |n| format!("{}>>", fill("<<a", n))),
    ("bare addresses", |n| fill("https://a", n)),
    ("colons", |n| fill(":", n)),
    ("double colons", |n| fill("a:: ", n)),
    ("terms", |n| fill("a::\n", n)),
    ("emoji", |n| fill(" :a_b: ", n)),
    ("backticks", |n| fill("`a ", n)),
    ("attributes", |n| fill(":a: b\n", n)),
    ("continued attributes", |n| fill(":a: b \\\n", n)),
    ("attribute names", |n| format!(":a: {}\n\n{}", "b".repeat(100), fill("{a}", n))),
    ("attributes in attributes", |n| format!(":a: {{a}}{{a}}\n\n{}", fill("{a}\n", n))),
    ("braces", |n| fill("{", n)),
    ("delimiters", |n| fill("----\n....\n////\n", n)),
    ("underlines", |n| fill("abcd\n----\n\n", n)),
    ("tables", |n| fill("|===\n| a\n", n)),
    ("columns", |n| format!("[cols=\"{}\"]\n|===\n", fill("1,", n))),
    ("repeated columns", |n| format!("[cols=\"{}\"]\n|===\n|a\n", fill("99*,", n))),
    ("cells", |n| format!("|===\n{}", fill("|", n))),
    ("block attributes", |n| fill("[a]\n", n)),
    ("macros", |n| fill("image::a[]\n", n)),
    ("open quoted links", |n| fill("`a <", n)),
    ("quoted links", |n| fill("`a <b>`_ ", n)),
    ("named links", |n| format!(".. _a: {}\n\n{}", "b".repeat(100), fill("a_ ", n))),
    ("anonymous links", |n| format!("{}\n{}", fill("`a`__ ", n / 2), fill("__ b\n", n / 2))),
    ("definitions", |n| fill(".. _a: b\n", n)),
    ("roles", |n| fill(":doc:`a` ", n)),
    ("open roles", |n| fill(":doc:", n)),
    ("footnotes", |n| fill("[1]_ ", n)),
    ("directives", |n| fill(".. note::\n", n)),
    ("nested directives", |n| {
        let depth = (n as f64).sqrt() as usize;
        (1..depth).map(|i| format!("{}.. note::\n", " ".repeat(i))).collect()
    }),
    ("list tables", |n| fill(".. list-table::\n\n   * - a\n", n)),
    ("borders", |n| fill("=== ===\n", n)),
    ("code after colons", |n| fill("a::\n\n b\n", n)),
    ("lines around titles", |n| fill("====\nabcd\n====\n\n", n)),
    ("empty lines", |n| fill("\n", n)),
    ("one long word", |n| fill("a", n)),
];

#[test]
fn pathological_mediawiki_takes_time_linear_in_its_size() {
    stays_linear(MARKUP, TextFormat::MediaWiki, str::to_string, 16 << 10);
}

#[test]
fn pathological_asciidoc_takes_time_linear_in_its_size() {
    stays_linear(MARKUP, TextFormat::AsciiDoc, |text| format!("= T\n\n{text}"), 16 << 10);
}

#[test]
fn pathological_restructured_text_takes_time_linear_in_its_size() {
    stays_linear(MARKUP, TextFormat::RestructuredText, |text| format!("T\n=\n\n{text}"), 16 << 10);
}
