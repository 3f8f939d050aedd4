//! The weights of a synthetic checkpoint, as the recorder makes them.

use testgen_types::QuantizationScheme;

/// The configuration of a synthetic checkpoint, and how its weights are made.
#[derive(Debug, Clone)]
pub struct SyntheticWeights {
    /// The content of `config.json`.
    pub config: Vec<u8>,
    /// The seed.
    pub seed: u64,
    /// The scheme that quantizes the weights.
    pub quantise: Option<QuantizationScheme>,
}
