//! One check at work: the way to an endpoint, the judgement of what it is, and the evidence.

use super::{
    Found,
    outcome::{Evidence, Outcome, Stop, Verdict},
    sequences::TextFacts,
};
use crate::{
    Array, Checkpoint, DeviceRequest, Endpoint, Harness, Model, Spec, Status,
    compare::compare,
    golden::{Golden, GoldenError},
    require::{REQUIRE_VARIABLE, Requirements},
    tolerance::{Threshold, Tolerance},
};
use testgen_contract::{DeviceKind, HardwareRecord, Precision, Registration};
use testgen_device::{Device, DeviceIndex};

/// What a check is made with.
#[derive(Debug, Clone)]
pub(crate) struct Context<'a> {
    /// The checkpoint to load.
    pub(crate) checkpoint: Checkpoint,
    /// The devices that must really run.
    pub(crate) requirements: &'a Requirements,
    /// Which device of the kind.
    pub(crate) index: DeviceIndex,
}

/// One check at work.
pub(super) struct Examination<'a> {
    pub(super) registration: Registration,
    pub(super) harness: &'a Harness,
    pub(super) context: &'a Context<'a>,
    evidence: Evidence,
}

/// An endpoint that is real, on the device and in the precision that were asked for.
pub(super) struct Subject(Endpoint);

impl<'a> Examination<'a> {
    pub(super) fn new(registration: Registration, harness: &'a Harness, context: &'a Context<'a>) -> Self {
        Self { registration, harness, context, evidence: Evidence::default() }
    }

