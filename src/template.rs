//! Templates: those compiled into the binary, files that replace them, rendering and formatting,
//! and errors.
//!
//! Owns: the set of templates and their filters. Does not own: the variables that they are rendered
//! with (`generate`).

mod error;
mod format;
mod origin;
mod rustfmt_layout;

pub use error::{NoRust, TemplateError};
pub use format::{SyntaxError, format_rust};

use format::Formatter;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use tera::{Context, Kwargs, State, Tera};
use testgen_base::text::limited;
use testgen_types::{
    Architecture,
    bounded_file::{limit, read_text},
};
use walkdir::WalkDir;

/// Every file below `templates/` of this repository, by its path.
const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/templates.rs"));

/// A complete set of templates, parsed.
#[derive(Debug)]
pub struct Templates {
    tera: Tera,
    sources: BTreeMap<String, String>,
    /// The directory of the templates that are not built in.
    overridden: BTreeMap<String, PathBuf>,
    formatter: Formatter,
}

impl Templates {
    /// The built-in templates; those in `overrides` replace the ones of the same path, or are
    /// added.
    pub fn load(overrides: Option<&Path>) -> Result<Self, TemplateError> {
        let mut sources: BTreeMap<String, String> = EMBEDDED
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect();
        let mut overridden = BTreeMap::new();
        if let Some(directory) = overrides {
            let read = read_directory(directory)?;
            overridden.extend(read.keys().map(|name| (name.clone(), directory.join(name))));
            // After the built-in ones, which a template with the same path replaces.
            sources.extend(read);
        }
        Self::parse(sources, overridden)
    }

    /// The built-in templates, one of which is replaced.
    #[cfg(test)]
    pub(crate) fn with_override(name: &str, text: &str) -> Result<Self, TemplateError> {
        let mut sources: BTreeMap<String, String> = EMBEDDED
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect();
        sources.insert(name.to_owned(), text.to_owned());
        Self::parse(sources, BTreeMap::new())
    }

    fn parse(
        sources: BTreeMap<String, String>,
        overridden: BTreeMap<String, PathBuf>,
    ) -> Result<Self, TemplateError> {
        let mut tera = Tera::new();
        // `Debug` escapes text as a string literal of Rust.
        tera.register_filter("rust_string", |text: &str, _: Kwargs, _: &State<'_>| {
            format!("{text:?}")
        });
        // A manifest has paths of the user, and a quote or a backslash in one would end the string.
        tera.register_filter("toml_string", |text: &str, _: Kwargs, _: &State<'_>| {
            toml::Value::String(text.to_owned()).to_string()
        });
        let templates = sources
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()));
        tera.add_raw_templates(templates)
            .map_err(|error| TemplateError::from_tera(&error))?;
        Ok(Self {
            tera,
            sources,
            overridden,
            formatter: Formatter::default(),
        })
    }

    /// The name of the template of an architecture.
    pub fn for_architecture(architecture: Architecture) -> String {
        format!("{architecture}.rs.tera")
    }

    /// The text of a template; empty when there is none.
    pub(crate) fn source(&self, name: &str) -> &str {
        self.sources
            .get(name)
            .map(String::as_str)
            .unwrap_or_default()
    }

    /// The path of a template in messages: for built-in ones the path in testgen's repository.
    pub(crate) fn shown(&self, name: &str) -> String {
        self.overridden.get(name).map_or_else(
            || format!("templates/{name}"),
            |path| path.display().to_string(),
        )
    }

    /// A template and everything that it extends or includes.
    pub(crate) fn reachable(&self, name: &str) -> Vec<String> {
        origin::reachable(&self.sources, name)
            .into_iter()
            .filter(|name| self.sources.contains_key(name))
            .collect()
    }

    /// The template and line that a rendered line most likely comes from; `near` is fixed text of
    /// the function around it.
    pub(crate) fn origin(&self, name: &str, line: &str, near: &str) -> Option<(String, usize)> {
        origin::find(&self.sources, name, line, near)
    }

    /// Renders a template.
    pub fn render(&self, name: &str, context: &Context) -> Result<String, TemplateError> {
        if !self.sources.contains_key(name) {
            return Err(TemplateError::Missing {
                template: name.to_owned(),
            });
        }
        self.tera
            .render(name, context)
            .map_err(|error| TemplateError::from_tera(&error))
    }

    /// Renders a template of Rust for `subject`, a model or a file, and formats the result.
    pub fn render_rust(
        &self,
        name: &str,
        subject: &str,
        context: &Context,
    ) -> Result<String, TemplateError> {
        let text = self.render(name, context)?;
        self.formatter.format(&text).map_err(|error| {
            // The parser knows lines of the rendered text, and a user edits the template.
            let line = text
                .lines()
                .nth(error.line.saturating_sub(1))
                .unwrap_or_default();
            TemplateError::NoRust(Box::new(NoRust {
                template: name.to_owned(),
                subject: subject.to_owned(),
                origin: origin::find(&self.sources, name, line, ""),
                message: limited(&error.message),
                excerpt: limited(&error.excerpt),
            }))
        })
    }
}

/// The `*.tera` files below a directory, by their path in it.
fn read_directory(directory: &Path) -> Result<BTreeMap<String, String>, TemplateError> {
    if !directory.is_dir() {
        return Err(unreadable(directory, "it is not a directory".to_owned()));
    }
    let mut sources = BTreeMap::new();
    for entry in WalkDir::new(directory)
        .follow_links(true)
        // The order of a directory differs between file systems.
        .sort_by_file_name()
    {
        let entry = match entry {
            Ok(entry) => entry,
            // A link to a directory above it: the templates there are found without it.
            Err(error) if error.loop_ancestor().is_some() => continue,
            Err(error) => return Err(unreadable(directory, error.to_string())),
        };
        let is_template = entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "tera");
        if !is_template || entry.file_type().is_dir() {
            continue;
        }
        let text = read_text(entry.path(), limit::SOURCE)
            .map_err(|error| unreadable(entry.path(), error.problem.to_string()))?;
        let relative = entry.path().strip_prefix(directory).unwrap_or(entry.path());
        let parts: Vec<_> = relative
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect();
        sources.insert(parts.join("/"), text);
    }
    match sources.is_empty() {
        true => Err(unreadable(directory, "it has no `*.tera` file".to_owned())),
        false => Ok(sources),
    }
}

fn unreadable(path: &Path, reason: String) -> TemplateError {
    TemplateError::Unreadable {
        path: path.to_owned(),
        reason,
    }
}
