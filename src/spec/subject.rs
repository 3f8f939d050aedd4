//! The subject of a spec: the keys that only its kind has, and how they are read. The files below
//! own the keys that have several values.

mod checkpoint;
mod layer_sizes;
mod operators;
mod stress;
mod tolerance;

pub use checkpoint::{CheckpointPlace, CheckpointSource};
pub use operators::OperatorSpec;
pub use stress::StressSpec;
pub use tolerance::ToleranceSpec;

use super::{
    fields::{MappingFields, SpecDecoder},
    schema,
};
use schemars::JsonSchema;
use serde::Serialize;
use testgen_types::{ModelType, Precision, SubjectKind};

/// The subject of a spec, with the keys that only its kind has.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SpecSubject {
    /// A model with its checkpoint.
    #[schemars(title = "a model")]
    Model(ModelSubject),
    /// Operators with their shapes; they have no checkpoint.
    #[schemars(title = "operators")]
    Operators(OperatorsSubject),
}

/// The keys that only a spec of a model has.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ModelSubject {
    /// Exactly the `model_type` of the checkpoint's `config.json`.
    #[schemars(schema_with = "schema::model_type")]
    pub model_type: ModelType,
    /// Where the checkpoint is: exactly one of `fixture`, `path` and `synthetic`.
    pub checkpoint: CheckpointSource,
    /// Tolerances of this model, if the table does not fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerance: Vec<ToleranceSpec>,
}

/// The keys that only a spec of operators has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OperatorsSubject {
    /// The shapes of each operator, for instance `matmul: [[33, 65, 17]]`, or of every operator of
    /// a group that has no shapes itself, for instance `elementwise: [[33, 65]]`. Each shape has
    /// the sizes of [the operator](#operators).
    #[schemars(schema_with = "schema::operators")]
    pub operators: Vec<OperatorSpec>,
    /// The shapes of the check `stress`, of operators that `operators` names: for each the
    /// issues that report faults of such sizes, or a word, with shapes, for instance
    /// `matmul: { "vllm#51511": [[1, 8192, 64]] }`. [operators.md](../operators.md#stress)
    /// explains them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::stress")]
    pub stress: Vec<StressSpec>,
}

impl SpecSubject {
    /// The model, if it is one.
    pub fn model(&self) -> Option<&ModelSubject> {
        match self {
            Self::Model(model) => Some(model),
            Self::Operators(_) => None,
        }
    }

    /// The operators, if it has them.
    pub fn operators(&self) -> Option<&OperatorsSubject> {
        match self {
            Self::Operators(operators) => Some(operators),
            Self::Model(_) => None,
        }
    }
}

/// The keys of a spec of a model.
const MODEL_KEYS: &[&str] = &[
    "name",
    "model_type",
    "architecture",
    "task",
    "checkpoint",
    "devices",
    "precisions",
    "checks",
    "tolerance",
    "memory",
    "limits",
];
const REQUIRED_MODEL_KEYS: &[&str] = &[
    "name",
    "model_type",
    "architecture",
    "task",
    "checkpoint",
    "devices",
    "precisions",
];
/// The keys of a spec of operators, which have no checkpoint.
const OPERATORS_KEYS: &[&str] = &[
    "name",
    "architecture",
    "task",
    "operators",
    "stress",
    "devices",
    "precisions",
    "checks",
    "memory",
    "limits",
];
const REQUIRED_OPERATORS_KEYS: &[&str] = &[
    "name",
    "architecture",
    "task",
    "operators",
    "devices",
    "precisions",
];

/// The keys of a spec with this kind of subject: all, and the required ones.
pub(super) fn keys(kind: SubjectKind) -> (&'static [&'static str], &'static [&'static str]) {
    match kind {
        SubjectKind::Model => (MODEL_KEYS, REQUIRED_MODEL_KEYS),
        SubjectKind::Operators => (OPERATORS_KEYS, REQUIRED_OPERATORS_KEYS),
    }
}

/// Reads the subject. A model has a type; its tolerances are in the precisions of the spec.
pub(super) fn read(
    kind: SubjectKind,
    decoder: &mut SpecDecoder,
    fields: &MappingFields<'_>,
    (model_type, precisions): (Option<ModelType>, Option<&[Precision]>),
) -> Option<SpecSubject> {
    match kind {
        SubjectKind::Model => {
            model(decoder, fields, model_type, precisions).map(SpecSubject::Model)
        }
        SubjectKind::Operators => Some(SpecSubject::Operators(operators(decoder, fields))),
    }
}

fn model(
    decoder: &mut SpecDecoder,
    fields: &MappingFields<'_>,
    model_type: Option<ModelType>,
    precisions: Option<&[Precision]>,
) -> Option<ModelSubject> {
    let checkpoint = fields
        .optional("checkpoint")
        .and_then(|node| checkpoint::source(decoder, node, model_type));
    let tolerance = fields
        .optional("tolerance")
        .map(|node| tolerance::tolerances(decoder, node, precisions))
        .unwrap_or_default();
    Some(ModelSubject {
        model_type: model_type?,
        checkpoint: checkpoint?,
        tolerance,
    })
}

fn operators(decoder: &mut SpecDecoder, fields: &MappingFields<'_>) -> OperatorsSubject {
    let operators = fields
        .optional("operators")
        .map(|node| operators::shapes(decoder, node))
        .unwrap_or_default();
    let stress = fields
        .optional("stress")
        .map(|node| stress::shapes(decoder, node, &operators))
        .unwrap_or_default();
    OperatorsSubject { operators, stress }
}
