//! The place of a new document: its collection, name and text.

use super::collection_style::{
    DateInName, HeaderStyle, NameStyle, StatusInName, headers, majority, names,
};
use super::new_document::{NewDocument, NewKind};
use super::{ChangeRefusal, DocumentSet, file_names, header};
use crate::link::relative;
use crate::model::document::is_cover;
use crate::model::layout::{TEMPLATES, folder_of};
use crate::model::{DocId, Document, FileName, Status};
use crate::root::Root;

/// Maximum number of documents whose texts are looked at for the style.
const MAX_TEXTS: usize = 200;

/// The collection of a new document.
pub(super) struct Place<'a> {
    pub(super) folder: String,
    pub(super) documents: Vec<&'a Document>,
    pub(super) style: NameStyle,
    pub(super) plan_of: Option<&'a Document>,
}

impl<'a> Place<'a> {
    /// Finds the collection of the type, and the folder with most of its documents.
    pub(super) fn find(
        set: &'a DocumentSet,
        new: &NewDocument<'_>,
    ) -> Result<Place<'a>, ChangeRefusal> {
        let graph = &set.survey.graph;
        if new.kind == NewKind::Plan {
            let rfc = new.from.map(|id| graph.document(id));
            let rfc = rfc.filter(|rfc| !rfc.is_plan && !rfc.slug.is_empty());
            let reason = "a plan needs its RFC\nhint: --from <address of the RFC>";
            let rfc = rfc.ok_or_else(|| ChangeRefusal::Name(reason.to_string()))?;
            let style = NameStyle::usual("plan");
            let folder = folder_of(&rfc.path).to_string();
            return Ok(Place { folder, documents: Vec::new(), style, plan_of: Some(rfc) });
        }
        let kind = new.kind.as_str();
        let row = graph.collections.iter().position(|collection| collection.kind.as_str() == kind);
        let all = graph.documents.iter().filter(|document| !document.is_plan);
        let documents: Vec<&Document> =
            all.filter(|document| Some(document.collection) == row).collect();
        let folder_of_document = |document: &&Document| {
            let folder = folder_of(&document.path);
            let file = document.path.rsplit('/').next().unwrap_or_default();
            (if is_cover(file) { folder_of(folder) } else { folder }).to_string()
        };
        let folder = majority(documents.iter().map(folder_of_document));
        let rules = &set.inputs.plan.rules;
        let of_rule = rules.iter().find(|rule| rule.kind.as_str() == kind);
        let configured = of_rule.and_then(|rule| {
            let glob = rule.paths.first()?;
            let end = glob.find(['*', '?', '[', '{']).unwrap_or(glob.len());
            Some(folder_of(&glob[..end]).to_string()).filter(|folder| !folder.is_empty())
        });
        let usual = || match rules.is_empty() {
            true => Some(format!(".blue/docs/{kind}s")),
            false => None,
        };
        let Some(folder) = folder.or(configured).or_else(usual) else {
            let reason = format!(
                "`documents` in .blue/config.yaml has no rule for {kind}\nhint: add {{type: {kind}, paths: [\".blue/docs/{kind}s/**/*.md\"]}}"
            );
            return Err(ChangeRefusal::Name(reason));
        };
        let style = names(documents.iter().copied()).unwrap_or_else(|| NameStyle::usual(kind));
        Ok(Place { folder, documents, style, plan_of: None })
    }

    /// Returns the status of the new document, which its name can state.
    fn status(&self, new: &NewDocument<'_>) -> Status {
        let status = new.kind.first_status();
        let is_letter = self.style.status == StatusInName::Letter;
        if is_letter { Status::Draft } else { status }
    }

    pub(super) fn file_name(
        &self,
        new: &NewDocument<'_>,
        number: Option<u64>,
        slug: &str,
    ) -> String {
        if let Some(rfc) = self.plan_of {
            let number = match rfc.number_text.as_str() {
                "" => String::new(),
                number => format!("{number}-"),
            };
            return format!("{number}{}.plan.md", rfc.slug);
        }
        let NameStyle { prefix, width, separator, date, status, kind, is_folder } = &self.style;
        let (width, separator) = (*width, *separator);
        let mut name = match date {
            DateInName::None => String::new(),
            DateInName::Day => format!("{}{separator}", new.date),
            DateInName::Minute => format!("{}T{}{separator}", new.date, new.time),
        };
        if let (Some(prefix), Some(number)) = (prefix, number) {
            name += &format!("{prefix}{number:0width$}{separator}");
        }
        if *status == StatusInName::Letter {
            name += &format!("D{separator}");
        }
        name += &slug.replace('-', &separator.to_string());
        name += kind;
        if *status == StatusInName::Suffix {
            name += &format!(".{}", self.suffix(new));
        }
        if *is_folder { format!("{name}/README.md") } else { format!("{name}.md") }
    }

    /// Returns the suffix that documents with this status have here, or the usual one.
    fn suffix(&self, new: &NewDocument<'_>) -> String {
        let status = self.status(new);
        let named = self.documents.iter().filter_map(|document| {
            let file = document.path.rsplit('/').next().unwrap_or_default();
            FileName::parse(file).status.filter(|(named, word)| *named == status && word.len() > 1)
        });
        let most = majority(named.map(|(_, word)| word));
        let is_work = new.kind == NewKind::Spike;
        most.unwrap_or_else(|| file_names::usual_suffix(status, is_work).to_string())
    }

    /// Fills the template of the type: the project's own, or blue's.
    pub(super) fn text(
        &self,
        root: &Root,
        set: &DocumentSet,
        new: &NewDocument<'_>,
        title: &str,
        number: Option<u64>,
        path: &str,
    ) -> anyhow::Result<String> {
        let own = format!("{TEMPLATES}new/{}.md", new.kind.as_str());
        let template = match root.readable_bytes(&own, 1 << 20) {
            Some(bytes) => String::from_utf8(bytes)
                .map_err(|_| anyhow::anyhow!("{own} is not UTF-8\nhint: save it as UTF-8"))?,
            None => new.kind.template().to_string(),
        };
        let texts = self.documents.iter().rev().take(MAX_TEXTS).filter_map(|document| {
            let bytes = root.readable_bytes(&document.path, 1 << 22)?;
            Some((*document, String::from_utf8(bytes).ok()?))
        });
        let (style, before) = headers(texts);
        let style = style.unwrap_or(HeaderStyle::Table);
        let width = self.style.width;
        let written = number.map(|number| format!("{number:0width$}")).unwrap_or_default();
        let usual = || match (number, self.plan_of) {
            (_, Some(_)) => "Plan: ".to_string(),
            (Some(_), _) => format!("{} {{}}: ", new.kind.as_str().to_uppercase()),
            (None, _) => String::new(),
        };
        let before = before.filter(|_| self.plan_of.is_none()).unwrap_or_else(usual);
        let heading = format!("{}{}", before.replace("{}", &written), escaped(title));
        let fields = self.fields(set, new, path);
        let (front_matter, metadata) = metadata(style, title, &fields);
        let is_first = |name: &str| template.contains(&format!("{{{{ {name} }}}}"));
        anyhow::ensure!(
            is_first("heading") && is_first("header"),
            "{own} needs {{{{ heading }}}} and {{{{ header }}}}\nhint: `blue new` fills in front_matter, heading, header, title, number and date"
        );
        let values = [
            ("front_matter", front_matter.as_str()),
            ("heading", &heading),
            ("header", &metadata),
            ("title", title),
            ("number", &written),
            ("date", new.date),
        ];
        let mut text = template;
        for (name, value) in values {
            text = text.replace(&format!("{{{{ {name} }}}}"), value);
        }
        Ok(text)
    }

    /// Returns keys and values of the metadata. A value has a form for YAML and one for Markdown.
    fn fields(
        &self,
        set: &DocumentSet,
        new: &NewDocument<'_>,
        path: &str,
    ) -> Vec<(&'static str, String, String)> {
        let status = header::word(self.status(new));
        let capital = [&status[..1].to_uppercase(), &status[1..]].concat();
        let mut fields = vec![
            ("Status", status.to_string(), capital),
            ("Date", new.date.to_string(), new.date.to_string()),
        ];
        let mut add = |key, id: DocId| {
            let document = set.document(id);
            let target = relative(path, &document.path);
            let quoted = serde_json::to_string(&target).expect("a text is JSON");
            let open = if target.contains([' ', '(', ')']) { ("<", ">") } else { ("", "") };
            let link = format!("[{}]({}{target}{})", set.label(document), open.0, open.1);
            fields.push((key, quoted, link));
        };
        if let Some(from) = new.from {
            add(if self.plan_of.is_some() { "RFC" } else { "Source" }, from);
        }
        if let Some(old) = new.supersedes {
            add("Supersedes", old);
        }
        fields
    }
}

