//! A checkpoint to record.

use crate::reference::record::synthetic_weights::SyntheticWeights;
use std::path::PathBuf;

/// A checkpoint to record.
#[derive(Debug, Clone)]
pub struct RecordTarget {
    /// Its name in messages, as the user wrote it.
    pub name: String,
    /// Its directory.
    pub checkpoint: PathBuf,
    /// The configuration and the seed of a synthetic one, whose directory has no weights.
    pub synthetic: Option<SyntheticWeights>,
}
