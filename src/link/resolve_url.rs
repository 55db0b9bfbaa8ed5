//! Resolves URLs of this project's documents on the web.

use super::own_pages::{PageKind, RepositoryUrl, is_specific};
use super::resolve::{Resolution, Resolver};
use crate::model::{DocId, FileName, Label, Number, Relation, TextFormat};

impl Resolver<'_, '_> {
    /// Resolves a URL. One that means no document is foreign and never broken.
    pub(super) fn url(&self, url: &str, label: Option<&Label>) -> Resolution {
        let by_label = || match label.map(|label| self.label(label, Relation::Link)) {
            Some(resolution @ (Resolution::One(_) | Resolution::Many(_))) => resolution,
            _ => Resolution::Foreign,
        };
        if is_ietf(url) {
            return Resolution::Foreign;
        }
        if let Some(url) = RepositoryUrl::parse(url) {
            let is_own = self.own_pages.is_own(&url.repository);
            let found = match url.page {
                PageKind::Tree => self.file_url(&url, is_own == Some(true)),
                PageKind::Pull => self.pull(&url),
                PageKind::Other => None,
            };
            // The id in a link to another project is that project's.
            return found.unwrap_or_else(|| match is_own {
                Some(false) => Resolution::Foreign,
                _ => by_label(),
            });
        }
        self.site_url(url).unwrap_or_else(by_label)
    }

    /// Resolves the URL of a file or folder of a repository.
    fn file_url(&self, url: &RepositoryUrl<'_>, is_own: bool) -> Option<Resolution> {
        let exact = url.paths().find_map(|path| self.at_path(&path));
        if let Some(id) = exact {
            let is_known = is_own || is_specific(&self.documents[id.0 as usize]);
            return is_known.then_some(Resolution::One(id));
        }
        let Some(path) = url.rest.get(1..).filter(|_| is_own) else { return self.moved_file(url) };
        match self.path(&format!("/{}", path.join("/")), None) {
            Resolution::Renamed(id) => Some(Resolution::One(id)),
            resolution @ (Resolution::One(_) | Resolution::Many(_)) => Some(resolution),
            _ => None,
        }
    }

    /// Resolves the URL of a file that has since been moved to another folder, if its name has both
    /// a number and words. It may be in a repository whose other URLs do not show that it is ours.
    fn moved_file(&self, url: &RepositoryUrl<'_>) -> Option<Resolution> {
        let file = url.rest.last()?;
        let found = self.index.by_page(TextFormat::without_extension(file));
        let [id] = found[..] else { return None };
        let wanted = FileName::parse(file);
        let is_telling = wanted.number_text.len() >= 3 && !wanted.slug.is_empty();
        (is_telling && self.has_telling_name(id, &wanted)).then_some(Resolution::One(id))
    }

    /// Resolves a pull request, if documents are numbered by them.
    fn pull(&self, url: &RepositoryUrl<'_>) -> Option<Resolution> {
        let collection = self.own_pages.numbered_by(&url.repository)?;
        // Number 0 stands for a pull request that does not exist yet.
        let number = Number::new(url.rest.first()?).filter(|number| number.value() != Some(0))?;
        let found = self.index.by_number(collection, &number);
        (!found.is_empty()).then(|| self.choose(found, Relation::Link))
    }

    /// Resolves a page of a website that is made from the documents.
    fn site_url(&self, url: &str) -> Option<Resolution> {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let parts: Vec<&str> = rest.trim_end_matches('/').split('/').collect();
        let (host, path) = parts.split_first()?;
        if let Some(owner) = host.strip_suffix(".github.io") {
            let repository = format!("{owner}/{}", path.first()?).to_lowercase();
            if self.own_pages.is_own(&repository) == Some(true) {
                let path = format!("/{}", path[1..].join("/"));
                return match self.path(&path, None) {
                    Resolution::Renamed(id) => Some(Resolution::One(id)),
                    resolution @ (Resolution::One(_) | Resolution::Many(_)) => Some(resolution),
                    _ => None,
                };
            }
        }
        let last = path.last()?;
        let stem = TextFormat::without_extension(last.strip_suffix(".html").unwrap_or(last));
        let pages = self.index.by_page(stem);
        let wanted = FileName::parse(&format!("{stem}.md"));
        if let [id] = pages[..]
            && self.has_telling_name(id, &wanted)
        {
            return Some(Resolution::One(id));
        }
        let series = match path.get(path.len().wrapping_sub(2)) {
            Some(&"id") => {
                let series = path.get(path.len().wrapping_sub(3));
                series.map(|series| crate::model::series::singular(series))
            }
            _ => wanted.prefix.clone().filter(|_| wanted.slug.is_empty()),
        };
        let series = series.filter(|series| self.index.has_series(series))?;
        let label = Label { series, number: Number::new(&wanted.number_text)? };
        match self.label(&label, Relation::Link) {
            resolution @ (Resolution::One(_) | Resolution::Many(_)) => Some(resolution),
            _ => None,
        }
    }

    /// Returns true if a file name says enough to recognise a document on another site: a bare
    /// number does not.
    fn has_telling_name(&self, id: DocId, wanted: &FileName) -> bool {
        let numbered =
            wanted.number.is_some() && (wanted.prefix.is_some() || !wanted.slug.is_empty());
        let numbered = numbered || wanted.date.is_some() && wanted.slug.contains('-');
        let is_long = wanted.slug.matches('-').count() >= 2;
        (numbered || is_long) && is_specific(&self.documents[id.0 as usize])
    }
}

/// Returns true for the sites that publish the RFCs of the IETF.
fn is_ietf(url: &str) -> bool {
    let host = url.split('/').nth(2).unwrap_or_default();
    ["ietf.org", "rfc-editor.org"].iter().any(|site| {
        host.strip_suffix(site).is_some_and(|front| front.is_empty() || front.ends_with('.'))
    })
}