/// Renders metadata: the front matter, or the lines below the title.
fn metadata(
    style: HeaderStyle,
    title: &str,
    fields: &[(&'static str, String, String)],
) -> (String, String) {
    let lines = |line: &dyn Fn(&str, &str) -> String| -> String {
        fields.iter().map(|(key, _, value)| line(key, value)).collect()
    };
    let below = match style {
        HeaderStyle::FrontMatter => {
            let quoted = serde_json::to_string(title).expect("a text is JSON");
            let key = |key: &str| key.to_lowercase().replace(' ', "_");
            let lines = fields.iter().map(|(name, value, _)| format!("{}: {value}\n", key(name)));
            let yaml = format!("---\ntitle: {quoted}\n{}---\n\n", lines.collect::<String>());
            return (yaml, String::new());
        }
        HeaderStyle::Table => {
            let rows = lines(&|key, value| format!("| **{key}** | {value} |\n"));
            format!("| | |\n|---|---|\n{rows}\n")
        }
        HeaderStyle::Bold => {
            format!("{}\n", lines(&|key, value| format!("**{key}**: {value}  \n")))
        }
        HeaderStyle::Bullets => format!("{}\n", lines(&|key, value| format!("- {key}: {value}\n"))),
        HeaderStyle::Plain => format!("{}\n", lines(&|key, value| format!("{key}: {value}  \n"))),
        HeaderStyle::Section => {
            let (_, _, status) = &fields[0];
            let others = fields[1..].iter();
            let others = others.map(|(key, _, value)| format!("{key}: {value}  \n"));
            format!("{}\n## Status\n\n{status}\n\n", others.collect::<String>())
        }
    };
    (String::new(), below)
}

/// Escapes what Markdown would interpret in a title.
fn escaped(title: &str) -> String {
    let mut result = String::with_capacity(title.len());
    for c in title.chars() {
        if matches!(c, '[' | ']' | '<' | '\\') {
            result.push('\\');
        }
        result.push(c);
    }
    result
}
