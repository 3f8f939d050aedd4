//! The spec: what one YAML file below `model_specs/` says about one model.
//!
//! Owns: the type, its strict reader with compiler-like errors, the rules for names, the JSON Schema and the reference.
//! Does not own: what is made of a spec (`generate`).

mod decode;
mod directory;
mod fields;
mod model_name;
mod problem;
mod reference;
mod schema;
mod tree;
mod yaml;

pub use directory::{LoadedSpec, load_all};
pub(crate) use model_name::is_keyword;
pub use model_name::{MAX_NAME_LENGTH, ModelName, NameError};
pub(crate) use problem::Count;
pub use problem::{Problem, SpecErrors};
pub use reference::reference;
pub use schema::schema;
pub use yaml::{SpecFile, read};

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;
use testgen_types::{Architecture, Check, DeviceKind, ModelType, Precision, Task};

/// One model: its checkpoint, and what is checked on which devices in which precisions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, title = "testgen model spec")]
pub struct ModelSpec {
    /// The model's name: the stem of the file. Letters, digits, `_`, `-` and `.`, the first a letter or a digit.
    #[schemars(with = "String", regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"))]
    pub name: ModelName,
    /// Exactly the `model_type` of the checkpoint's `config.json`.
    #[schemars(schema_with = "schema::model_type")]
    pub model_type: ModelType,
    /// The architecture that the registry gives the `model_type`; it decides template, tasks and checks.
    #[schemars(schema_with = "schema::architecture")]
    pub architecture: Architecture,
    /// What the handlers do with a request; one of the architecture's tasks.
    #[schemars(schema_with = "schema::task")]
    pub task: Task,
    /// Where the checkpoint is: exactly one of `fixture` and `path`.
    pub checkpoint: Checkpoint,
    /// The devices that get checks. At least one, none twice.
    #[schemars(schema_with = "schema::devices")]
    pub devices: Vec<DeviceKind>,
    /// The precisions that get checks. At least one, none twice.
    #[schemars(schema_with = "schema::precisions")]
    pub precisions: Vec<Precision>,
    /// Changes to the list of checks.
    #[serde(default, skip_serializing_if = "Checks::is_empty")]
    pub checks: Checks,
    /// Tolerances of this model's own, where the table does not fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerance: Vec<Tolerance>,
    /// What the model needs of a device's memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
}

/// Where the checkpoint is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Checkpoint {
    /// A directory in `fixtures/`, which lies beside the directory of specs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub fixture: Option<String>,
    /// A directory, relative to this file or absolute. Used as it is; an absolute path works on one machine only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub path: Option<String>,
    /// The real model on the Hugging Face Hub, `owner/name`; used when `TESTGEN_CHECKPOINTS` says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub hub: Option<String>,
}

/// Changes to the list of checks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Checks {
    /// Checks that are not run. They stay in the list and are reported as ignored, with the reason.
    #[serde(default)]
    pub skip: Vec<Skip>,
    /// Checks that are known to fail. They run; until the date a failure is expected, and a pass is reported as unexpected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub xfail: Vec<Xfail>,
}

/// A check that is not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Skip {
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
    /// Why, in words that the report shows.
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
    /// Why it fails, in words that the report shows.
    pub reason: String,
    /// Who mends it.
    pub owner: String,
    /// The last day on which the failure is expected, `YYYY-MM-DD`; from the next day on it is a failure like any other.
    #[schemars(with = "String", regex(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    pub expires: Date,
}

/// A tolerance of this model's own.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Tolerance {
    /// The output that it is for, for instance `logits`.
    pub output: String,
    /// The precision that it is for.
    #[schemars(schema_with = "schema::precision")]
    pub precision: Precision,
    /// The largest |d| / |ref| over the tensor. Above 0, at most 1.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub rel_l2: f64,
    /// The largest max |d| / max |ref|. Above 0, at most 1.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub max_rel: f64,
    /// Why the table does not fit, in words that the report shows.
    pub reason: String,
}

/// What the model needs of a device's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Memory {
    /// MiB of device memory; on a device with less the checks are ignored, with this as the reason.
    #[schemars(range(min = 1))]
    pub vram_mib: u64,
}

impl Checks {
    /// Whether the spec changes nothing.
    pub fn is_empty(&self) -> bool {
        self.skip.is_empty() && self.xfail.is_empty()
    }
}
