//! The requirements of a spec for its harness, and the subset that rules use when the spec is not
//! available.

use crate::{spec::SpecLiteral, subject::ExpectedSubject};
use testgen_types::{Architecture, Check, DeviceKind, Precision, Registration, Task};

/// The requirements of the spec.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// The model's name: the stem of its spec.
    pub name: String,
    /// The architecture, which decides checks and tasks.
    pub architecture: Architecture,
    /// The task, which is part of the handlers' names.
    pub task: Task,
    /// The model with its checkpoint, or the operators.
    pub subject: ExpectedSubject,
    /// The devices of the spec.
    pub devices: Vec<DeviceKind>,
    /// The precisions of the spec.
    pub precisions: Vec<Precision>,
    /// The tolerances of the spec.
    pub tolerances: Vec<ExpectedTolerance>,
    /// The device memory that the model needs, in MiB, if the spec has it.
    pub vram_mib: Option<u64>,
    /// The seconds that a check may take, if the spec has a limit.
    pub limit_seconds: Option<u64>,
    /// The checks that the spec skips.
    pub skips: Vec<ExpectedSkip>,
    /// The spec's path as the header contains it.
    pub spec_path: String,
    /// The SHA-256 of the spec's bytes, 64 lower-case hex digits.
    pub spec_sha256: String,
    /// The command that generates the harness.
    pub command: String,
    /// The template's path as the header contains it.
    pub template: String,
}

/// A tolerance of the spec.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedTolerance {
    /// The output to which it applies.
    pub output: String,
    /// The precision to which it applies.
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
            && self
                .device
                .is_none_or(|device| device == registration.device)
            && self
                .precision
                .is_none_or(|precision| precision == registration.precision)
    }
}

/// The part of the requirements that rules about devices, handlers and checks use: from the spec if
/// it is known, else from `SPEC`.
#[derive(Debug, Clone)]
pub(crate) struct RequiredChecks {
    pub(crate) architecture: Architecture,
    pub(crate) task: Task,
    pub(crate) devices: Vec<DeviceKind>,
    pub(crate) precisions: Vec<Precision>,
}

impl RequiredChecks {
    /// The values of the spec, else the values of `SPEC`, or `None` if neither can be read.
    pub(crate) fn new(
        expectation: Option<&Expectation>,
        spec: Option<&SpecLiteral<'_>>,
    ) -> Option<Self> {
        // The spec comes first: a harness that changed its `SPEC` would otherwise decide which
        // checks it needs.
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
