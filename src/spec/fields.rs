//! Strict access to the tree: wrong types, unknown keys and missing keys are collected as problems,
//! and reading continues.

use super::{
    problem::SpecProblem,
    tree::{Node, YamlValue, span},
};
use serde_yaml::Spanned;
use std::sync::Arc;
use testgen_base::{closed_enum::ClosedEnum, text::Quoted};

/// The longest reason of a skipped check, an expected failure or a tolerance.
pub(super) const LONGEST_REASON: usize = 500;

/// Collects the problems of one file.
pub(super) struct SpecDecoder {
    path: String,
    source: Arc<str>,
    pub(super) problems: Vec<SpecProblem>,
}

/// The entries of a mapping; all keys are known.
pub(super) struct MappingFields<'n> {
    /// The path of the mapping itself, empty for the document.
    path: String,
    entries: Vec<(&'n str, &'n Node)>,
}

impl SpecDecoder {
    pub(super) fn new(path: &str, source: Arc<str>) -> Self {
        Self {
            path: path.to_owned(),
            source,
            problems: Vec::new(),
        }
    }

    /// Adds a problem at a node.
    pub(super) fn complain<T>(
        &mut self,
        node: &Spanned<T>,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        let place = Some((Arc::clone(&self.source), span(node, &self.source)));
        self.problems.push(SpecProblem {
            path: self.path.clone(),
            message: message.into(),
            place,
            help,
        });
    }

    /// A mapping with only the keys `known`, and with all of `required`.
    pub(super) fn mapping<'n>(
        &mut self,
        node: &'n Node,
        path: &str,
        known: &[&str],
        required: &[&str],
    ) -> Option<MappingFields<'n>> {
        let YamlValue::Mapping(entries) = &node.value else {
            let help = format!("write a mapping with the keys {}", list(known));
            self.wrong_type(node, path, "a mapping", Some(help));
            return None;
        };
        let mut found = Vec::with_capacity(entries.len());
        let mut misspelt = Vec::new();
        for (key, value) in entries {
            if known.contains(&key.value.as_str()) {
                found.push((key.value.as_str(), value));
                continue;
            }
            let near = nearest_key(&key.value, known);
            // A misspelt required key is one mistake, not an unknown key and a missing one.
            misspelt.extend(near);
            let message = format!("unknown key {}", Quoted(&join(path, &key.value)));
            let known = format!("known keys are {}", list(known));
            let help = near.map_or_else(
                || known.clone(),
                |near| format!("did you mean `{near}`? {known}"),
            );
            self.complain(key, message, Some(help));
        }
        let fields = MappingFields {
            path: path.to_owned(),
            entries: found,
        };
        self.complain_about_missing(node, &fields, required, &misspelt);
        Some(fields)
    }

    /// One problem for all missing keys, except the ones that are probably misspelt.
    fn complain_about_missing(
        &mut self,
        node: &Node,
        fields: &MappingFields<'_>,
        required: &[&str],
        misspelt: &[&str],
    ) {
        let missing: Vec<&str> = required
            .iter()
            .copied()
            .filter(|key| fields.optional(key).is_none() && !misspelt.contains(key))
            .collect();
        let help = match missing.as_slice() {
            [] => return,
            ["reason"] => "say why in a few words; the report shows it",
            _ => {
                "docs/reference/spec.md says what each can be; `testgen add DIR` writes a whole spec"
            }
        };
        let plural = if missing.len() == 1 { "" } else { "s" };
        let paths: Vec<String> = missing.iter().map(|key| fields.key(key)).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        self.complain(
            node,
            format!("missing key{plural} {}", list(&paths)),
            Some(help.to_owned()),
        );
    }

    /// The items of a list, each with its path.
    pub(super) fn items<'n>(&mut self, node: &'n Node, path: &str) -> Vec<(String, &'n Node)> {
        match &node.value {
            YamlValue::Sequence(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| (format!("{path}[{index}]"), item))
                .collect(),
            _ => {
                self.wrong_type(node, path, "a list", None);
                Vec::new()
            }
        }
    }

    /// Text of at least one and at most `longest` characters.
    pub(super) fn text<'n>(
        &mut self,
        node: &'n Node,
        path: &str,
        longest: usize,
    ) -> Option<&'n str> {
        let YamlValue::Text(text) = &node.value else {
            // Without quotes YAML reads a name such as `123` or `true` as another type.
            let scalar = matches!(
                node.value,
                YamlValue::Boolean(_)
                    | YamlValue::Integer(_)
                    | YamlValue::Negative(_)
                    | YamlValue::Number(_)
            );
            self.wrong_type(
                node,
                path,
                "text",
                scalar.then(|| "put it in quotes".to_owned()),
            );
            return None;
        };
        if text.trim().is_empty() {
            self.complain(node, format!("`{path}` is empty"), None);
            return None;
        }
        if text.chars().count() > longest {
            self.complain(
                node,
                format!("`{path}` is longer than {longest} characters"),
                None,
            );
            return None;
        }
        Some(text)
    }

    /// A variant of a closed enum, by its written form.
    pub(super) fn variant<T: ClosedEnum>(&mut self, node: &Node, path: &str) -> Option<T> {
        // No limit is needed: `Quoted` shortens a long word in the message.
        let text = self.text(node, path, usize::MAX)?;
        match text.parse::<T>() {
            Ok(variant) => Some(variant),
            Err(unknown) => {
                let message = format!("unknown {} {} in `{path}`", unknown.kind, Quoted(text));
                let help = match unknown.near.as_slice() {
                    [] => T::known(),
                    near => format!("did you mean {}?", list(near)),
                };
                self.complain(node, message, Some(help));
                None
            }
        }
    }

    /// A whole number of at least 0.
    pub(super) fn whole(&mut self, node: &Node, path: &str) -> Option<u64> {
        match node.value {
            YamlValue::Integer(number) => Some(number),
            _ => {
                self.wrong_type(node, path, "a whole number of at least 0", None);
                None
            }
        }
    }

    /// A whole number of at least 1.
    pub(super) fn positive(&mut self, node: &Node, path: &str) -> Option<u64> {
        match node.value {
            YamlValue::Integer(number) if number > 0 => Some(number),
            // A wrong value, not a wrong type.
            YamlValue::Integer(_) | YamlValue::Negative(_) | YamlValue::Number(_) => {
                self.complain(
                    node,
                    format!("`{path}` must be a whole number above 0"),
                    None,
                );
                None
            }
            _ => {
                self.wrong_type(node, path, "a whole number", None);
                None
            }
        }
    }

    /// A number above 0 and at most 1.
    pub(super) fn fraction(&mut self, node: &Node, path: &str) -> Option<f64> {
        let number = match node.value {
            YamlValue::Integer(number) => number as f64,
            YamlValue::Negative(number) => number as f64,
            YamlValue::Number(number) => number,
            _ => {
                self.wrong_type(node, path, "a number", None);
                return None;
            }
        };
        // NaN fails both comparisons and is refused.
        let fits = number > 0.0 && number <= 1.0;
        if !fits {
            self.complain(
                node,
                format!("`{path}` must be above 0 and at most 1"),
                None,
            );
        }
        fits.then_some(number)
    }

    fn wrong_type(&mut self, node: &Node, path: &str, expected: &str, help: Option<String>) {
        let subject = if path.is_empty() {
            "the spec".to_owned()
        } else {
            format!("`{path}`")
        };
        self.complain(
            node,
            format!("{subject} must be {expected}, found {}", node.value.kind()),
            help,
        );
    }
}