    pub(super) fn spec(&self) -> &'static Spec {
        self.harness.spec
    }

    /// The recorded golden of the checkpoint.
    pub(super) fn golden(&self) -> Result<Golden, GoldenError> {
        Golden::read(self.context.checkpoint.directory())
    }

    /// The endpoint of this check's device and precision.
    pub(super) fn subject(&mut self) -> Result<Subject, Stop> {
        self.subject_in(self.registration.precision)
    }

    /// The endpoint of this check's device, in another precision.
    pub(super) fn subject_in(&mut self, precision: Precision) -> Result<Subject, Stop> {
        let checkpoint = self.context.checkpoint.clone();
        let endpoint = self.endpoint(&checkpoint, precision);
        self.admit(endpoint, precision)
    }

    /// Whatever endpoint the harness gives for a checkpoint; its facts become evidence.
    pub(super) fn endpoint(&mut self, checkpoint: &Checkpoint, precision: Precision) -> Endpoint {
        let request = DeviceRequest { index: self.context.index, precision: Some(precision) };
        let device = self.registration.device;
        let label = format!("{}-{device}", self.spec().name);
        let endpoint = self.harness.init(device)(checkpoint, &request, &label);
        self.note_facts(&endpoint);
        endpoint
    }

    pub(super) fn note_facts(&mut self, endpoint: &Endpoint) {
        let evidence = &mut self.evidence;
        evidence.fallback |= endpoint.status().is_fallback();
        evidence.mock |= endpoint.status().is_mock();
        evidence.memory = evidence.memory.or_else(|| endpoint.memory());
        if let Some(device) = endpoint.device() {
            evidence.device_name = Some(device.name.clone());
            evidence.hardware = Some(hardware(device));
            evidence.simulated |= device.simulated;
            evidence.tf32 |= endpoint.tf32();
        }
    }

    /// Forgets that endpoints were mocks or fallbacks, for a check that loads what must not load.
    pub(super) fn forget_mocks(&mut self) {
        self.evidence.mock = false;
    }

    /// Lets an endpoint in that is what was asked for. A fallback is no failure unless the device is required, and never
    /// more than ignored; a mock is a failure.
    fn admit(&self, endpoint: Endpoint, precision: Precision) -> Result<Subject, Stop> {
        let kind = self.registration.device;
        match endpoint.status() {
            Status::Real => {}
            Status::Fallback { why, .. } => return Err(absent(self.context.requirements, kind, why)),
            Status::Mock { why, .. } => return Err(self.without_model(precision, why)),
        }
        let Some(device) = endpoint.device() else {
            return Err(Stop::Fail("the endpoint names no device".to_owned()));
        };
        self.is_as_asked(device, &endpoint, precision)?;
        Ok(Subject(endpoint))
    }

    fn is_as_asked(&self, device: &Device, endpoint: &Endpoint, precision: Precision) -> Result<(), Stop> {
        let kind = self.registration.device;
        if device.kind != kind {
            let found = device.kind;
            return Err(Stop::Fail(format!("the endpoint runs on {found} (`{}`), not on {kind}", device.name)));
        }
        if let Some(refusal) = self.context.requirements.refuses(device) {
            return Err(Stop::Fail(refusal));
        }
        match endpoint.precision() {
            Some(found) if found == precision => Ok(()),
            found => Err(Stop::Fail(format!("the endpoint computes in {found:?}, asked for was {precision}"))),
        }
    }

    /// A mock on a device that cannot compute in the precision at all is nothing that could be mended here.
    fn without_model(&self, precision: Precision, why: &str) -> Stop {
        let kind = self.registration.device;
        match super::half_probe::unsupported(kind, self.context.index, precision) {
            Some(reason) => Stop::Ignored(format!("{kind}: {reason}")),
            None => Stop::Fail(format!("the endpoint is a mock: {why}")),
        }
    }

    /// The thresholds for `subject`.
    pub(super) fn tolerance<'g>(&self, golden: &'g Golden, subject: &Subject) -> Tolerance<'g> {
        Tolerance::new(&golden.noise, self.spec().tolerances, subject.precision(), subject.endpoint().tf32())
    }

    /// What must be known to make texts for `subject`; for an encoder-decoder those of its decoder.
    pub(super) fn text_facts<'g>(&self, subject: &Subject, golden: &'g Golden) -> TextFacts<'g> {
        self.streams(subject, golden)[0]
    }

    /// The same for every sequence that `subject` reads, the decoder's first; there is at least one.
    pub(super) fn streams<'g>(&self, subject: &Subject, golden: &'g Golden) -> Vec<TextFacts<'g>> {
        TextFacts::streams(self.spec().architecture, subject.model(), golden)
    }

    /// Compares, keeps the result as evidence under `name`, and says what is wrong.
    pub(super) fn compare(
        &mut self,
        name: &str,
        expected: &Array,
        got: &Array,
        threshold: Threshold,
    ) -> Option<String> {
        let comparison = compare(name, expected, got, threshold);
        self.evidence.record(comparison.error);
        comparison.failure.map(|failure| format!("`{name}`: {failure}"))
    }

    /// As [`Self::compare`] for the output `name` of two runs on the same device, in the units of the recorded one.
    pub(super) fn compare_runs(
        &mut self,
        told: &str,
        (golden, name): (&Golden, &str),
        [expected, got]: [&Array; 2],
        tolerance: Tolerance<'_>,
    ) -> Option<String> {
        let recorded = golden.main().outputs.get(name).and_then(Array::as_floats);
        let threshold = match (recorded, expected.as_floats()) {
            (Some(recorded), Some(expected)) => tolerance.metamorphic(name).in_units_of(recorded, expected),
            _ => tolerance.metamorphic(name),
        };
        self.compare(told, expected, got, threshold)
    }

    pub(super) fn into_outcome(self, found: Found) -> Outcome {
        let verdict = match found {
            Ok(note) => Verdict::Pass { note },
            Err(Stop::Fail(reason)) => Verdict::Fail { reason },
            Err(Stop::Ignored(reason)) => Verdict::Ignored { reason },
        };
        Outcome { verdict, evidence: self.evidence }
    }
}

/// What a report tells of a device beyond its name.
fn hardware(device: &Device) -> HardwareRecord {
    HardwareRecord {
        architecture: device.architecture.clone(),
        path: Some(device.path.to_string()),
        driver_version: device.driver_version.clone(),
        runtime_version: device.runtime_version.clone(),
    }
}

/// An absent device: ignored, unless it is required.
pub(super) fn absent(requirements: &Requirements, kind: DeviceKind, why: &str) -> Stop {
    match requirements.on(kind) {
        Some(requirement) => Stop::Fail(format!("{REQUIRE_VARIABLE}={requirement}, but {why}")),
        None => Stop::Ignored(why.to_owned()),
    }
}

impl Subject {
    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.0
    }

    pub(super) fn model(&self) -> &Model {
        self.0.model().expect("an endpoint was admitted because it is real, and a real one has a model")
    }

    pub(super) fn precision(&self) -> Precision {
        self.model().precision()
    }
}
