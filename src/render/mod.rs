//! Renders templates to text, without access to the file system.

mod filters;
mod meter;
mod template_check;
pub mod view;

use std::collections::BTreeMap;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Output, State, UndefinedBehavior, Value, machinery};
use serde::Serialize;

use crate::model::Digest;
use crate::model::escape::escape_except;
use crate::model::layout::TEMPLATES;

/// The templates that come with blue.
const EMBEDDED: [(&str, &str); 5] = [
    ("digest.md", include_str!("../../templates/digest.md")),
    ("knowledge.md", include_str!("../../templates/knowledge.md")),
    ("session.md", include_str!("../../templates/session.md")),
    ("session-global.md", include_str!("../../templates/session-global.md")),
    ("workflow.md", include_str!("../../templates/workflow.md")),
];

/// Maximum number of instructions of a template: a thousand times as many as blue's own need.
const FUEL: u64 = 20_000_000;

/// Maximum nesting of loops and macros; a macro counts as four levels.
const MAX_RECURSION: usize = 200;

/// Returns the digest of the templates that come with blue.
pub fn embedded_digest() -> Digest {
    let mut hasher = crate::model::Hasher::new();
    for (name, text) in EMBEDDED {
        hasher.field(name.as_bytes()).field(text.as_bytes());
    }
    hasher.digest()
}

/// The templates of one run, compiled.
pub struct Templates {
    environment: Environment<'static>,
    digests: BTreeMap<String, Digest>,
}

/// The message for a template that cannot be compiled or rendered, with its file and line.
#[derive(Debug)]
pub struct TemplateError(String);

impl std::fmt::Display for TemplateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TemplateError {}

impl Templates {
    /// Compiles the embedded templates, or the project's override of the same name, and those that
    /// only the project has.
    /// `allowed_characters` are hidden characters that documents may contain.
    pub fn new(
        overrides: &BTreeMap<String, String>,
        allowed_characters: &str,
    ) -> Result<Templates, TemplateError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let syntax = SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .keep_trailing_newline(true)
            .build();
        let syntax = syntax.expect("the usual delimiters do not clash");
        environment.set_syntax(syntax.clone());
        environment.set_auto_escape_callback(|_| AutoEscape::Custom("blue".into()));
        let allowed = allowed_characters.to_string();
        environment
            .set_formatter(move |out, state, value| write_escaped(out, state, value, &allowed));
        // A template can come with an untrusted repository, so its time and memory are limited.
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(MAX_RECURSION);
        meter::add_to(&mut environment);
        filters::add_to(&mut environment);
        let mut digests = BTreeMap::new();
        let embedded = EMBEDDED.iter().filter(|(name, _)| !overrides.contains_key(*name));
        let embedded = embedded.map(|(name, text)| (*name, *text, format!("templates/{name}")));
        let own = overrides.iter();
        let own =
            own.map(|(name, text)| (name.as_str(), text.as_str(), format!("{TEMPLATES}{name}")));
        for (name, text, file) in embedded.chain(own) {
            let text = text.to_string();
            digests.insert(name.to_string(), Digest::of(text.as_bytes()));
            template_check::check(&text, &syntax)
                .map_err(|(line, reason)| TemplateError(format!("{file}:{line}: {reason}")))?;
            environment
                .add_template_owned(file.clone(), text)
                .map_err(|error| template_error(&file, &error))?;
        }
        Ok(Templates { environment, digests })
    }

    /// Returns the names of the templates that a project may override.
    pub fn names() -> impl Iterator<Item = &'static str> {
        EMBEDDED.iter().map(|(name, _)| *name)
    }

    /// Returns the digest of a template's text.
    pub fn digest(&self, name: &str) -> Digest {
        self.digests[name]
    }

    /// Renders a template. Lines with nothing but tags are removed, and the text ends in exactly
    /// one line end.
    pub fn render(&self, name: &str, view: &impl Serialize) -> Result<String, TemplateError> {
        let (file, template) = [format!("{TEMPLATES}{name}"), format!("templates/{name}")]
            .into_iter()
            .find_map(|file| {
                self.environment.get_template(&file).ok().map(|template| (file, template))
            })
            .expect("`new` adds every template");
        let compiled = machinery::get_compiled_template(&template);
        let instructions = meter::metered(&compiled.instructions);
        let mut text = String::new();
        machinery::eval(
            &self.environment,
            &instructions,
            Value::from(minijinja::value::Serde(view)),
            &compiled.blocks,
            &mut machinery::make_string_output(&mut text),
            compiled.initial_auto_escape.clone(),
        )
        .map_err(|error| template_error(&file, &error))?;
        Ok(format!("{}\n", text.trim_end()))
    }
}

fn template_error(file: &str, error: &minijinja::Error) -> TemplateError {
    let line = error.line().map_or(String::new(), |line| format!(":{line}"));
    let detail = error.detail().map_or(String::new(), |detail| format!(": {detail}"));
    TemplateError(format!("{file}{line}: {}{detail}", error.kind()))
}

/// Writes a value with its text escaped. All text from documents enters a rendered artifact here.
fn write_escaped(
    out: &mut Output<'_>,
    state: &mut State,
    value: &Value,
    allowed: &str,
) -> Result<(), minijinja::Error> {
    if value.is_undefined() {
        return Err(minijinja::Error::from(minijinja::ErrorKind::UndefinedError));
    }
    match value.as_str() {
        Some(text) => {
            let text = escape_except(text, allowed);
            meter::charge(state, text.len() as u64)?;
            out.write_str(&text)?;
        }
        None => {
            meter::charge(state, meter::weight(value)?)?;
            write!(out, "{value}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_error_names_file_and_line() {
        let overrides = BTreeMap::from([("digest.md".to_string(), "one\n{% if %}\n".to_string())]);
        let error =
            Templates::new(&overrides, "").err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.starts_with(".blue/templates/digest.md:2: "), "{error}");
        let overrides =
            BTreeMap::from([("digest.md".to_string(), "one\n\n{{ unknown }}\n".to_string())]);
        let templates = Templates::new(&overrides, "").expect("it compiles");
        let error = templates
            .render("digest.md", &BTreeMap::<String, String>::new())
            .err()
            .map(|e| e.to_string())
            .unwrap_or_default();
        assert!(error.starts_with(".blue/templates/digest.md:3: "), "{error}");
    }
}
