//! The list of resources, in pages, and the contents of one.

use rmcp::ErrorData;
use rmcp::model::{Annotations, MetaObject, Resource, ResourceContents, Role};
use serde_json::json;

use crate::model::layout::KNOWLEDGE;
use crate::model::{Level, Uri};
use crate::reader::heading;
use crate::serve::built::ListPart;
use crate::serve::{Handwritten, Library, Listed, Text, read};
use crate::wire::jsonl::DocumentLine;
use crate::wire::manifest::ManifestEntry;

/// Resources in one answer.
const PAGE: usize = 100;

const MARKDOWN: &str = "text/markdown";
const JSONL: &str = "application/jsonl";

/// Returns one page and the cursor of the next.
pub(super) fn page(
    library: &Library<'_>,
    date: &dyn Fn(&str) -> Option<String>,
    cursor: Option<&str>,
) -> Result<(Vec<Resource>, Option<String>), ErrorData> {
    let built = library.built;
    let after = cursor.filter(|cursor| !cursor.is_empty()).map(parse_cursor).transpose()?;
    let after = after.as_ref().map(|(part, uri)| (*part, uri.as_str()));
    let items = built.page(after, PAGE + 1);
    let next = items.get(PAGE).map(|_| {
        let (part, uri) = built.place(items[PAGE - 1]);
        format!("{}:{uri}", part as usize)
    });
    let work = library.current_bundle().map(|bundle| bundle.source.as_str());
    let rows = built.catalogue.by_uri().iter();
    let max_weight = rows.map(|row| built.catalogue.weight(*row)).max().unwrap_or(0);
    let listing = ResourceList { library, date, work, max_weight };
    Ok((items.iter().take(PAGE).filter_map(|item| listing.resource(*item)).collect(), next))
}

/// Parses a cursor: the place of the last item before it, which stays valid after a rebuild.
fn parse_cursor(cursor: &str) -> Result<(ListPart, String), ErrorData> {
    let bad = || {
        let hint = "a cursor comes from nextCursor; list again without one";
        ErrorData::invalid_params(format!("invalid cursor: {hint}"), None)
    };
    let (part, uri) = cursor.split_once(':').ok_or_else(bad)?;
    let part = ListPart::ALL.into_iter().find(|known| (*known as usize).to_string() == part);
    let uri = Uri::parse(uri).map_err(|_| bad())?;
    Ok((part.ok_or_else(bad)?, uri.to_string()))
}

struct ResourceList<'a> {
    library: &'a Library<'a>,
    /// Returns the date of a file's last commit, if it is known.
    date: &'a dyn Fn(&str) -> Option<String>,
    /// The address of the bundle of the current work.
    work: Option<&'a str>,
    /// The largest weight of a document.
    max_weight: u32,
}

