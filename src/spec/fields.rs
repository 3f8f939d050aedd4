//! Strict access to the tree: wrong types, unknown keys and missing keys become problems, and reading goes on.

use super::{
    problem::Problem,
    tree::{Node, Value, span},
};
use crate::{quoted::Quoted, words::Word};
use serde_yaml::Spanned;
use std::{ops::Range, sync::Arc};

/// Collects the problems of one file.
pub(super) struct Decoder {
    path: String,
    source: Arc<str>,
    pub(super) problems: Vec<Problem>,
}

/// The entries of one mapping, all of them known keys.
pub(super) struct Fields<'n> {
    /// The path of the mapping itself, empty for the document.
    path: String,
    place: Range<usize>,
    entries: Vec<(&'n str, &'n Node)>,
}

impl Decoder {
    pub(super) fn new(path: &str, source: Arc<str>) -> Self {
        Self { path: path.to_owned(), source, problems: Vec::new() }
    }

    /// Says what is wrong with a node.
    pub(super) fn complain<T>(&mut self, node: &Spanned<T>, message: impl Into<String>, help: Option<String>) {
        let place = span(node, &self.source);
        self.complain_at(place, message.into(), help);
    }

    pub(super) fn complain_at(&mut self, place: Range<usize>, message: String, help: Option<String>) {
        let place = Some((Arc::clone(&self.source), place));
        self.problems.push(Problem { path: self.path.clone(), message, place, help });
    }

    /// A mapping with no other keys than `known`.
    pub(super) fn mapping<'n>(&mut self, node: &'n Node, path: &str, known: &[&str]) -> Option<Fields<'n>> {
        let Value::Mapping(entries) = &node.value else {
            let help = format!("write a mapping with the keys {}", list(known));
            self.wrong_type(node, path, "a mapping", Some(help));
            return None;
        };
        let mut found = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            if known.contains(&key.value.as_str()) {
                found.push((key.value.as_str(), value));
            } else {
                let message = format!("unknown key {}", Quoted(&join(path, &key.value)));
                self.complain(key, message, Some(nearest_key(&key.value, known)));
            }
        }
        Some(Fields { path: path.to_owned(), place: span(node, &self.source), entries: found })
    }

    /// The items of a list, each with its path.
    pub(super) fn items<'n>(&mut self, node: &'n Node, path: &str) -> Vec<(String, &'n Node)> {
        match &node.value {
            Value::Sequence(items) => {
                items.iter().enumerate().map(|(index, item)| (format!("{path}[{index}]"), item)).collect()
            }
            _ => {
                self.wrong_type(node, path, "a list", None);
                Vec::new()
            }
        }
    }

    /// Text of one character at least and `longest` at most.
    pub(super) fn text<'n>(&mut self, node: &'n Node, path: &str, longest: usize) -> Option<&'n str> {
        let Value::Text(text) = &node.value else {
            let scalar = matches!(node.value, Value::Boolean(_) | Value::Integer(_) | Value::Number(_));
            self.wrong_type(node, path, "text", scalar.then(|| "put it in quotes".to_owned()));
            return None;
        };
        if text.trim().is_empty() {
            self.complain(node, format!("`{path}` is empty"), None);
            return None;
        }
        if text.chars().count() > longest {
            self.complain(node, format!("`{path}` is longer than {longest} characters"), None);
            return None;
        }
        Some(text)
    }

    /// One of the closed words.
    pub(super) fn word<W: Word>(&mut self, node: &Node, path: &str) -> Option<W> {
        let text = self.text(node, path, usize::MAX)?;
        match text.parse::<W>() {
            Ok(word) => Some(word),
            Err(unknown) => {
                let message = format!("unknown {} {} in `{path}`", unknown.kind, Quoted(text));
                let known: Vec<&str> = W::all().iter().map(|word| word.text()).collect();
                let help = match unknown.near.as_slice() {
                    [] => format!("known are {}", list(&known)),
                    near => format!("did you mean {}?", list(near)),
                };
                self.complain(node, message, Some(help));
                None
            }
        }
    }

    /// A whole number of at least 1.
    pub(super) fn positive(&mut self, node: &Node, path: &str) -> Option<u64> {
        match node.value {
            Value::Integer(number) if number > 0 => Some(number),
            Value::Integer(_) | Value::Number(_) => {
                self.complain(node, format!("`{path}` must be a whole number above 0"), None);
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
            Value::Integer(number) => number as f64,
            Value::Number(number) => number,
            _ => {
                self.wrong_type(node, path, "a number", None);
                return None;
            }
        };
        let fits = number > 0.0 && number <= 1.0;
        if !fits {
            self.complain(node, format!("`{path}` must be above 0 and at most 1"), None);
        }
        fits.then_some(number)
    }

    fn wrong_type(&mut self, node: &Node, path: &str, wanted: &str, help: Option<String>) {
        let subject = if path.is_empty() { "the spec".to_owned() } else { format!("`{path}`") };
        self.complain(node, format!("{subject} must be {wanted}, found {}", node.value.kind()), help);
    }
}

impl<'n> Fields<'n> {
    /// The node of a key that may be missing.
    pub(super) fn optional(&self, key: &str) -> Option<&'n Node> {
        self.entries.iter().find(|(name, _)| *name == key).map(|(_, node)| *node)
    }

    /// The node of a key that must be there.
    pub(super) fn required(&self, decoder: &mut Decoder, key: &str) -> Option<&'n Node> {
        let node = self.optional(key);
        if node.is_none() {
            let message = format!("missing key `{}`", self.key(key));
            decoder.complain_at(self.place.clone(), message, Some(hint(key)));
        }
        node
    }

    /// The path of a key of this mapping.
    pub(super) fn key(&self, key: &str) -> String {
        join(&self.path, key)
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// What a missing key is for.
fn hint(key: &str) -> String {
    match key {
        "reason" => "say why in a few words; the report shows it".to_owned(),
        _ => format!("add `{key}: ...`; `testgen schema` and docs/spec.md say what it can be"),
    }
}

fn nearest_key(given: &str, known: &[&str]) -> String {
    let score = |key: &&&str| (strsim::jaro_winkler(given, key) * 1000.0) as u32;
    let near = known.iter().max_by_key(score).filter(|key| score(key) > 700);
    let known = list(known);
    near.map_or_else(
        || format!("known keys are {known}"),
        |key| format!("did you mean `{key}`? known keys are {known}"),
    )
}

/// "`a`, `b`, `c`".
pub(super) fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
