//! `blue knowledge show`: prints a document, a section or an outline of it.

use std::io::IsTerminal;
use std::path::Path;

use clap::Args;
use serde_json::{Value, json};

use super::open::BuiltProject;
use super::output::OutputFormat;
use super::{Exit, for_path, output};
use crate::model::plural::counted;
use crate::reader::heading;
use crate::serve::sections::{self, CutText, DocumentSection, Sections};
use crate::serve::{Text, global, names, read, related_text, search};

/// Documents with more lines are printed as an outline on a terminal.
const LONG: usize = 200;

/// Tokens of the passages that match words, if no budget is given.
const PASSAGE_TOKENS: u64 = 450;

/// The flags of `blue knowledge show`.
#[derive(Args, Debug)]
pub(super) struct ShowArgs {
    /// Address, path, file name, number or title: blue://docs/rfcs/0016, ADR 5, 0005, …
    #[arg(required = true)]
    id: Vec<String>,
    /// Print only the section with this heading, the start of it, or at this line
    #[arg(long, value_name = "NAME", conflicts_with = "outline")]
    section: Option<String>,
    /// Print the headings with their lines and sizes
    #[arg(long)]
    outline: bool,
    /// Print only the passages that match these words best
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["outline", "section", "all"])]
    about: Option<String>,
    /// Print at most N tokens
    #[arg(long, value_name = "N", conflicts_with = "outline")]
    budget: Option<u64>,
    /// Print a long document as a whole on a terminal
    #[arg(long, conflicts_with_all = ["outline", "section", "budget"])]
    all: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// The lines that are printed.
struct Part<'a> {
    /// The section, if not the whole text.
    section: Option<DocumentSection>,
    text: &'a str,
    /// The size of the rest, if a budget was given and exceeded.
    cut: Option<CutText<'a>>,
}

impl ShowArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let typed = self.id.join(" ");
        let (project, texts) = match global::local_address(&typed) {
            Some(address) => {
                let project = BuiltProject::open_global()?;
                let texts = read_global(&project, &typed, &address)?;
                (project, texts)
            }
            None => {
                let project = BuiltProject::open(directory)?;
                let texts = self.read(&project, directory)?;
                (project, texts)
            }
        };
        texts.iter().for_each(warn);
        if let Some(words) = &self.about {
            return self.print_passages(&project, texts, words);
        }
        let whole: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
        let whole = whole.join("\n");
        let sections = match texts.as_slice() {
            [text] => Sections::new(project.library().reader, &text.path, &whole),
            // Several documents have no common outline.
            _ => Sections::new(project.library().reader, "", &whole),
        };
        let is_outline = self.is_outline(&sections, std::io::stdout().is_terminal());
        if is_outline && !self.outline {
            output::say(&format!(
                "blue: {}, of which the headings are shown\nhint: --section NAME prints one section, --all the whole text",
                counted(sections.n_lines(), "line")
            ));
        }
        let tokens = || sections::count(project.library().reader, &whole);
        let printed = match (is_outline, self.format) {
            (true, OutputFormat::Text) => outline_text(&texts, &sections, tokens()),
            (true, OutputFormat::Json) => json_text(&outline_json(&texts, &sections, tokens()))?,
            (false, _) => {
                let part = self.part(&project, &sections, &whole)?;
                match self.format {
                    OutputFormat::Text => part_text(&part, sections.n_lines()),
                    OutputFormat::Json => json_text(&part_json(&texts, &part))?,
                }
            }
        };
        output::copy(printed.as_bytes())?;
        Ok(Exit::Done)
    }

    /// Reads the document or documents that were asked for.
    fn read(&self, project: &BuiltProject, directory: &Path) -> anyhow::Result<Vec<Text>> {
        let library = project.library();
        let typed = self.id.join(" ");
        if typed.contains("://") {
            return read::read(&library, &typed).map_err(|error| project.error(&typed, error));
        }
        let path = for_path::path_below_root(&project.root, directory, Path::new(&typed)).ok();
        let path = path.filter(|path| !path.is_empty());
        let resolved = names::resolve(&project.built, &typed, path.as_deref())
            .map_err(|error| anyhow::anyhow!("{error}\nhint: {}", error.hint()))?;
        read::read_resolved(&library, &typed, resolved)
            .map_err(|error| project.error(&typed, error))
    }

    /// Prints the passages of documents that match words best.
    fn print_passages(
        &self,
        project: &BuiltProject,
        texts: Vec<Text>,
        words: &str,
    ) -> anyhow::Result<Exit> {
        let (library, index) = (project.library(), project.search_index()?);
        let (mut printed, mut all) = (String::new(), Vec::new());
        for line in texts.into_iter().filter_map(|text| text.line) {
            let path = line.path.clone();
            let budget = self.budget.unwrap_or(PASSAGE_TOKENS);
            let found = search::passages_of(&library, &index, line, words, budget);
            let found = found.map_err(|_| anyhow::anyhow!("{path} cannot be read"))?;
            if !found.passages.is_empty() {
                printed += &related_text::document_text(&project.built.catalogue, &found);
                all.push(related_text::entry(&project.built.catalogue, &found));
            }
        }
        match self.format {
            OutputFormat::Text => output::out(&printed)?,
            OutputFormat::Json => output::out(&json_text(&json!(all))?)?,
        }
        if all.is_empty() {
            output::say(&format!("blue: no passage matches {}", output::visible(words)));
            return Ok(Exit::FoundSomething);
        }
        Ok(Exit::Done)
    }

    /// Decides whether to print headings instead of text.
    fn is_outline(&self, sections: &Sections<'_>, is_terminal: bool) -> bool {
        let is_part = self.all || self.section.is_some() || self.budget.is_some();
        let is_long = sections.n_lines() > LONG && sections.list.len() > 1;
        self.outline || (is_terminal && is_long && !is_part && self.format == OutputFormat::Text)
    }

    fn part<'a>(
        &self,
        project: &BuiltProject,
        sections: &Sections<'a>,
        whole: &'a str,
    ) -> anyhow::Result<Part<'a>> {
        let section = self.section.as_ref().map(|name| find(sections, name)).transpose()?;
        let text = section.as_ref().map_or(whole, |found| sections.lines(found.lines.clone()));
        let reader = project.library().reader;
        let cut = self.budget.and_then(|budget| {
            sections::cut(reader, text, budget)?;
            // The last line of the output is within the budget, too.
            sections::cut(reader, text, budget.saturating_sub(NOTICE_TOKENS.min(budget / 2)))
        });
        Ok(Part { section, text: cut.as_ref().map_or(text, |cut| cut.text), cut })
    }
}

