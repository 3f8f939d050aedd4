//! The variables of templates, made from a spec. They are names and Rust literals; templates never
//! compute.

use super::{GenerateError, SuiteLayout};
use crate::{
    spec::{LoadedSpec, OperatorSpec, SpecSubject, StressSpec, ToleranceSpec},
    template::Templates,
};
use serde::Serialize;
use sha2::{Digest, Sha256};
use testgen_types::{DeviceKind, Precision};

/// The variables of an architecture's template.
#[derive(Debug, Serialize)]
pub(super) struct HarnessContext<'s> {
    command: &'s str,
    spec_path: String,
    spec_sha256: String,
    pub(super) template: String,
    name: &'s str,
    architecture: &'static str,
    /// The task as functions are named after it.
    task: &'static str,
    /// The task's variant of the enum.
    task_variant: &'static str,
    /// The subject, as documentation calls it.
    noun: &'static str,
    #[serde(flatten)]
    subject: SubjectContext<'s>,
    devices: Vec<&'static str>,
    precisions: Vec<&'static str>,
    vram_mib: Option<u64>,
    skips: Vec<SkipContext<'s>>,
}

/// The variables that only the templates of one kind of subject receive.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum SubjectContext<'s> {
    Model {
        model_type: &'static str,
        path: String,
        hub: Option<&'s str>,
        tolerances: Vec<ToleranceContext<'s>>,
    },
    Operators {
        operators: Vec<OperatorContext<'s>>,
        /// Whether an operator has shapes of the check `stress`.
        stress: bool,
    },
}

/// An operator with its shapes.
#[derive(Debug, Serialize)]
struct OperatorContext<'s> {
    operator: &'static str,
    shapes: &'s [Vec<u64>],
    stress: Vec<StressContext<'s>>,
}

/// Shapes of the check `stress` with their issue.
#[derive(Debug, Serialize)]
struct StressContext<'s> {
    issue: &'s str,
    shapes: &'s [Vec<u64>],
}

/// A tolerance, with its numbers as Rust literals.
#[derive(Debug, Serialize)]
struct ToleranceContext<'s> {
    output: &'s str,
    precision: &'static str,
    rel_l2: String,
    max_rel: String,
    reason: &'s str,
}

/// A skipped check; without a device or a precision, it is skipped on all of them.
#[derive(Debug, Serialize)]
struct SkipContext<'s> {
    check: &'static str,
    device: Option<&'static str>,
    precision: Option<&'static str>,
    reason: &'s str,
}

impl<'s> HarnessContext<'s> {
    pub(super) fn new(
        loaded: &'s LoadedSpec,
        layout: &SuiteLayout,
        command: &'s str,
    ) -> Result<Self, GenerateError> {
        let spec = &loaded.spec;
        Ok(Self {
            command,
            spec_path: layout.shown_spec(&loaded.path)?,
            spec_sha256: sha256(loaded.text.as_bytes()),
            template: Templates::for_architecture(spec.architecture),
            name: spec.name.as_str(),
            architecture: spec.architecture.variant_name(),
            task: spec.task.as_str(),
            task_variant: spec.task.variant_name(),
            noun: spec.architecture.subject().as_str(),
            subject: SubjectContext::new(loaded, layout)?,
            devices: spec
                .devices
                .iter()
                .map(|device| device.variant_name())
                .collect(),
            precisions: spec
                .precisions
                .iter()
                .map(|precision| precision.variant_name())
                .collect(),
            vram_mib: spec.memory.map(|memory| memory.vram_mib),
            skips: skips(loaded),
        })
    }
}

impl<'s> SubjectContext<'s> {
    fn new(loaded: &'s LoadedSpec, layout: &SuiteLayout) -> Result<Self, GenerateError> {
        Ok(match &loaded.spec.subject {
            SpecSubject::Model {
                model_type,
                checkpoint,
                tolerance,
            } => Self::Model {
                model_type: model_type.variant_name(),
                path: layout.checkpoint(&loaded.path, checkpoint)?,
                hub: checkpoint.hub.as_deref(),
                tolerances: tolerances(tolerance),
            },
            SpecSubject::Operators { operators, stress } => Self::Operators {
                operators: operators.iter().map(|one| operator(one, stress)).collect(),
                stress: !stress.is_empty(),
            },
        })
    }
}

fn operator<'s>(one: &'s OperatorSpec, stress: &'s [StressSpec]) -> OperatorContext<'s> {
    let own = stress
        .iter()
        .filter(|stress| stress.operator == one.operator);
    let stress = own
        .map(|stress| StressContext {
            issue: &stress.issue,
            shapes: &stress.shapes,
        })
        .collect();
    OperatorContext {
        operator: one.operator.variant_name(),
        shapes: &one.shapes,
        stress,
    }
}

fn tolerances(tolerances: &[ToleranceSpec]) -> Vec<ToleranceContext<'_>> {
    tolerances
        .iter()
        .map(|tolerance| ToleranceContext {
            output: &tolerance.output,
            precision: tolerance.precision.variant_name(),
            // `Debug`, because `Display` writes 1.0 as `1`, which is not a float in Rust.
            rel_l2: format!("{:?}", tolerance.rel_l2),
            max_rel: format!("{:?}", tolerance.max_rel),
            reason: &tolerance.reason,
        })
        .collect()
}

fn skips(loaded: &LoadedSpec) -> Vec<SkipContext<'_>> {
    let skips = loaded.spec.checks.skip.iter().map(|skip| SkipContext {
        check: skip.check.variant_name(),
        device: skip.device.map(DeviceKind::variant_name),
        precision: skip.precision.map(Precision::variant_name),
        reason: &skip.reason,
    });
    skips.collect()
}

/// 64 lower-case hex digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let digits = Sha256::digest(bytes)
        .into_iter()
        .flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}
