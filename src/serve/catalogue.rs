//! The emitted index of documents, and addresses looked up in it.

use crate::beneath::Root;
use crate::model::place::{BUNDLES, DOCUMENTS, GUIDE, RELEVANCE, SESSION, VOICE, WORKFLOW};
use crate::model::uri::{Refusal, Uri};
use crate::model::{Number, ShortId, name};
use crate::wire::jsonl::DocumentLine;

/// Every document of the last build.
pub struct Catalogue {
    /// The lines of the index, in its order.
    pub documents: Vec<DocumentLine>,
}

/// What an address turned out to be.
#[derive(Debug, Eq, PartialEq)]
pub enum Lookup {
    /// A file below the root.
    File(String),
    /// Several documents fit: their addresses.
    Several(Vec<String>),
    /// Nothing: the nearest addresses.
    Nothing(Vec<String>),
    /// It is no address at all.
    Refused(Refusal),
}

/// Documents that an address which means nothing is compared with.
const MAX_COMPARED: usize = 5_000;

impl Catalogue {
    /// Reads the index. `None` if nothing was built yet.
    pub fn open(root: &Root) -> anyhow::Result<Option<Catalogue>> {
        let documents = super::lines(root, DOCUMENTS, 1 << 32, "document")?;
        Ok(documents.map(|documents| Catalogue { documents }))
    }

    /// Finds the file behind an address.
    pub fn look_up(&self, address: &str) -> Lookup {
        let uri = match Uri::parse(address) {
            Ok(uri) => uri,
            Err(refusal) => return Lookup::Refused(refusal),
        };
        if let Some(document) = self.documents.iter().find(|document| document.uri == uri.as_str())
        {
            return Lookup::File(document.path.clone());
        }
        match uri.segments().as_slice() {
            ["docs", collection, ""] | ["knowledge", collection] => {
                Lookup::File(format!("knowledge/{collection}.md"))
            }
            ["context", "session"] => Lookup::File(SESSION.to_string()),
            ["context", "guide"] => Lookup::File(GUIDE.to_string()),
            ["context", "bundles"] => Lookup::File(BUNDLES.to_string()),
            ["context", "workflow", name] => Lookup::File(format!("{WORKFLOW}/{name}.md")),
            ["context", "relevance"] => Lookup::File(RELEVANCE.to_string()),
            ["context", "documents"] => Lookup::File(DOCUMENTS.to_string()),
            ["context", "voice"] => Lookup::File(VOICE.to_string()),
            ["docs", group, id] => self.short(group, id),
            [kind, id] => self.short(kind, id),
            [kind, id, "plan"] => self.short(kind, &format!("{id}.plan")),
            _ => self.nothing(uri.as_str()),
        }
    }

    /// A short id: a number, a slug, or both, within a collection or a type.
    fn short(&self, group: &str, id: &str) -> Lookup {
        let prefix = format!("blue://docs/{group}/");
        let Some(wanted) = ShortId::new(id) else { return self.nothing(&format!("{prefix}{id}")) };
        let fits = |document: &&DocumentLine| {
            let here = document.uri.starts_with(&prefix)
                || document.kind == group
                || (wanted.is_plan() && document.kind == "plan");
            here && {
                let own = document.uri.rsplit('/').next().unwrap_or("");
                let known = name::name(&format!("{own}.md"));
                let number = document.number.as_deref().and_then(Number::new);
                wanted.fits(number.as_ref(), &known.slug, known.is_plan)
            }
        };
        let found: Vec<&DocumentLine> = self.documents.iter().filter(fits).collect();
        match found.as_slice() {
            [one] => Lookup::File(one.path.clone()),
            [] => self.nothing(&format!("{prefix}{id}")),
            several => {
                Lookup::Several(several.iter().map(|document| document.uri.clone()).collect())
            }
        }
    }

    fn nothing(&self, wanted: &str) -> Lookup {
        Lookup::Nothing(self.near(wanted))
    }

    /// The addresses most like one that means nothing.
    pub fn near(&self, wanted: &str) -> Vec<String> {
        // What lies in the same place comes first, however long its name.
        let place = wanted.rsplit_once('/').map_or(wanted, |(place, _)| place);
        let far = |document: &DocumentLine| {
            let elsewhere = document.uri.rsplit_once('/').is_none_or(|(other, _)| other != place);
            (elsewhere, strsim::damerau_levenshtein(wanted, &document.uri))
        };
        let documents = self.documents.iter().take(MAX_COMPARED);
        let mut near: Vec<_> = documents.map(|d| (far(d), d.uri.as_str())).collect();
        near.sort_unstable();
        near.into_iter().take(3).map(|(_, uri)| uri.to_string()).collect()
    }
}
