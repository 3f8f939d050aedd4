//! Hugging Face tensors by their own names.

/// Why the tensors of a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {}
