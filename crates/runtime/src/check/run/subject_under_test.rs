//! Loading the subject of a check, and accepting it only as it was requested.

use super::{
    super::inputs::text_facts::TextFacts, check_run::CheckRun, hardware::hardware,
    measured_memory::add_estimate, needed_feature, outcome::Abort,
};
use crate::{
    detect::detect,
    endpoint::{Endpoint, Status},
    golden::Golden,
    label::Label,
    load_target::LoadTarget,
    open::open_with,
    probe::{PrecisionProbe, probe_half_precision},
    require::{REQUIRE_VARIABLE, RequiredDevices},
    subject::LoadedSubject,
};
use testgen_device::Device;
use testgen_models::{Checkpoint, Model};
use testgen_types::{DeviceKind, Precision};

/// A real endpoint on the requested device, in the requested precision: of a model, or of
/// operators.
pub(in crate::check) struct SubjectUnderTest(Endpoint);

impl SubjectUnderTest {
    pub(in crate::check) fn endpoint(&self) -> &Endpoint {
        &self.0
    }

    pub(in crate::check) fn loaded(&self) -> &LoadedSubject {
        self.0
            .loaded()
            .expect("a real endpoint has loaded its subject, and only real endpoints are accepted")
    }

    /// The model, for checks that operators do not have.
    pub(in crate::check) fn model(&self) -> &Model {
        self.loaded()
            .model()
            .expect("a check of models has a harness of a model")
    }

    pub(in crate::check) fn precision(&self) -> Precision {
        self.loaded().precision()
    }
}

