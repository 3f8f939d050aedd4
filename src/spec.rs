//! The spec: a YAML file below `model_specs/` that describes one model, or some operators.
//!
//! Owns: the type, its strict reader with compiler-like errors, the rules for names, the JSON
//! Schema and the reference. Does not own: the suite that is generated from it (`generate`).

mod decode;
mod directory;
mod fields;
mod model_name;
mod problem;
mod reference;
mod schema;
mod synthetic;
mod tree;
mod yaml;

pub use directory::{LoadedSpec, load_all};
pub(crate) use model_name::is_keyword;
pub use model_name::{MAX_NAME_LENGTH, ModelName, NameError};
pub use problem::{SpecErrors, SpecProblem};
pub use reference::reference;
pub use schema::schema;
pub use synthetic::{SyntheticConfig, SyntheticProblem, SyntheticSource};
pub use yaml::{SpecFile, read};

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;
use testgen_types::{Architecture, Check, DeviceKind, ModelType, Operator, Precision, Task};

/// One model with its checkpoint, or operators with their shapes: the devices and precisions, and
/// changes to the list of checks.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, title = "testgen model spec")]
pub struct ModelSpec {
    /// The model's name: the stem of the file. Letters, digits, `_`, `-` and `.`, the first a
    /// letter or a digit.
    #[schemars(with = "String", regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"))]
    pub name: ModelName,
    /// The subject, whose keys depend on its kind.
    #[serde(flatten)]
    pub subject: SpecSubject,
    /// The architecture of the `model_type` in the registry, or `operators`; it decides keys,
    /// template, tasks and checks.
    #[schemars(schema_with = "schema::architecture")]
    pub architecture: Architecture,
    /// The task of the handlers; one of the architecture's tasks.
    #[schemars(schema_with = "schema::task")]
    pub task: Task,
    /// The devices that get checks. At least one, none twice.
    #[schemars(schema_with = "schema::devices")]
    pub devices: Vec<DeviceKind>,
    /// The precisions that get checks. At least one, none twice; `tf32` gets checks on `cuda` only.
    #[schemars(schema_with = "schema::precisions")]
    pub precisions: Vec<Precision>,
    /// Changes to the list of checks.
    #[serde(default, skip_serializing_if = "Checks::is_empty")]
    pub checks: Checks,
    /// The memory that the model needs on a device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
}

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

/// An operator with the shapes that it is computed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperatorSpec {
    /// The operator.
    pub operator: Operator,
    /// Shapes with the sizes that [`Operator::sizes`] names.
    pub shapes: Vec<Vec<u64>>,
}

/// Shapes of the check `stress` with their origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StressSpec {
    /// The operator.
    pub operator: Operator,
    /// The issue that reports a fault of such sizes, `repository#number`, or a word.
    pub issue: String,
    /// Shapes with the sizes that [`Operator::sizes`] names.
    pub shapes: Vec<Vec<u64>>,
}

/// Where the checkpoint is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CheckpointSource {
    /// Its place.
    #[serde(flatten)]
    pub place: CheckpointPlace,
    /// The real model on the Hugging Face Hub, `owner/name`; used when `TESTGEN_CHECKPOINTS`
    /// requests it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub hub: Option<String>,
}

/// The place of a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckpointPlace {
    /// A directory in `fixtures/`, which is next to the directory of specs.
    Fixture(String),
    /// A directory, relative to this file or absolute. Used as it is; an absolute path works on one
    /// machine only.
    Path(String),
    /// A configuration and a seed, from which the weights are computed when a suite runs. `testgen
    /// record` writes the list of tensors and the goldens into the directory that has the name of
    /// this file without `.yaml`.
    Synthetic(SyntheticSource),
}

/// Changes to the list of checks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Checks {
    /// Checks that are not run. They stay in the list and are reported as ignored, with the reason.
    #[serde(default)]
    pub skip: Vec<SkippedCheck>,
    /// Checks that are known to fail. They run; until the date a failure is expected, and a pass is
    /// reported as unexpected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub xfail: Vec<Xfail>,
}

/// A check that is not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SkippedCheck {
    /// One of the checks that the architecture has.
    #[schemars(schema_with = "schema::check")]
    pub check: Check,
    /// Only on this device; without it, on all devices of the spec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::device")]
    pub device: Option<DeviceKind>,
    /// Only in this precision; without it, in all precisions that the check is made in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::precision")]
    pub precision: Option<Precision>,
    /// The reason, which the report shows.
    pub reason: String,
}

/// A check that is known to fail, until a date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Xfail {
    /// One of the checks that the architecture has.
    #[schemars(schema_with = "schema::check")]
    pub check: Check,
    /// Only on this device; without it, on all devices of the spec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::device")]
    pub device: Option<DeviceKind>,
    /// Only in this precision; without it, in all precisions that the check is made in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::precision")]
    pub precision: Option<Precision>,
    /// The reason, which the report shows.
    pub reason: String,
    /// The person or team that fixes it.
    pub owner: String,
    /// The last day on which the failure is expected, `YYYY-MM-DD`; from the next day on it is a
    /// failure like any other.
    #[schemars(with = "String", regex(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    pub expires: Date,
}

/// A tolerance of this model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ToleranceSpec {
    /// The output to which it applies, for instance `logits`.
    pub output: String,
    /// The precision to which it applies.
    #[schemars(schema_with = "schema::precision")]
    pub precision: Precision,
    /// The largest |d| / |ref| over the tensor. Above 0, at most 1.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub rel_l2: f64,
    /// The largest max |d| / max |ref|. Above 0, at most 1.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub max_rel: f64,
    /// Why the table does not fit; the report shows it.
    pub reason: String,
}

/// The memory that the model needs on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Memory {
    /// MiB of device memory; on a device with less memory the checks are ignored, with this as the
    /// reason.
    #[schemars(range(min = 1))]
    pub vram_mib: u64,
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

impl Checks {
    /// Whether the spec contains no changes.
    pub fn is_empty(&self) -> bool {
        self.skip.is_empty() && self.xfail.is_empty()
    }
}
