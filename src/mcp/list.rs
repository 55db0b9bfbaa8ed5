//! The list of resources, a page at a time, and what a read of one gives.

use rmcp::ErrorData;
use rmcp::model::{Annotations, MetaObject, Resource, ResourceContents, Role};
use serde_json::json;

use super::library::Library;
use super::read::{self, Given};
use super::tell;
use crate::model::Uri;
use crate::serve::shelf::{Item, Own, Part, Shelf};
use crate::wire::jsonl::DocumentLine;
use crate::wire::manifest::ManifestEntry;

/// Resources in one answer.
const PAGE: usize = 100;

/// What nearly everything served is, and what the indexes are.
const MARKDOWN: &str = "text/markdown";
const JSONL: &str = "application/jsonl";

/// One page, and where the next one begins.
pub(super) fn page(
    library: &Library,
    shelf: &Shelf,
    cursor: Option<&str>,
) -> Result<(Vec<Resource>, Option<String>), ErrorData> {
    let after = cursor.filter(|cursor| !cursor.is_empty()).map(place).transpose()?;
    let after = after.as_ref().map(|(part, uri)| (*part, uri.as_str()));
    let items = shelf.page(after, PAGE + 1);
    let next = items.get(PAGE).map(|_| {
        let (part, uri) = shelf.place(items[PAGE - 1]);
        format!("{}:{uri}", part as usize)
    });
    let work = library.current(shelf).map(|bundle| bundle.source.clone());
    let rows = shelf.catalogue.by_uri().iter();
    let most = rows.map(|row| shelf.catalogue.weight(*row)).max().unwrap_or(0);
    let listing = Listing { library, shelf, work, most };
    Ok((items.iter().take(PAGE).filter_map(|item| listing.resource(*item)).collect(), next))
}

/// A cursor is the place of the last item before it, which means the same after a rebuild.
fn place(cursor: &str) -> Result<(Part, String), ErrorData> {
    let bad = || {
        let hint = "a cursor comes from nextCursor; list again without one";
        ErrorData::invalid_params(format!("this is no cursor: {hint}"), None)
    };
    let (part, uri) = cursor.split_once(':').ok_or_else(bad)?;
    let part = Part::ALL.into_iter().find(|known| (*known as usize).to_string() == part);
    let uri = Uri::parse(uri).map_err(|_| bad())?;
    Ok((part.ok_or_else(bad)?, uri.to_string()))
}

struct Listing<'a> {
    library: &'a Library,
    shelf: &'a Shelf,
    /// The address of the bundle of the current work.
    work: Option<String>,
    /// The largest weight of a document.
    most: u32,
}

