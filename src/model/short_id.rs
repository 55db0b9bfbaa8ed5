//! Short ids of documents: `5`, `0005`, `single-source`, `0005-single-source`, `0017.plan`.

use super::{FileName, Number};

/// A number, a slug or both, as a user types it or as the last part of an address.
#[derive(Clone, Debug)]
pub struct ShortId(FileName);

impl ShortId {
    /// Parses a short id; returns `None` if it has neither a number nor a slug.
    pub fn new(id: &str) -> Option<ShortId> {
        let name = FileName::parse(&format!("{id}.md"));
        (name.number.is_some() || !name.slug.is_empty()).then_some(ShortId(name))
    }

    /// Returns the number.
    pub fn number(&self) -> Option<&Number> {
        self.0.number.as_ref()
    }

    /// Returns the slug, which is empty if the id is only a number.
    pub fn slug(&self) -> &str {
        &self.0.slug
    }

    /// Returns true if the id names a plan.
    pub fn is_plan(&self) -> bool {
        self.0.is_plan
    }

    /// Returns true if the id matches a document with this number and slug.
    pub fn matches(&self, number: Option<&Number>, slug: &str, is_plan: bool) -> bool {
        is_plan == self.0.is_plan
            && (self.0.number.is_none() || self.0.number.as_ref() == number)
            && (self.0.slug.is_empty() || self.0.slug == slug)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_a_slug_or_both_match_the_same_document() {
        let number = Number::new("0005");
        for id in ["5", "0005", "single-source", "0005-single-source", "5-single-source"] {
            let short = ShortId::new(id).expect("an id");
            assert!(short.matches(number.as_ref(), "single-source", false), "{id}");
            assert!(!short.matches(number.as_ref(), "single-source", true), "{id}");
        }
        for id in ["6", "other", "6-single-source", "5-other"] {
            let short = ShortId::new(id).expect("an id");
            assert!(!short.matches(number.as_ref(), "single-source", false), "{id}");
        }
        assert!(ShortId::new("5.plan").is_some_and(|short| short.is_plan()));
        assert!(ShortId::new("").is_none());
    }
}