impl CheckRun<'_> {
    /// Loads the model on this check's device, in its precision.
    pub(in crate::check) fn subject_under_test(&mut self) -> Result<SubjectUnderTest, Abort> {
        self.subject_under_test_in(self.registration.precision)
    }

    /// Loads the model on this check's device, in another precision.
    pub(in crate::check) fn subject_under_test_in(
        &mut self,
        precision: Precision,
    ) -> Result<SubjectUnderTest, Abort> {
        let endpoint = self.endpoint(self.context.checkpoint.as_ref(), precision);
        self.accept(endpoint, precision)
    }

    /// The endpoint that the harness returns for `checkpoint`, whatever its status, with its facts
    /// added to the evidence.
    pub(in crate::check) fn endpoint(
        &mut self,
        checkpoint: Option<&Checkpoint>,
        precision: Precision,
    ) -> Endpoint {
        let device = self.registration.device;
        // Through the harness and not by the runtime's own functions, so that every check also
        // covers what the harness does.
        let endpoint = self.harness.init(device)(&LoadTarget {
            checkpoint: checkpoint.cloned(),
            index: self.context.index,
            // Without it the harness would select a precision, perhaps another one than the check's
            // name says.
            precision: Some(precision),
            label: Label::new(self.spec().name, device),
            engine: self.engine.clone(),
        });
        self.collect_evidence(&endpoint);
        if let Some(checkpoint) = checkpoint {
            add_estimate(&mut self.evidence, checkpoint, (device, precision));
        }
        endpoint
    }

    /// Probes `precision` on the device of this check, without the harness, or `None` if it is not
    /// probed, as f32, and if the device cannot be opened.
    pub(in crate::check) fn probe(&self, precision: Precision) -> Option<PrecisionProbe> {
        let device = detect(
            self.registration.device,
            self.context.index,
            &self.context.engine,
        )
        .ok()?;
        probe_half_precision(&open_with(&self.engine, device).ok()?).for_precision(precision)
    }

    /// Adds the facts of `endpoint` to the evidence.
    pub(in crate::check) fn collect_evidence(&mut self, endpoint: &Endpoint) {
        // Also by `None`: a feature that an earlier endpoint lacked says nothing about this one.
        self.unsupported = endpoint.unsupported.clone();
        let evidence = &mut self.evidence;
        evidence.fallback |= endpoint.status().is_fallback();
        evidence.mock |= endpoint.status().is_mock();
        // Later loads start with caches already filled, so only the first shows what the model
        // needs.
        evidence.memory = evidence.memory.or_else(|| endpoint.memory());
        // A mock has no device; the peak of memory is then read from the last device that there
        // was.
        self.device = endpoint
            .open_device()
            .cloned()
            .or_else(|| self.device.take());
        if let Some(device) = endpoint.device() {
            evidence.device_name = Some(device.name.clone());
            evidence.hardware = Some(hardware(device));
            evidence.simulated |= device.simulated;
            evidence.tf32 |= endpoint.tf32();
        }
    }

    /// Removes the mark of mocks from the evidence, for a check that also loads checkpoints which
    /// must not load.
    pub(in crate::check) fn forget_mocks(&mut self) {
        self.evidence.mock = false;
    }

    /// The facts needed to make token ids for `tested`; for an encoder-decoder the facts of its
    /// decoder.
    pub(in crate::check) fn text_facts<'g>(
        &self,
        tested: &SubjectUnderTest,
        golden: &'g Golden,
    ) -> TextFacts<'g> {
        self.streams(tested, golden)[0]
    }

    /// The facts of every token sequence that `tested` reads, at least one, the decoder's first.
    pub(in crate::check) fn streams<'g>(
        &self,
        tested: &SubjectUnderTest,
        golden: &'g Golden,
    ) -> Vec<TextFacts<'g>> {
        TextFacts::streams(self.spec().architecture, tested.model(), golden)
    }

    /// Accepts an endpoint that is real and as requested.
    ///
    /// A fallback is ignored unless the device is required: it says nothing about the device. A
    /// mock fails, because the device is present and the model did not load.
    fn accept(&self, endpoint: Endpoint, precision: Precision) -> Result<SubjectUnderTest, Abort> {
        let kind = self.registration.device;
        match endpoint.status() {
            Status::Real => {}
            Status::Fallback { why, .. } => {
                return Err(absent_device(self.context.requirements, kind, why));
            }
            Status::Mock { why, .. } => return Err(self.mock_abort(precision, why)),
        }
        let Some(device) = endpoint.device() else {
            return Err(Abort::Fail("the endpoint names no device".to_owned()));
        };
        // `Real` is what the harness reports about itself; its init function may still have opened
        // something else.
        self.confirm_request(device, &endpoint, precision)?;
        needed_feature::confirm(self.registration.check, endpoint.loaded())?;
        Ok(SubjectUnderTest(endpoint))
    }

    fn confirm_request(
        &self,
        device: &Device,
        endpoint: &Endpoint,
        precision: Precision,
    ) -> Result<(), Abort> {
        let kind = self.registration.device;
        if device.kind != kind {
            let found = device.kind;
            return Err(Abort::Fail(format!(
                "the endpoint runs on {found} (`{}`), not on {kind}",
                device.name
            )));
        }
        if let Some(name) = self.engine.process_name()
            && endpoint
                .open_device()
                .is_some_and(|device| device.process().is_none())
        {
            return Err(Abort::Fail(format!(
                "the harness opened {} without the engine `{name}`",
                device.label()
            )));
        }
        if let Some(refusal) = self.context.requirements.refuses(device) {
            return Err(Abort::Fail(refusal));
        }
        match endpoint.precision() {
            Some(found) if found == precision => Ok(()),
            Some(found) => Err(Abort::Fail(format!(
                "the endpoint computes in {found}, but {precision} was requested"
            ))),
            None => Err(Abort::Fail(format!(
                "the endpoint names no precision, but {precision} was requested"
            ))),
        }
    }

    /// Skips a precision that the hardware lacks; any other mock is a failure, also of a device
    /// that computes the precision wrongly.
    fn mock_abort(&self, precision: Precision, why: &str) -> Abort {
        let kind = self.registration.device;
        // Measured here: the reason of a mock is a text, and does not prove that the hardware lacks
        // it.
        match self
            .probe(precision)
            .filter(|probe| probe.support.is_absent())
        {
            Some(probe) => Abort::Skip(format!("{kind}: {probe}")),
            None => Abort::Fail(format!("the endpoint is a mock: {why}")),
        }
    }
}

/// The end of a check whose device is absent: ignored, or failed if the device is required.
pub(in crate::check) fn absent_device(
    requirements: &RequiredDevices,
    kind: DeviceKind,
    why: &str,
) -> Abort {
    match requirements.on(kind) {
        Some(requirement) => Abort::Fail(format!("{REQUIRE_VARIABLE}={requirement}, but {why}")),
        None => Abort::Skip(why.to_owned()),
    }
}
