//! The variables of templates, made from a spec. They are names and Rust literals; templates never
//! compute.

use super::{GenerateError, SuiteLayout, subject::SubjectContext};
use crate::{spec::LoadedSpec, template::Templates};
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
    limit_seconds: Option<u64>,
    skips: Vec<SkipContext<'s>>,
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
            limit_seconds: spec.limits.map(|limits| limits.seconds),
            skips: skips(loaded),
        })
    }
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
