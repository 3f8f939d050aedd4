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
mod subject;
mod synthetic;
mod tree;
mod yaml;

pub use directory::{LoadedSpec, load_all};
pub(crate) use model_name::is_keyword;
pub use model_name::{MAX_NAME_LENGTH, ModelName, NameError};
pub use problem::{SpecErrors, SpecProblem};
pub use reference::reference;
pub use schema::schema;
pub use subject::{
    CheckpointPlace, CheckpointSource, ModelSubject, OperatorSpec, OperatorsSubject, SpecSubject,
    StressSpec, ToleranceSpec,
};
pub use synthetic::{SyntheticConfig, SyntheticProblem, SyntheticSource};
pub use yaml::{SpecFile, read};

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;
use testgen_types::{Architecture, Check, DeviceKind, Precision, Task};

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
    /// Limits of the checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
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

/// The memory that the model needs on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Memory {
    /// MiB of device memory; on a device with less memory the checks are ignored, with this as the
    /// reason.
    #[schemars(range(min = 1))]
    pub vram_mib: u64,
}

/// Limits of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Limits {
    /// Seconds that a check may take on a device. A check that took longer in the earlier report of
    /// `testgen run` is ignored, with that time and this limit as the reason.
    #[schemars(range(min = 1))]
    pub seconds: u64,
}

impl Checks {
    /// Whether the spec contains no changes.
    pub fn is_empty(&self) -> bool {
        self.skip.is_empty() && self.xfail.is_empty()
    }
}
