//! The options of recording.

use std::path::PathBuf;

/// The options of a recording.
#[derive(Debug, Clone)]
pub struct RecordOptions {
    /// The Python to use; without it `TESTGEN_PYTHON`, then `python3`.
    pub python: Option<PathBuf>,
    /// Selects the inputs.
    pub seed: u64,
    /// The number of measurements of the reference's own error; the largest counts. Without it the
    /// recorder's default.
    pub noise_samples: Option<u32>,
    /// A file with the inputs, which are drawn without it.
    pub inputs: Option<PathBuf>,
    /// Replaces existing goldens.
    pub force: bool,
    /// Keeps the golden and records the answers only.
    pub answers: bool,
}
