//! `blue explain`: the pages of codes.

use std::fmt::Write;

use clap::Args;
use serde::Serialize;

use super::output::OutputFormat;
use super::{Exit, output};
use crate::model::Code;

// A table of `(name, text)`, one entry for each file in `codes/`, sorted by name.
include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The flags of `blue explain`.
#[derive(Args, Debug)]
pub(super) struct ExplainArgs {
    /// Code, such as BLUE-REF-001 or ref-001 [default: list all codes]
    code: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

#[derive(Serialize)]
struct Explained {
    code: &'static str,
    severity: &'static str,
    title: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<&'static str>,
}

impl ExplainArgs {
    pub(super) fn run(&self) -> anyhow::Result<Exit> {
        let Some(text) = &self.code else {
            output::out(&self.list()?)?;
            return Ok(Exit::Done);
        };
        let code = Code::parse(text).ok_or_else(|| unknown_code(text))?;
        let text = match self.format {
            OutputFormat::Text => page(code).to_string(),
            OutputFormat::Json => {
                let explained = Explained { page: Some(page(code)), ..explained(code) };
                format!("{}\n", serde_json::to_string_pretty(&explained)?)
            }
        };
        output::out(&text)?;
        Ok(Exit::Done)
    }

    fn list(&self) -> anyhow::Result<String> {
        if self.format == OutputFormat::Json {
            let all: Vec<Explained> = Code::ALL.iter().map(|code| explained(*code)).collect();
            return Ok(format!("{}\n", serde_json::to_string_pretty(&all)?));
        }
        let mut text = String::new();
        for code in Code::ALL {
            let style = output::style(code.severity());
            let word = code.severity().as_str();
            writeln!(text, "{code}  {style}{word:7}{style:#}  {}", code.title())?;
        }
        Ok(text)
    }
}

fn explained(code: Code) -> Explained {
    let (name, severity, title) = (code.as_str(), code.severity().as_str(), code.title());
    Explained { code: name, severity, title, page: None }
}

/// Returns the page of a code.
pub(super) fn page(code: Code) -> &'static str {
    let at = PAGES.binary_search_by(|(name, _)| (*name).cmp(code.as_str()));
    at.map_or(code.title(), |at| PAGES[at].1)
}

/// Returns true if a text is more likely a code than a path: `BLUE-REF-01`, `ref-1`.
pub(super) fn looks_like_code(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    let is_area = |area: &str| Code::ALL.iter().any(|code| code.area() == area);
    upper.starts_with("BLUE-") || upper.split_once('-').is_some_and(|(area, _)| is_area(area))
}

/// Returns the error for an unknown code, with similar codes as a hint.
pub(super) fn unknown_code(text: &str) -> anyhow::Error {
    let upper = text.trim().to_ascii_uppercase();
    let bare = upper.strip_prefix("BLUE-").unwrap_or(&upper);
    let distance = |code: &Code| {
        let name = code.as_str().trim_start_matches("BLUE-");
        // The area alone matches each of its codes.
        if code.area() == bare { 0 } else { strsim::damerau_levenshtein(bare, name) }
    };
    let min = Code::ALL.iter().map(distance).min().unwrap_or(0);
    let similar = Code::ALL.iter().filter(|code| distance(code) == min && min <= 3);
    let similar: Vec<&str> = similar.take(5).map(|code| code.as_str()).collect();
    match similar.is_empty() {
        true => anyhow::anyhow!("no code {text:?}\nhint: `blue explain` lists them all"),
        false => anyhow::anyhow!(
            "no code {text:?}\nhint: did you mean {}? `blue explain` lists them all",
            similar.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The headings of a page, in order.
    const HEADINGS: [&str; 5] = [
        "## What it means",
        "## Example",
        "## Why it matters",
        "## How to fix it",
        "## How to silence it",
    ];

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let mut wrong = Vec::new();
        for code in Code::ALL {
            let Ok(at) = PAGES.binary_search_by(|(name, _)| (*name).cmp(code.as_str())) else {
                wrong.push(format!("codes/{code}.md is missing; begin with codes/BLUE-REF-001.md"));
                continue;
            };
            let page = PAGES[at].1;
            let first =
                format!("# {code}: {}\n\nSeverity: {}\n", code.title(), code.severity().as_str());
            if !page.starts_with(&first) {
                wrong.push(format!("codes/{code}.md must begin with:\n{first}"));
            }
            let found: Vec<&str> = page.lines().filter(|line| line.starts_with("## ")).collect();
            if found != HEADINGS {
                wrong.push(format!("codes/{code}.md must have the headings {HEADINGS:?}"));
            }
            let sections = page.split("\n## ").skip(1);
            if sections.clone().any(|s| s.split_once('\n').is_none_or(|(_, b)| b.trim().is_empty()))
            {
                wrong.push(format!("codes/{code}.md has an empty section"));
            }
            if !page.contains(code.as_str()) || page.lines().any(|line| line.len() > 100) {
                wrong.push(format!("codes/{code}.md has a line over 100 bytes"));
            }
        }
        for (name, _) in PAGES {
            if !Code::ALL.iter().any(|code| code.as_str() == *name) {
                wrong.push(format!("codes/{name}.md explains a code that is not in the table"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_code_is_found_however_it_is_written() {
        for text in ["BLUE-REF-001", "blue-ref-001", "ref-001", " REF-001 "] {
            assert_eq!(Code::parse(text), Some(Code::BrokenLink), "{text}");
        }
        let error = unknown_code("ref-01").to_string();
        assert!(error.contains("BLUE-REF-001"), "{error}");
        let error = unknown_code("BLUE-SUP").to_string();
        assert!(error.contains("BLUE-SUP-001, BLUE-SUP-002"), "{error}");
        assert!(!unknown_code("nothing at all").to_string().contains("did you mean"));
    }
}
