//! The variables of templates, made from a spec. They are names and Rust literals; templates never compute.

use super::{GenerateError, Layout};
use crate::{
    spec::{LoadedSpec, OperatorShapes, StressShapes, Subject, Tolerance},
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
    /// Empty for operators.
    model_type: &'static str,
    architecture: &'static str,
    /// The task as functions are named after it.
    task: &'static str,
    /// The task's variant of the enum.
    task_variant: &'static str,
    /// Empty for operators.
    path: String,
    hub: Option<&'s str>,
    /// Empty for a model.
    operators: Vec<OperatorContext<'s>>,
    /// Whether an operator has shapes of the check `stress`.
    stress: bool,
    devices: Vec<&'static str>,
    precisions: Vec<&'static str>,
    tolerances: Vec<ToleranceContext<'s>>,
    vram_mib: Option<u64>,
    skips: Vec<SkipContext<'s>>,
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
    pub(super) fn new(loaded: &'s LoadedSpec, layout: &Layout, command: &'s str) -> Result<Self, GenerateError> {
        let spec = &loaded.spec;
        let (model_type, path, hub, tolerances, operators) = match &spec.subject {
            Subject::Model { model_type, checkpoint, tolerance } => {
                let path = layout.checkpoint(&loaded.path, checkpoint)?;
                let tolerances = tolerances(tolerance);
                (model_type.variant_name(), path, checkpoint.hub.as_deref(), tolerances, Vec::new())
            }
            Subject::Operators { operators, stress } => {
                ("", String::new(), None, Vec::new(), operators.iter().map(|one| operator(one, stress)).collect())
            }
        };
        Ok(Self {
            command,
            spec_path: layout.shown_spec(&loaded.path)?,
            spec_sha256: sha256(loaded.text.as_bytes()),
            template: Templates::of(spec.architecture),
            name: spec.name.as_str(),
            model_type,
            architecture: spec.architecture.variant_name(),
            task: spec.task.as_str(),
            task_variant: spec.task.variant_name(),
            path,
            hub,
            operators,
            stress: !spec.subject.stress().is_empty(),
            devices: spec.devices.iter().map(|device| device.variant_name()).collect(),
            precisions: spec.precisions.iter().map(|precision| precision.variant_name()).collect(),
            tolerances,
            vram_mib: spec.memory.map(|memory| memory.vram_mib),
            skips: skips(loaded),
        })
    }
}

fn operator<'s>(one: &'s OperatorShapes, stress: &'s [StressShapes]) -> OperatorContext<'s> {
    let own = stress.iter().filter(|stress| stress.operator == one.operator);
    let stress = own.map(|stress| StressContext { issue: &stress.issue, shapes: &stress.shapes }).collect();
    OperatorContext { operator: one.operator.variant_name(), shapes: &one.shapes, stress }
}

fn tolerances(tolerances: &[Tolerance]) -> Vec<ToleranceContext<'_>> {
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
    let digits = Sha256::digest(bytes).into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}
