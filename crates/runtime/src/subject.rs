//! The subject of a harness: a model with a checkpoint, or operators, which have none.

use std::path::Path;
use testgen_models::{Checkpoint, Source};
use testgen_types::{ModelType, Operator};

/// The subject of a harness.
#[derive(Debug, Clone, Copy)]
pub enum Subject {
    /// A model.
    Model {
        /// The `model_type` of `config.json`.
        model_type: ModelType,
        /// The source of the checkpoint.
        source: Source,
    },
    /// Operators of the backend, with the shapes that they are computed on.
    Operators {
        /// Each operator with its shapes.
        shapes: &'static [OperatorShapes],
    },
}

/// An operator with the shapes that it is computed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorShapes {
    /// The operator.
    pub operator: Operator,
    /// Each shape has the sizes that [`Operator::sizes`] names.
    pub shapes: &'static [&'static [usize]],
    /// The shapes of the check `stress`.
    pub stress: &'static [StressShapes],
}

/// Shapes of the check `stress` with their origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StressShapes {
    /// The issue that reports a fault of such sizes, `repository#number`, or a word.
    pub issue: &'static str,
    /// Each shape has the sizes that [`Operator::sizes`] names.
    pub shapes: &'static [&'static [usize]],
}

impl Subject {
    /// The checkpoint of a model, for a suite in `base`; operators have none.
    pub(crate) fn checkpoint(&self, base: &Path) -> Option<Checkpoint> {
        match self {
            Self::Model { source, .. } => Some(source.checkpoint(base)),
            Self::Operators { .. } => None,
        }
    }
}
