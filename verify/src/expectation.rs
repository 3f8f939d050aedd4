//! What a spec demands of its harness, and the part of it that rules need when the spec is not at hand.

use crate::spec::SpecLiteral;
use testgen_types::{Architecture, Check, DeviceKind, ModelType, Precision, Registration, Task};

/// What the spec demands of a harness.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// The model's name: the stem of its spec.
    pub name: String,
    /// The family whose checks and tasks apply.
    pub architecture: Architecture,
    /// The task that names the handlers.
    pub task: Task,
    /// The `model_type` of `config.json`.
    pub model_type: ModelType,
    /// The devices of the spec.
    pub devices: Vec<DeviceKind>,
    /// The precisions of the spec.
    pub precisions: Vec<Precision>,
    /// Where the checkpoint lies, as the harness names it.
    pub checkpoint: String,
    /// The checkpoint's name on the hub, where the spec has one.
    pub hub: Option<String>,
    /// The tolerances of the spec's own.
    pub tolerances: Vec<ExpectedTolerance>,
    /// The device memory that the model needs, in MiB, where the spec says so.
    pub vram_mib: Option<u64>,
    /// The checks that the spec skips.
    pub skips: Vec<ExpectedSkip>,
    /// The spec's path as the header gives it.
    pub spec_path: String,
    /// The SHA-256 of the spec's bytes, 64 lower-case hex digits.
    pub spec_sha256: String,
    /// The command that writes the harness again.
    pub command: String,
    /// The template's path as the header gives it.
    pub template: String,
}

/// A tolerance of the spec's own.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedTolerance {
    /// The output that it is for.
    pub output: String,
    /// The precision that it is for.
    pub precision: Precision,
    /// The largest error relative to the norm.
    pub rel_l2: f64,
    /// The largest error of an element relative to the largest element.
    pub max_rel: f64,
    /// Why the table does not fit.
    pub reason: String,
}

/// A check that the spec skips; without a device or a precision, on all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedSkip {
    /// The check.
    pub check: Check,
    /// The only device on which it is skipped.
    pub device: Option<DeviceKind>,
    /// The only precision in which it is skipped.
    pub precision: Option<Precision>,
    /// The reason.
    pub reason: String,
}

impl ExpectedSkip {
    /// Whether it applies to a check.
    pub fn applies_to(&self, registration: &Registration) -> bool {
        self.check == registration.check
            && self.device.is_none_or(|device| device == registration.device)
            && self.precision.is_none_or(|precision| precision == registration.precision)
    }
}

/// What the rules about devices, handlers and checks go by: the spec where it is known, else the harness's own `SPEC`.
#[derive(Debug, Clone)]
pub(crate) struct Demand {
    pub(crate) architecture: Architecture,
    pub(crate) task: Task,
    pub(crate) devices: Vec<DeviceKind>,
    pub(crate) precisions: Vec<Precision>,
}

impl Demand {
    /// The spec's demand, or what `SPEC` says of itself; none when neither can be read.
    pub(crate) fn new(expectation: Option<&Expectation>, spec: Option<&SpecLiteral<'_>>) -> Option<Self> {
        if let Some(expectation) = expectation {
            return Some(Self {
                architecture: expectation.architecture,
                task: expectation.task,
                devices: expectation.devices.clone(),
                precisions: expectation.precisions.clone(),
            });
        }
        let spec = spec?;
        Some(Self {
            architecture: spec.architecture?,
            task: spec.task?,
            devices: spec.devices.clone()?,
            precisions: spec.precisions.clone()?,
        })
    }
}