impl ResourceList<'_> {
    fn resource(&self, item: Listed) -> Option<Resource> {
        Some(match item {
            Listed::Artifact(row) => self.artifact(&self.library.built.manifest.artifacts[row]),
            Listed::Handwritten(own) => self.handwritten(own),
            Listed::Document(row) => self.document(&self.library.built.catalogue.line(row)?),
        })
    }

    /// A resource with the fields that all have.
    fn base(&self, uri: &str, path: &str, size: Option<u64>, priority: f32) -> Resource {
        let name = uri.trim_start_matches("blue://");
        let name = name.strip_prefix("docs/").unwrap_or(name);
        let mut annotations = Annotations::default().with_audience(vec![Role::Assistant]);
        annotations.priority = Some(priority);
        annotations.last_modified = (self.date)(path);
        let mut resource = Resource::new(percent_encode(uri), name)
            .with_mime_type(MARKDOWN)
            .with_annotations(annotations);
        resource.size = size;
        resource
    }

    fn artifact(&self, entry: &ManifestEntry) -> Resource {
        let about = |name: &str| entry.uri.strip_prefix(name).unwrap_or_default().to_string();
        let tokens = entry.tokens;
        let (title, description, priority) = match self.library.built.bundles.session() {
            Some(session) if session.artifact == entry.path => (
                "Session context".to_string(),
                format!("Given to every session at its start: {tokens} tokens"),
                1.0,
            ),
            _ if entry.path.starts_with(KNOWLEDGE) => {
                let name = about("blue://knowledge/");
                let text = format!("What blue://docs/{name}/ decided, in {tokens} tokens");
                (format!("Digest of {name}"), text, 0.9)
            }
            _ => {
                let built = self.library.built;
                let bundle = built.bundles.all().iter().find(|b| b.artifact == entry.path);
                let names = bundle.map(|bundle| bundle.names.as_slice()).unwrap_or_default();
                let line = names.iter().find_map(|name| built.document(name));
                let current = self.work == Some(entry.uri.as_str());
                let what = if current { "The current work" } else { "Work" };
                let head =
                    line.map_or_else(|| about("blue://context/workflow/"), |line| heading(&line));
                let priority = if current { 0.95 } else { 0.6 };
                (format!("{what}: {head}"), format!("Status, tasks and links of {head}"), priority)
            }
        };
        let size = self.library.root.stat(&entry.path).ok().flatten().map(|(stat, _)| stat.size);
        self.base(&entry.uri, &entry.path, size, priority)
            .with_title(title)
            .with_description(description)
    }

    fn handwritten(&self, own: Handwritten) -> Resource {
        let (title, description) = match own {
            Handwritten::Guide => ("How we work here", "Written by the people of this project"),
            Handwritten::Voice => ("Voice", "How this project speaks, written by its people"),
        };
        let size = read::handwritten(self.library, own).ok().map(|text| text.text.len() as u64);
        self.base(own.uri(), own.path(), size, 0.8).with_title(title).with_description(description)
    }

    fn document(&self, line: &DocumentLine) -> Resource {
        let root = self.library.root;
        let known = root.stat(&line.path).ok().flatten();
        let same = known.is_some_and(|(stat, kind)| {
            stat.size == line.bytes && kind == rustix::fs::FileType::RegularFile
        });
        // Few documents changed since the build or are behind a link; only those are read.
        let size = match same {
            true => Some(line.served.unwrap_or(line.bytes)),
            false => {
                let document = self.library.reader.document(root, line).ok();
                document.map(|document| document.text.len() as u64)
            }
        };
        // A document that is not current is read with a banner.
        let size = size.map(|size| size + banner(line).map_or(0, |text| text.len() as u64));
        let priority = match line.live {
            true => 0.3 + 0.4 * (line.weight as f32 / self.max_weight.max(1) as f32),
            false => 0.1,
        };
        // Two digits are exact enough, and shorter.
        let priority = (priority * 100.0).round() / 100.0;
        self.base(&line.uri, &line.path, size, priority)
            .with_title(heading(line))
            .with_description(description(line))
    }
}

/// The note beside a document that is not current.
fn banner(line: &DocumentLine) -> Option<String> {
    let head = heading(line);
    (!line.live).then(|| format!("{head} is history; it is not a current decision."))
}

/// The summary of a document, after a note if it is not current.
fn description(line: &DocumentLine) -> String {
    let summary = if line.summary.is_empty() { &line.title } else { &line.summary };
    match (line.live, line.replaced_by.as_slice()) {
        (true, _) => summary.clone(),
        (false, []) => format!("No longer current ({}). {summary}", line.status),
        (false, by) => format!("Superseded by {}. {summary}", by.join(" and ")),
    }
}

/// Percent-encodes the bytes of an address that are not ASCII.
fn percent_encode(uri: &str) -> String {
    if uri.is_ascii() {
        return uri.to_string();
    }
    let mut text = String::with_capacity(uri.len() * 3);
    for byte in uri.bytes() {
        match byte.is_ascii() {
            true => text.push(char::from(byte)),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// The contents of a read: each text, and a banner beside one that is not current.
pub(super) fn contents(asked: &str, texts: Vec<Text>) -> Vec<ResourceContents> {
    let single = texts.len() == 1;
    let mut contents = Vec::new();
    for text in texts {
        let line = text.line.as_ref();
        let mut meta = MetaObject::new();
        let mut put = |key: &str, value| meta.insert(format!("blue/{key}"), value);
        put("hash", json!(text.hash));
        if text.stale {
            put("stale", json!(true));
            put("builtHash", json!(line.map(|line| &line.hash)));
        }
        if text.level != Level::Full {
            put("detail", json!(text.level.name()));
        }
        if let Some(reason) = &text.reason {
            put("why", json!(reason));
        }
        // An alias is answered under the address that was asked; a document that blue chose, under its own.
        let single = single && text.reason.is_none();
        let uri = if single { asked.to_string() } else { percent_encode(&text.uri) };
        if single && text.uri != asked {
            put("uri", json!(text.uri));
        }
        if let Some(line) = line {
            put("status", json!(line.status));
        }
        let banner = line.and_then(banner);
        if let Some(line) = line.filter(|line| !line.live) {
            put("replacedBy", json!(line.replaced_by));
        }
        contents.push(
            ResourceContents::text(text.text, uri.clone())
                .with_mime_type(if text.path.ends_with(".jsonl") { JSONL } else { MARKDOWN })
                .with_meta(meta),
        );
        if let Some(banner) = banner {
            contents.push(ResourceContents::text(banner, uri));
        }
    }
    contents
}
