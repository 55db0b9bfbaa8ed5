//! Add-ons: files of `ai_context/` that the configuration describes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::bundle::{self, CoreFile};
use super::compose::{Line, LineSection};
use super::container::{Container, ContainerFile, scalar};
use crate::model::binding::Glob;
use crate::model::escape::escape_line;
use crate::model::layout::{AI_CONTEXT, is_below};
use crate::model::plan::AddonPlan;

/// A file of `ai_context/` that blue makes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RoleFile {
    /// One of the five that every responsibility has.
    Core(CoreFile),
    /// One of the configuration, by its name.
    Addon(String),
}

impl RoleFile {
    /// Returns all files: the five, then the add-ons.
    pub fn all(addons: &[AddonPlan]) -> Vec<RoleFile> {
        let core = CoreFile::ALL.into_iter().map(RoleFile::Core);
        core.chain(addons.iter().map(|addon| RoleFile::Addon(addon.name.clone()))).collect()
    }

    /// Returns the name of the file.
    pub fn name(&self) -> &str {
        match self {
            RoleFile::Core(file) => file.name(),
            RoleFile::Addon(name) => name,
        }
    }

    /// Returns the role in its front matter.
    pub fn role(&self) -> &'static str {
        match self {
            RoleFile::Core(file) => file.role(),
            RoleFile::Addon(_) => "report",
        }
    }
}

/// The globs of add-ons, compiled.
#[derive(Debug)]
pub struct SourceGlobs(Vec<Glob>);

impl SourceGlobs {
    /// Compiles globs. The configuration was checked, so all of them are valid.
    pub fn new<'a>(globs: impl IntoIterator<Item = &'a String>) -> SourceGlobs {
        SourceGlobs(globs.into_iter().filter_map(|glob| Glob::new(glob)).collect())
    }

    /// Returns true if a path below a container matches. Files that blue makes would be their own
    /// inputs, so nothing in `ai_context/` does.
    pub fn matches(&self, below: &str) -> bool {
        !is_below(below, AI_CONTEXT) && self.0.iter().any(|glob| glob.matches(below))
    }
}

/// Returns the path of an add-on below its container.
pub fn path(addon: &AddonPlan) -> String {
    format!("{AI_CONTEXT}/{}", addon.name)
}

/// Returns the files that an add-on is made from, sorted by path.
pub fn sources<'a>(
    container: &'a Container,
    addon: &AddonPlan,
) -> Vec<(&'a str, &'a ContainerFile)> {
    let globs = SourceGlobs::new(&addon.from);
    let files = container.files.iter().map(|(path, file)| (path.as_str(), file));
    files.filter(|(path, _)| globs.matches(path)).collect()
}

/// Returns the title of an add-on, from its name.
pub fn title(addon: &AddonPlan, id: &str) -> String {
    let words = addon.name.trim_end_matches(".md").replace(['_', '-'], " ");
    let (first, rest) = words.split_at(1);
    format!("{}{rest} of {id}", first.to_uppercase())
}

/// Returns the list of an add-on without a template: one line for each file.
pub fn sections(container: &Container, addon: &AddonPlan) -> Vec<LineSection> {
    let mut lines: Vec<Line> = sources(container, addon).into_iter().map(bundle::about).collect();
    if lines.is_empty() {
        lines.push(Line::new("None.").fixed());
    }
    vec![LineSection { heading: "", lines }]
}

/// The values that the template of an add-on uses.
#[derive(Clone, Debug, Serialize)]
pub struct AddonView {
    /// Id of the responsibility.
    pub responsibility: String,
    /// Title of the file.
    pub title: String,
    /// The files that fit the budget, sorted by path.
    pub files: Vec<SourceView>,
    /// Number of files that did not fit.
    pub n_hidden: usize,
}

/// One file in an [`AddonView`].
#[derive(Clone, Debug, Serialize)]
pub struct SourceView {
    /// Its path below the container.
    pub path: String,
    /// The target of a link to it.
    pub link: String,
    /// Its first heading, or its path.
    pub title: String,
    /// Its first sentence.
    pub sentence: String,
    /// The keys of its front matter that have a single value.
    pub fields: BTreeMap<String, String>,
}

impl SourceView {
    /// Returns the values of a file. `prefix` leads from the add-on to the container.
    pub fn new((path, file): (&str, &ContainerFile), prefix: &str) -> SourceView {
        let keys = file.header.as_mapping().into_iter().flatten();
        let fields = keys.filter_map(|(key, value)| {
            Some((key.as_str()?.to_string(), escape_line(&scalar(value)?)))
        });
        SourceView {
            path: path.to_string(),
            link: format!("{prefix}{path}"),
            title: escape_line(file.title().unwrap_or(path)),
            sentence: escape_line(&file.sentence()),
            fields: fields.collect(),
        }
    }

    /// Returns the bytes that it adds to a text, roughly.
    pub fn n_bytes(&self) -> u64 {
        (self.link.len() + self.title.len() + self.sentence.len()) as u64
    }
}