impl Listing<'_> {
    fn resource(&self, item: Item) -> Option<Resource> {
        Some(match item {
            Item::Artifact(row) => self.artifact(&self.shelf.manifest.artifacts[row]),
            Item::Own(own) => self.own(own),
            Item::Document(row) => self.document(&self.shelf.catalogue.line(row)?),
        })
    }

    /// What every resource has.
    fn plain(&self, uri: &str, path: &str, size: Option<u64>, priority: f32) -> Resource {
        let name = uri.trim_start_matches("blue://");
        let name = name.strip_prefix("docs/").unwrap_or(name);
        let mut annotations = Annotations::default().with_audience(vec![Role::Assistant]);
        annotations.priority = Some(priority);
        annotations.last_modified = self.library.date(path);
        let mut resource = Resource::new(encoded(uri), name)
            .with_mime_type(MARKDOWN)
            .with_annotations(annotations);
        resource.size = size;
        resource
    }

    fn artifact(&self, entry: &ManifestEntry) -> Resource {
        let about = |name: &str| entry.uri.strip_prefix(name).unwrap_or_default().to_string();
        let tokens = entry.tokens;
        let (title, description, priority) = match self.shelf.bundles.session() {
            Some(session) if session.artifact == entry.path => (
                "Session context".to_string(),
                format!("What every session is told at its start: {tokens} tokens"),
                1.0,
            ),
            _ if entry.path.starts_with("knowledge/") => {
                let name = about("blue://knowledge/");
                let text = format!("What blue://docs/{name}/ decided, in {tokens} tokens");
                (format!("Digest of {name}"), text, 0.9)
            }
            _ => {
                let bundle = self.shelf.bundles.all().iter().find(|b| b.artifact == entry.path);
                let names = bundle.map(|bundle| bundle.names.as_slice()).unwrap_or_default();
                let line = names.iter().find_map(|name| self.shelf.document(name));
                let current = self.work.as_deref() == Some(entry.uri.as_str());
                let what = if current { "The current work" } else { "Work" };
                let head = line
                    .map_or_else(|| about("blue://context/workflow/"), |line| tell::head(&line));
                let priority = if current { 0.95 } else { 0.6 };
                (format!("{what}: {head}"), format!("Status, tasks and links of {head}"), priority)
            }
        };
        let size = self.library.root.stat(&entry.path).ok().flatten().map(|(stat, _)| stat.size);
        self.plain(&entry.uri, &entry.path, size, priority)
            .with_title(title)
            .with_description(description)
    }

    fn own(&self, own: Own) -> Resource {
        let (title, description) = match own {
            Own::Guide => ("How we work here", "Written by the people of this project"),
            Own::Voice => ("Voice", "How this project speaks, written by its people"),
        };
        let open = self.library.open();
        let reader = self.library.reader(&open);
        let size =
            read::own_text(self.library, reader, own).ok().map(|given| given.text.len() as u64);
        self.plain(own.uri(), own.path(), size, 0.8).with_title(title).with_description(description)
    }

    /// The size of a document as it would be given now.
    fn size_now(&self, line: &DocumentLine) -> Option<u64> {
        let open = self.library.open();
        let read = read::read_document(self.library, self.library.reader(&open), line).ok()?;
        Some(read.text.len() as u64)
    }

    fn document(&self, line: &DocumentLine) -> Resource {
        let known = self.library.root.stat(&line.path).ok().flatten();
        let same = known.is_some_and(|(stat, kind)| {
            stat.size == line.bytes && kind == rustix::fs::FileType::RegularFile
        });
        // Few changed since the build or lie behind a link; those are looked at.
        let size = match same {
            true => Some(line.served.unwrap_or(line.bytes)),
            false => self.size_now(line),
        };
        // A read gives what is not current with a word on what is.
        let size = size.map(|size| size + banner(line).map_or(0, |text| text.len() as u64));
        let priority = match line.live {
            true => 0.3 + 0.4 * (line.weight as f32 / self.most.max(1) as f32),
            false => 0.1,
        };
        // Two digits say it all, and read better.
        let priority = (priority * 100.0).round() / 100.0;
        self.plain(&line.uri, &line.path, size, priority)
            .with_title(tell::head(line))
            .with_description(description(line))
    }
}

/// The note beside a document that is not current.
fn banner(line: &DocumentLine) -> Option<String> {
    let head = tell::head(line);
    (!line.live).then(|| format!("{head} is history; it is not a current decision."))
}

/// One sentence; of what is not current it first says that.
fn description(line: &DocumentLine) -> String {
    let summary = if line.summary.is_empty() { &line.title } else { &line.summary };
    match (line.live, line.replaced_by.as_slice()) {
        (true, _) => summary.clone(),
        (false, []) => format!("No longer current ({}). {summary}", line.status),
        (false, by) => format!("Superseded by {}. {summary}", by.join(" and ")),
    }
}

/// An address as the wire has it: what is not ASCII is encoded.
fn encoded(uri: &str) -> String {
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

/// What a read gives: the texts, and for what is not current a word on what is.
pub(super) fn contents(asked: &str, given: Vec<Given>) -> Vec<ResourceContents> {
    let single = given.len() == 1;
    let mut contents = Vec::new();
    for given in given {
        let line = given.line.as_ref();
        let mut meta = MetaObject::new();
        let mut put = |key: &str, value| meta.insert(format!("blue/{key}"), value);
        put("hash", json!(given.hash));
        if given.stale {
            put("stale", json!(true));
            put("builtHash", json!(line.map(|line| &line.hash)));
        }
        if let Some(level) = given.part {
            put("detail", json!(tell::name_of(level)));
        }
        if let Some(why) = &given.why {
            put("why", json!(why));
        }
        // An alias is answered under its own name; what nobody named, under the document's.
        let single = single && given.why.is_none();
        let uri = if single { asked.to_string() } else { encoded(&given.uri) };
        if single && given.uri != asked {
            put("uri", json!(given.uri));
        }
        if let Some(line) = line {
            put("status", json!(line.status));
        }
        let history = line.and_then(banner);
        if let Some(line) = line.filter(|line| !line.live) {
            put("replacedBy", json!(line.replaced_by));
        }
        contents.push(
            ResourceContents::text(given.text, uri.clone())
                .with_mime_type(if given.path.ends_with(".jsonl") { JSONL } else { MARKDOWN })
                .with_meta(meta),
        );
        if let Some(text) = history {
            contents.push(ResourceContents::text(text, uri));
        }
    }
    contents
}
