//! A single harness, and the verifier's expectation of it.

use super::{
    GenerateError, SuiteLayout,
    context::{HarnessContext, sha256},
    layout::harness_path,
    plan,
    subject::{expected_subject, expected_tolerances},
};
use crate::{spec::LoadedSpec, template::Templates};
use std::collections::BTreeSet;
use testgen_base::cli_error::Error;
use testgen_verify::{Expectation, ExpectedSkip};

/// The harness of one spec.
#[derive(Debug)]
pub struct HarnessExpectation {
    /// Its path in the suite, with `/` between the parts.
    pub path: String,
    /// The expectation that follows from its spec.
    pub expectation: Expectation,
}

impl HarnessExpectation {
    /// The harness of `loaded` in the suite of `layout`.
    ///
    /// # Errors
    ///
    /// When a path cannot be written into a header.
    pub fn new(loaded: &LoadedSpec, layout: &SuiteLayout) -> Result<Self, GenerateError> {
        let spec = &loaded.spec;
        let expectation = Expectation {
            name: spec.name.to_string(),
            architecture: spec.architecture,
            task: spec.task,
            devices: spec.devices.clone(),
            precisions: spec.precisions.clone(),
            subject: expected_subject(loaded, layout)?,
            tolerances: expected_tolerances(&spec.subject),
            vram_mib: spec.memory.map(|memory| memory.vram_mib),
            limit_seconds: spec.limits.map(|limits| limits.seconds),
            skips: skips(loaded),
            spec_path: layout.shown_spec(&loaded.path)?,
            spec_sha256: sha256(loaded.text.as_bytes()),
            command: layout.command(),
            template: Templates::for_architecture(spec.architecture),
        };
        Ok(Self {
            path: harness_path(loaded),
            expectation,
        })
    }

    /// The names of the variables that the template receives.
    ///
    /// # Errors
    ///
    /// As [`HarnessExpectation::new`].
    pub fn variables(
        loaded: &LoadedSpec,
        layout: &SuiteLayout,
    ) -> Result<BTreeSet<String>, GenerateError> {
        let command = layout.command();
        let context = HarnessContext::new(loaded, layout, &command)?;
        // Through JSON, which also has the names of flattened fields.
        let value = serde_json::to_value(context).unwrap_or_default();
        Ok(value
            .as_object()
            .into_iter()
            .flat_map(|object| object.keys().cloned())
            .collect())
    }

    /// The formatted text of the harness of `loaded`.
    ///
    /// # Errors
    ///
    /// When the template cannot be filled in, or the result is not valid Rust.
    pub fn render(
        loaded: &LoadedSpec,
        layout: &SuiteLayout,
        templates: &Templates,
    ) -> Result<String, Error> {
        plan::render_harness(templates, loaded, layout, &layout.command())
    }
}

fn skips(loaded: &LoadedSpec) -> Vec<ExpectedSkip> {
    let skips = loaded.spec.checks.skip.iter().map(|skip| ExpectedSkip {
        check: skip.check,
        device: skip.device,
        precision: skip.precision,
        reason: skip.reason.clone(),
    });
    skips.collect()
}