impl<'n> MappingFields<'n> {
    /// The node of a key; a missing required key has already been reported.
    pub(super) fn optional(&self, key: &str) -> Option<&'n Node> {
        self.entries
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, node)| *node)
    }

    /// The path of a key of this mapping.
    pub(super) fn key(&self, key: &str) -> String {
        join(&self.path, key)
    }
}

/// The variant at a required key; a missing one has been complained about.
pub(super) fn required_variant<T: ClosedEnum>(
    decoder: &mut SpecDecoder,
    fields: &MappingFields<'_>,
    key: &str,
) -> Option<T> {
    let node = fields.optional(key)?;
    decoder.variant(node, &fields.key(key))
}

/// The text at a required key; a missing one has been complained about.
pub(super) fn required_text(
    decoder: &mut SpecDecoder,
    fields: &MappingFields<'_>,
    key: &str,
    longest: usize,
) -> Option<String> {
    let node = fields.optional(key)?;
    decoder
        .text(node, &fields.key(key), longest)
        .map(str::to_owned)
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

fn nearest_key<'k>(given: &str, known: &[&'k str]) -> Option<&'k str> {
    known
        .iter()
        .copied()
        .max_by_key(|key| similarity(key, given))
        // The threshold of clap, which suggests subcommands and options.
        .filter(|key| similarity(key, given) > 700)
}

/// "`a`, `b`, `c`".
pub(super) fn list(words: &[&str]) -> String {
    words
        .iter()
        .map(|word| format!("`{word}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn similarity(key: &str, given: &str) -> u32 {
    // As an integer, because floats have no total order that `max_by_key` could use.
    (strsim::jaro_winkler(given, key) * 1000.0) as u32
}
