//! The errors of hidden states by layer, in the JSON form of a report.

use schemars::JsonSchema;
use serde::Serialize;
use testgen_types::{ErrorRise, ErrorsOverDepth};

/// The errors of the hidden states of a cell.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct StructuredDepth {
    /// The number of layers, of all stacks.
    layers: usize,
    /// The largest error in units of the reference's own; null if its own error is not recorded.
    largest_ratio: Option<f64>,
    /// The first layer whose error is outside its usual range; null if there is none.
    rise: Option<StructuredRise>,
}

/// The first layer whose error is outside its usual range.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct StructuredRise {
    /// Its name in the golden, for instance `layer.16` or `decoder.layer.3`.
    layer: String,
    /// The number of layers of its stack.
    of: usize,
    /// Its error, rel-L2; null if it is not finite.
    error: Option<f64>,
    /// The layer before it in its stack; null for the first.
    previous: Option<String>,
    /// The error of that layer.
    previous_error: Option<f64>,
    /// The reference's own error of the layer in this precision; null if it is not recorded.
    reference: Option<f64>,
}

impl From<ErrorsOverDepth> for StructuredDepth {
    fn from(errors: ErrorsOverDepth) -> Self {
        Self {
            layers: errors.layers,
            largest_ratio: errors.largest_ratio,
            rise: errors.rise.map(StructuredRise::from),
        }
    }
}

impl From<ErrorRise> for StructuredRise {
    fn from(rise: ErrorRise) -> Self {
        let ErrorRise {
            layer,
            of,
            error,
            previous,
            previous_error,
            reference,
        } = rise;
        Self {
            layer,
            of,
            error,
            previous,
            previous_error,
            reference,
        }
    }
}