/// Tokens of the line that says what was left out.
const NOTICE_TOKENS: u64 = 40;

/// Reads an address of the user's own project.
fn read_global(project: &BuiltProject, typed: &str, address: &str) -> anyhow::Result<Vec<Text>> {
    let texts = read::read(&project.library(), address);
    let texts = texts.map_err(|error| project.error(typed, error))?;
    Ok(texts.into_iter().map(|text| global::text(text, project.root.path())).collect())
}

/// Warns on standard error if a text differs from the build or is not current knowledge.
fn warn(text: &Text) {
    let path = output::visible(&text.path);
    match &text.line {
        None if text.stale => output::say(&format!(
            "blue: warning: {path} differs from the last build\nhint: run `blue knowledge build`, which saves a copy of the edited text"
        )),
        Some(line) if !line.live && text.reason.is_none() => {
            let replaced = match line.replaced_by.as_slice() {
                [] => String::new(),
                by => format!(", replaced by {}", by.join(" and ")),
            };
            let status = format!("{}{replaced}", line.status);
            output::say(&format!(
                "blue: warning: {path} is not live: {}",
                output::visible(&status)
            ));
        }
        _ => {}
    }
}

/// Returns the first section that a name matches, and reports the others.
fn find(sections: &Sections<'_>, name: &str) -> anyhow::Result<DocumentSection> {
    let found = sections.find(name);
    let Some((first, others)) = found.split_first() else {
        let titles: Vec<&str> = sections.list.iter().map(|s| s.title.as_str()).collect();
        if titles.is_empty() {
            anyhow::bail!("there are no headings")
        }
        let more = match titles.len().saturating_sub(MAX_TITLES) {
            0 => String::new(),
            n => format!("; and {n} more (--outline)"),
        };
        let titles = titles[..titles.len().min(MAX_TITLES)].join("; ");
        anyhow::bail!("no heading matches {name:?}\nhint: the headings are: {titles}{more}")
    };
    if !others.is_empty() {
        let lines: Vec<String> = others.iter().map(|s| s.lines.start.to_string()).collect();
        output::say(&format!(
            "blue: {} match {}; this is line {}\nhint: --section LINE prints another: {}",
            counted(found.len(), "heading"),
            output::visible(name),
            first.lines.start,
            lines[..lines.len().min(MAX_TITLES)].join(", ")
        ));
    }
    Ok((*first).clone())
}

