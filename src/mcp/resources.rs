//! Lists resources, and formats the contents of a resource.

use rmcp::ErrorData;
use rmcp::model::{Annotations, MetaObject, Resource, ResourceContents, Role};
use serde_json::json;

use crate::model::Level;
use crate::model::layout::{KNOWLEDGE, KNOWLEDGE_BUNDLE, MANIFEST};
use crate::reader::heading;
use crate::serve::{Handwritten, Library, Listed, Text, read};
use crate::wire::jsonl::DocumentLine;
use crate::wire::manifest::ManifestEntry;

const MARKDOWN: &str = "text/markdown";
const JSONL: &str = "application/jsonl";

/// Returns the list of resources. It has one page, so there are no cursors.
pub(super) fn list(
    library: &Library<'_>,
    date: &dyn Fn(&str) -> Option<String>,
    cursor: Option<&str>,
) -> Result<Vec<Resource>, ErrorData> {
    if cursor.is_some_and(|cursor| !cursor.is_empty()) {
        let why = "invalid cursor: the list has one page; list again without a cursor";
        return Err(ErrorData::invalid_params(why, None));
    }
    let built = library.built;
    let work = library.current_bundle().map(|bundle| bundle.source.as_str());
    let rows = built.catalogue.by_uri().iter();
    let max_weight = rows.map(|row| built.catalogue.weight(*row)).max().unwrap_or(0);
    let manifest = library.root.stat(MANIFEST).ok().flatten();
    let built_at = manifest.map_or(0, |(stat, _)| stat.modified);
    let list = ResourceList { library, date, work, max_weight, built: built_at };
    Ok(library.resources().items.iter().filter_map(|item| list.resource(*item)).collect())
}

struct ResourceList<'a> {
    library: &'a Library<'a>,
    /// Returns the time of a file's last commit, if it is known.
    date: &'a dyn Fn(&str) -> Option<String>,
    /// The address of the current work's bundle.
    work: Option<&'a str>,
    /// The largest weight of a document.
    max_weight: u32,
    /// Time of the last build, in nanoseconds.
    built: i64,
}

impl ResourceList<'_> {
    fn resource(&self, item: Listed) -> Option<Resource> {
        Some(match item {
            Listed::Artifact(row) => self.artifact(&self.library.built.manifest.artifacts[row]),
            Listed::Handwritten(file) => self.handwritten(file),
            Listed::Document(row) => self.document(&self.library.built.catalogue.line(row)?),
        })
    }

    /// Creates a resource with the fields that all resources have.
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
        let name_after =
            |prefix: &str| entry.uri.strip_prefix(prefix).unwrap_or_default().to_string();
        let tokens = entry.tokens;
        let (title, description, priority) = match self.library.built.bundles.session() {
            Some(session) if session.artifact == entry.path => (
                "Session context".to_string(),
                format!("Delivered at the start of every session: {tokens} tokens"),
                1.0,
            ),
            _ if entry.path == KNOWLEDGE_BUNDLE => (
                "Hand-written knowledge".to_string(),
                format!("Delivered at the start of every session: {tokens} tokens"),
                0.95,
            ),
            _ if entry.path.starts_with(KNOWLEDGE) => {
                let name = name_after("blue://knowledge/");
                let description = format!("Summary of blue://docs/{name}/ in {tokens} tokens");
                (format!("Digest of {name}"), description, 0.9)
            }
            _ => {
                let built = self.library.built;
                let bundle = built.bundles.all().iter().find(|b| b.artifact == entry.path);
                let names = bundle.map(|bundle| bundle.names.as_slice()).unwrap_or_default();
                let line = names.iter().find_map(|name| built.document(name));
                let (label, priority) = match self.work == Some(entry.uri.as_str()) {
                    true => ("The current work", 0.95),
                    false => ("Work", 0.6),
                };
                let head = line.as_ref().map(heading);
                let head = head.unwrap_or_else(|| name_after("blue://context/workflow/"));
                (format!("{label}: {head}"), format!("Status, tasks and links of {head}"), priority)
            }
        };
        // A checkout can have CR LF line ends, which a read does not return.
        let read = self.library.reader.artifact(self.library.root, entry).ok();
        let size = read.filter(|read| !read.stale).map(|read| read.text.len() as u64);
        self.base(&entry.uri, &entry.path, size, priority)
            .with_title(title)
            .with_description(description)
    }

    fn handwritten(&self, file: Handwritten) -> Resource {
        let (title, description) = match file {
            Handwritten::Guide => ("How we work here", "Written by the people of this project"),
            Handwritten::Voice => ("Voice", "The tone of this project, written by its people"),
        };
        let size = read::handwritten(self.library, file).ok().map(|text| text.text.len() as u64);
        self.base(file.uri(), file.path(), size, 0.8)
            .with_title(title)
            .with_description(description)
    }

    fn document(&self, line: &DocumentLine) -> Resource {
        let root = self.library.root;
        let stat = root.stat(&line.path).ok().flatten();
        let is_unchanged = stat.is_some_and(|(stat, kind)| {
            stat.size == line.bytes
                && !stat.is_racy(self.built)
                && kind == rustix::fs::FileType::RegularFile
        });
        // Only documents that may have changed since the build or are symbolic links are read.
        let size = match is_unchanged {
            true => Some(line.served.unwrap_or(line.bytes)),
            false => {
                let document = self.library.reader.document(root, line).ok();
                document.map(|document| document.text.len() as u64)
            }
        };
        // The banner of a document that is not live counts too.
        let size = size.map(|size| size + banner(line).map_or(0, |text| text.len() as u64));
        let priority = match line.live {
            true => 0.3 + 0.4 * (line.weight as f32 / self.max_weight.max(1) as f32),
            false => 0.1,
        };
        // Two digits are enough, and keep the list short.
        let priority = (priority * 100.0).round() / 100.0;
        self.base(&line.uri, &line.path, size, priority)
            .with_title(heading(line))
            .with_description(description(line))
    }
}

/// Returns the note that is delivered with a document that is not live.
fn banner(line: &DocumentLine) -> Option<String> {
    let head = heading(line);
    (!line.live).then(|| format!("{head} is history; it is not a current decision."))
}

/// Returns the summary of a document, after a note if it is not live.
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

/// Formats the answer to a read: each text, with a banner if its document is not live.
pub(super) fn contents(requested: &str, texts: Vec<Text>) -> Vec<ResourceContents> {
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
        // An alias is answered under the requested address, but a document that blue chose under its
        // own address.
        let single = single && text.reason.is_none();
        let uri = if single { requested.to_string() } else { percent_encode(&text.uri) };
        if single && text.uri != requested {
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
