//! The estimates of one checkpoint, and the request for them.

use super::{fit::DeviceRoom, row::EstimateRow};
use std::path::PathBuf;
use testgen_estimate::CallSizes;
use testgen_types::Precision;

/// The sizes of the call that is estimated, and the precisions.
#[derive(Debug, Clone)]
pub struct EstimateOptions {
    /// All if it is empty.
    pub precisions: Vec<Precision>,
    /// Inputs that are computed together.
    pub batch: u64,
    /// Tokens of each; without a number 128, or all positions of a model that has fewer.
    pub tokens: Option<u64>,
    /// Height and width of images or latents, in place of the size that the checkpoint says.
    pub image: Option<[u64; 2]>,
}

/// The estimates of one checkpoint.
#[derive(Debug)]
pub struct EstimateReport {
    /// The checkpoint's directory.
    pub directory: PathBuf,
    /// Its `model_type`.
    pub model_type: String,
    /// The class that is computed.
    pub class: String,
    /// The sizes of the call; without tokens for types that read images.
    pub sizes: CallSizes,
    /// Whether the number of tokens counts.
    pub reads_tokens: bool,
    /// The name of what is counted as tokens.
    pub token_unit: &'static str,
    /// Height and width of the images or latents, of types that read any size.
    pub image: Option<[u64; 2]>,
    /// One row for each backend and precision.
    pub rows: Vec<EstimateRow>,
    /// The usable devices.
    pub rooms: Vec<DeviceRoom>,
}
