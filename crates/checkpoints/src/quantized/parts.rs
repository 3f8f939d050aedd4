//! The stored tensors that one tensor of a model is computed from.

use super::stored::{StoredFiles, StoredPart};
use std::collections::BTreeMap;

/// How a method names the parts of a tensor.
pub(super) struct PartNames {
    /// The ends of their names, after the name of the module.
    pub(super) ends: &'static [&'static str],
    /// The end of the tensor's name.
    pub(super) tensor: &'static str,
    /// Ends of the names of tensors that a forward call on unquantized weights does not use: scales
    /// of activations.
    pub(super) unused: &'static [&'static str],
}

/// The names of the parts of a tensor, by their ends; one with an empty end for a tensor that is
/// stored as it is.
#[derive(Debug, Default)]
pub(super) struct Parts(BTreeMap<&'static str, String>);

/// The parts of a tensor with their bytes.
pub(super) struct StoredParts(BTreeMap<&'static str, StoredPart>);

/// The tensors of a model by name.
pub(super) fn grouped<'a>(
    stored: impl Iterator<Item = &'a str>,
    names: &PartNames,
) -> BTreeMap<String, Parts> {
    let mut tensors: BTreeMap<String, Parts> = BTreeMap::new();
    for name in stored {
        if names.unused.iter().any(|end| name.ends_with(end)) {
            continue;
        }
        // No end of a method is itself the end of another one, so that at most one fits.
        let part = names
            .ends
            .iter()
            .find_map(|end| Some((*end, name.strip_suffix(end)?)));
        let (tensor, end) = match part {
            Some((end, module)) => (format!("{module}{}", names.tensor), end),
            // A tensor that is not quantized is the only part of itself.
            None => (name.to_owned(), ""),
        };
        tensors
            .entry(tensor)
            .or_default()
            .0
            .insert(end, name.to_owned());
    }
    tensors
}

impl Parts {
    pub(super) fn read(&self, files: &StoredFiles) -> Result<StoredParts, String> {
        let read = self
            .0
            .iter()
            .map(|(end, name)| Ok((*end, files.read(name)?)));
        read.collect::<Result<_, String>>().map(StoredParts)
    }
}

impl StoredParts {
    /// The only part, if the tensor is stored as it is, under its own name; else all parts.
    pub(super) fn unquantized(mut self, tensor: &str) -> Result<StoredPart, Self> {
        // A single part with another name is a quantized tensor that lacks the others.
        if self.0.len() > 1 || self.0.values().any(|part| part.name != tensor) {
            return Err(self);
        }
        self.0.pop_first().map(|(_, part)| part).ok_or(self)
    }

    pub(super) fn find(&self, end: &str) -> Option<&StoredPart> {
        self.0.get(end)
    }

    pub(super) fn part(&self, end: &str) -> Result<&StoredPart, String> {
        self.find(end).ok_or_else(|| {
            let found: Vec<&str> = self.0.keys().copied().collect();
            format!("there is no part `{end}` beside {}", found.join(", "))
        })
    }
}