/// Maximum number of headings or lines in a message.
const MAX_TITLES: usize = 40;

fn outline_text(texts: &[Text], sections: &Sections<'_>, n_tokens: u64) -> String {
    let mut text = String::new();
    for one in texts {
        text += &output::visible(&one.path);
        if let Some(line) = &one.line {
            text += &output::visible(&format!("  {}", heading(line)));
        }
        text.push('\n');
    }
    let size = format!("{}, {}", counted(sections.n_lines(), "line"), counted(n_tokens, "token"));
    text += &format!("{size}\n");
    let top = sections.list.iter().map(|section| section.level).min().unwrap_or(1);
    if !sections.list.is_empty() {
        text += &format!("{:>6} {:>6} {:>7}\n", "line", "lines", "tokens");
    }
    for section in &sections.list {
        let indent = "  ".repeat(usize::from(section.level - top));
        let (line, n_lines) = (section.lines.start, section.lines.len());
        let title = output::visible(&section.title);
        text += &format!("{line:>6} {n_lines:>6} {:>7}  {indent}{title}\n", section.n_tokens);
    }
    text
}

fn section_json(section: &DocumentSection) -> Value {
    json!({
        "title": section.title, "level": section.level, "line": section.lines.start,
        "lines": section.lines.len(), "tokens": section.n_tokens,
    })
}

/// Returns the metadata of the documents: one object, or a list for several.
fn documents_json(texts: &[Text]) -> Vec<Value> {
    let one = |text: &Text| match &text.line {
        Some(line) => json!({
            "uri": text.uri, "path": text.path, "title": line.title, "number": line.number,
            "status": line.status, "live": line.live, "replaced_by": line.replaced_by,
            "date": line.date,
        }),
        None => json!({"uri": text.uri, "path": text.path}),
    };
    texts.iter().map(one).collect()
}

fn outline_json(texts: &[Text], sections: &Sections<'_>, n_tokens: u64) -> Value {
    json!({
        "documents": documents_json(texts), "lines": sections.n_lines(), "tokens": n_tokens,
        "sections": sections.list.iter().map(section_json).collect::<Vec<_>>(),
    })
}

fn part_json(texts: &[Text], part: &Part<'_>) -> Value {
    json!({
        "documents": documents_json(texts), "text": part.text,
        "section": part.section.as_ref().map(section_json),
        "left_out": part.cut.as_ref().map(|cut| json!({"lines": cut.n_lines, "tokens": cut.n_tokens})),
    })
}

fn json_text(value: &Value) -> anyhow::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}

fn part_text(part: &Part<'_>, n_lines: usize) -> String {
    let Some(cut) = &part.cut else { return part.text.to_string() };
    let end = part.section.as_ref().map_or(n_lines + 1, |section| section.lines.end);
    format!(
        "{}\n[… {}, {} left out from line {}; --outline lists the sections, --section NAME prints one]\n",
        part.text.trim_end(),
        counted(cut.n_lines, "line"),
        counted(cut.n_tokens, "token"),
        end - cut.n_lines
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::ProjectReader;
    use crate::wire::config::Config;

    #[test]
    fn only_a_long_text_on_a_terminal_becomes_an_outline() {
        let args = |all: bool, budget: Option<u64>| ShowArgs {
            id: Vec::new(),
            section: None,
            outline: false,
            about: None,
            budget,
            all,
            format: OutputFormat::Text,
        };
        let reader = ProjectReader::new(Config::default().plan());
        let long = format!("# A\n\n{}## B\n", "x\n".repeat(LONG));
        let no_headings = "x\n".repeat(2 * LONG);
        let is_outline = |args: ShowArgs, text: &str, is_terminal: bool| {
            args.is_outline(&Sections::new(&reader, "a.md", text), is_terminal)
        };
        assert!(is_outline(args(false, None), &long, true));
        assert!(!is_outline(args(false, None), &long, false));
        assert!(!is_outline(args(true, None), &long, true));
        assert!(!is_outline(args(false, Some(9)), &long, true));
        assert!(!is_outline(args(false, None), "# A\n\n## B\n", true));
        assert!(!is_outline(args(false, None), &no_headings, true));
    }
}
