//! The account of the tensors that a model reads.

use crate::weights::{
    error::WeightsError,
    file::{FileTensor, Files},
};
use std::collections::BTreeSet;

/// The tensors that a model asked for, by their names in the files.
#[derive(Default)]
pub(super) struct Accessed {
    pub(super) read: BTreeSet<String>,
    /// Copies of tensors that were read.
    pub(super) tied: BTreeSet<String>,
    /// Not used by the class that is computed.
    pub(super) unused: BTreeSet<String>,
    /// Whether a stack of layers was loaded.
    pub(super) has_stack: bool,
}

impl Accessed {
    /// Whether every tensor that was marked as tied and is in the file equals one that was read.
    pub(super) fn check_tied(&self, files: &Files) -> Result<(), WeightsError> {
        let read: Vec<FileTensor<'_>> = self
            .read
            .iter()
            .filter_map(|name| files.find(name))
            .collect();
        for name in self.tied.difference(&self.read) {
            let Some(tied) = files.find(name) else {
                continue;
            };
            // Bytes of another type or shape can agree by chance.
            let mut others = read
                .iter()
                .filter(|other| other.dtype == tied.dtype && other.shape == tied.shape);
            if !others.any(|other| other.bytes() == tied.bytes()) {
                return Err(WeightsError::NotTied { name: name.clone() });
            }
        }
        Ok(())
    }

    /// The names that were read, or need not be, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        let names: BTreeSet<&String> = self
            .read
            .iter()
            .chain(&self.tied)
            .chain(&self.unused)
            .collect();
        names.into_iter().cloned().collect()
    }
}
