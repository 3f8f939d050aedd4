//! The subject of a spec: a model with its checkpoint, or operators with their shapes.

use testgen_types::{ModelType, Operator};

/// The subject of the spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedSubject {
    /// A model.
    Model {
        /// The `model_type` of `config.json`.
        model_type: ModelType,
        /// The path of the checkpoint, as the harness contains it.
        checkpoint: String,
        /// The checkpoint's name on the hub, if the spec has one.
        hub: Option<String>,
    },
    /// Operators.
    Operators(Vec<ExpectedOperator>),
}

/// An operator of the spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedOperator {
    /// The operator.
    pub operator: Operator,
    /// The sizes of each of its shapes.
    pub shapes: Vec<Vec<u64>>,
    /// Its shapes in the check `stress`.
    pub stress: Vec<ExpectedStress>,
}

/// Shapes of the check `stress`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedStress {
    /// The issue that reports a fault of such sizes, or a word.
    pub issue: String,
    /// The sizes of each shape.
    pub shapes: Vec<Vec<u64>>,
}
