//! One run of a check: it loads the model under test, confirms that the endpoint is what was requested, and collects the
//! evidence for the report.

use super::{
    context::CheckContext,
    hardware::hardware,
    measured_memory::{add_estimate, replace_peak},
    needed_feature,
    outcome::{Abort, CheckEvidence, CheckOutcome, CheckResult, CheckStatus},
    padding::defined,
    sequences::TextFacts,
};
use crate::{
    compare::compare,
    detect::detect,
    endpoint::{Endpoint, Status},
    engine::CheckEngine,
    golden::{Golden, GoldenError},
    harness::{Harness, Spec},
    kernels,
    label::Label,
    load_target::LoadTarget,
    loaded_subject::LoadedSubject,
    memory,
    open::{OpenDevice, open_with},
    probe::{PrecisionProbe, probe_half_precision},
    require::{REQUIRE_VARIABLE, RequiredDevices},
    tolerance::{Threshold, Tolerance},
};
use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};
use testgen_device::Device;
use testgen_models::{Checkpoint, Model};
use testgen_nn::array::{Array, Arrays};
use testgen_types::{DeviceKind, Precision, Registration, panic_text};

/// The function of a check.
pub(super) type CheckFunction = fn(&mut CheckRun<'_>) -> CheckResult;

/// Runs `check` with an engine of its own. A panic is a failure with its message.
pub(super) fn execute(
    check: CheckFunction,
    registration: Registration,
    harness: &Harness,
    context: &CheckContext<'_>,
) -> CheckOutcome {
    // Kernels that an earlier check launched on this thread are not this check's.
    drop(kernels::take_fingerprint());
    let mut run = CheckRun::new(registration, harness, context);
    let work = AssertUnwindSafe(|| run.outcome(check));
    let CheckOutcome { status, evidence } = catch_unwind(work).unwrap_or_else(|payload| {
        let reason = format!("the check panicked: {}", panic_text(payload.as_ref()));
        CheckOutcome { status: CheckStatus::Fail { reason }, evidence: CheckEvidence::default() }
    });
    let (kernels, engine) = (kernels::take_fingerprint(), run.engine.finish());
    CheckOutcome { status, evidence: CheckEvidence { kernels, engine, ..evidence } }
}

/// The failure of a check during which the device's thread panicked, for the panics after the first `before`.
fn invalidated(before: u64) -> String {
    if let Some(message) = crate::open::out_of_memory(before) {
        crate::open::recover();
        return message;
    }
    let messages = crate::open::device_panic_messages(before);
    format!("the device's thread panicked, so its results are invalid: {}", messages.join("; "))
}

/// One run of a check.
pub(super) struct CheckRun<'a> {
    pub(super) registration: Registration,
    pub(super) harness: &'a Harness,
    pub(super) context: &'a CheckContext<'a>,
    pub(super) evidence: CheckEvidence,
    /// The engine that models are loaded with.
    pub(super) engine: CheckEngine,
    /// The device of the last endpoint.
    pub(super) device: Option<OpenDevice>,
    /// Outputs that cannot be decided, because the reference's own error is above the largest threshold.
    pub(super) undecided: BTreeSet<String>,
    /// The feature that the engine does not have for the last endpoint. A failure without wrong numbers is not the model's then.
    pub(super) unsupported: Option<String>,
}

/// A real endpoint on the requested device, in the requested precision: of a model, or of operators.
pub(super) struct SubjectUnderTest(Endpoint);

/// An output in the golden. Its scale and its noise set the threshold where two runs of the device are compared.
#[derive(Clone, Copy)]
pub(super) struct RecordedOutput<'a> {
    pub(super) golden: &'a Golden,
    pub(super) name: &'a str,
    pub(super) tolerance: Tolerance<'a>,
}

impl<'a> CheckRun<'a> {
    /// A run that begins.
    pub(super) fn new(registration: Registration, harness: &'a Harness, context: &'a CheckContext<'a>) -> Self {
        let (evidence, engine) = (CheckEvidence::default(), CheckEngine::new(context.engine.clone()));
        let undecided = BTreeSet::new();
        Self { registration, harness, context, evidence, engine, device: None, undecided, unsupported: None }
    }

    /// Runs `check`.
    pub(super) fn outcome(&mut self, check: CheckFunction) -> CheckOutcome {
        let panics = crate::open::device_panics();
        memory::begin_peak();
        let result = check(self);
        replace_peak(&mut self.evidence, self.device.as_ref());
        // A panic on the device's own thread does not reach this one: the calls return buffers that were never written. The CPU
        // has no such thread, and panics of checks that run at the same time must not count.
        let is_valid = self.registration.device == DeviceKind::Cpu || crate::open::device_panics() == panics;
        let result = if is_valid { result } else { Err(Abort::Fail(invalidated(panics))) };
        CheckOutcome { status: self.status(result), evidence: std::mem::take(&mut self.evidence) }
    }

    pub(super) fn status(&self, result: CheckResult) -> CheckStatus {
        let (unsupported, reason) = match result {
            Ok(summary) => return self.decided(summary),
            Err(Abort::Skip(reason)) => return CheckStatus::Ignored { reason },
            Err(Abort::Unsupported { feature, reason }) => (Some(feature), reason),
            Err(Abort::Fail(reason)) => (self.unsupported.clone(), reason),
        };
        // What an engine does not have is not a fault of the device or of the model. Numbers that were wrong before that are.
        let correct = self.evidence.outputs.iter().all(|output| output.headroom >= 1.0);
        match unsupported.filter(|_| correct) {
            Some(feature) => CheckStatus::Ignored { reason: format!("the engine does not support it: {feature}") },
            None => CheckStatus::Fail { reason },
        }
    }
}

impl CheckRun<'_> {
    /// The status of a check without a failure: it passes if every output could be decided.
    fn decided(&self, summary: Option<String>) -> CheckStatus {
        let Some(first) = self.undecided.first() else { return CheckStatus::Pass { summary } };
        let others = match self.undecided.len() - 1 {
            0 => String::new(),
            count => format!(" and of {count} more"),
        };
        let reason =
            format!("the reference's own error of `{first}`{others} is above the largest threshold of this precision");
        CheckStatus::Ignored { reason }
    }

    pub(super) fn spec(&self) -> &'static Spec {
        self.harness.spec
    }

    /// The checkpoint of the model, for checks that operators do not have.
    pub(super) fn checkpoint(&self) -> &Checkpoint {
        self.context.checkpoint.as_ref().expect("a check of models has a harness of a model")
    }

    /// The recorded golden of the checkpoint.
    pub(super) fn golden(&self) -> Result<Golden, GoldenError> {
        Golden::read(self.checkpoint().directory())
    }

    /// Loads the model on this check's device, in its precision.
    pub(super) fn subject_under_test(&mut self) -> Result<SubjectUnderTest, Abort> {
        self.subject_under_test_in(self.registration.precision)
    }

    /// Loads the model on this check's device, in another precision.
    pub(super) fn subject_under_test_in(&mut self, precision: Precision) -> Result<SubjectUnderTest, Abort> {
        let endpoint = self.endpoint(self.context.checkpoint.as_ref(), precision);
        self.accept(endpoint, precision)
    }

    /// The endpoint that the harness returns for `checkpoint`, whatever its status, with its facts added to the evidence.
    pub(super) fn endpoint(&mut self, checkpoint: Option<&Checkpoint>, precision: Precision) -> Endpoint {
        let device = self.registration.device;
        // Through the harness and not by the runtime's own functions, so that every check also covers what the harness
        // does.
        let endpoint = self.harness.init(device)(&LoadTarget {
            checkpoint: checkpoint.cloned(),
            index: self.context.index,
            // Without it the harness would select a precision, perhaps another one than the check's name says.
            precision: Some(precision),
            label: Label::new(self.spec().name, device),
            engine: self.engine.clone(),
        });
        self.collect_evidence(&endpoint);
        if let Some(checkpoint) = checkpoint {
            add_estimate(&mut self.evidence, checkpoint, precision);
        }
        endpoint
    }

    /// Probes `precision` on the device of this check, without the harness; none where it is not probed, as f32, and where the device
    /// cannot be opened.
    pub(super) fn probe(&self, precision: Precision) -> Option<PrecisionProbe> {
        let device = detect(self.registration.device, self.context.index, &self.context.engine).ok()?;
        probe_half_precision(&open_with(&self.engine, device).ok()?).of(precision)
    }

    /// Adds the facts of `endpoint` to the evidence.
    pub(super) fn collect_evidence(&mut self, endpoint: &Endpoint) {
        self.unsupported = endpoint.unsupported.clone();
        let evidence = &mut self.evidence;
        evidence.fallback |= endpoint.status().is_fallback();
        evidence.mock |= endpoint.status().is_mock();
        // Later loads start with caches already filled, so only the first shows what the model needs.
        evidence.memory = evidence.memory.or_else(|| endpoint.memory());
        self.device = endpoint.open_device().cloned().or_else(|| self.device.take());
        if let Some(device) = endpoint.device() {
            evidence.device_name = Some(device.name.clone());
            evidence.hardware = Some(hardware(device));
            evidence.simulated |= device.simulated;
            evidence.tf32 |= endpoint.tf32();
        }
    }

    /// Removes the mark of mocks from the evidence, for a check that also loads checkpoints which must not load.
    pub(super) fn forget_mocks(&mut self) {
        self.evidence.mock = false;
    }

    /// Accepts an endpoint that is real and as requested.
    ///
    /// A fallback is ignored unless the device is required: it says nothing about the device. A mock fails, because the
    /// device is present and the model did not load.
    fn accept(&self, endpoint: Endpoint, precision: Precision) -> Result<SubjectUnderTest, Abort> {
        let kind = self.registration.device;
        match endpoint.status() {
            Status::Real => {}
            Status::Fallback { why, .. } => return Err(absent_device(self.context.requirements, kind, why)),
            Status::Mock { why, .. } => return Err(self.mock_abort(precision, why)),
        }
        let Some(device) = endpoint.device() else {
            return Err(Abort::Fail("the endpoint names no device".to_owned()));
        };
        // `Real` is what the harness reports about itself; its init function may still have opened something else.
        self.confirm_request(device, &endpoint, precision)?;
        needed_feature::confirm(self.registration.check, endpoint.loaded())?;
        Ok(SubjectUnderTest(endpoint))
    }

    fn confirm_request(&self, device: &Device, endpoint: &Endpoint, precision: Precision) -> Result<(), Abort> {
        let kind = self.registration.device;
        if device.kind != kind {
            let found = device.kind;
            return Err(Abort::Fail(format!("the endpoint runs on {found} (`{}`), not on {kind}", device.name)));
        }
        if let Some(name) = self.engine.process_name()
            && endpoint.open_device().is_some_and(|device| device.process().is_none())
        {
            return Err(Abort::Fail(format!("the harness opened {} without the engine `{name}`", device.label())));
        }
        if let Some(refusal) = self.context.requirements.refuses(device) {
            return Err(Abort::Fail(refusal));
        }
        match endpoint.precision() {
            Some(found) if found == precision => Ok(()),
            Some(found) => Err(Abort::Fail(format!("the endpoint computes in {found}, but {precision} was requested"))),
            None => Err(Abort::Fail(format!("the endpoint names no precision, but {precision} was requested"))),
        }
    }

    /// Skips a precision that the hardware lacks; any other mock is a failure, also of a device that computes the precision wrongly.
    fn mock_abort(&self, precision: Precision, why: &str) -> Abort {
        let kind = self.registration.device;
        match self.probe(precision).filter(|probe| probe.support.is_absent()) {
            Some(probe) => Abort::Skip(format!("{kind}: {probe}")),
            None => Abort::Fail(format!("the endpoint is a mock: {why}")),
        }
    }

    /// The thresholds for `tested`.
    pub(super) fn tolerance<'g>(&self, golden: &'g Golden, tested: &SubjectUnderTest) -> Tolerance<'g> {
        Tolerance::new(&golden.noise, self.spec().tolerances, tested.precision(), tested.endpoint().tf32())
    }

    /// The facts needed to make token ids for `tested`; for an encoder-decoder those of its decoder.
    pub(super) fn text_facts<'g>(&self, tested: &SubjectUnderTest, golden: &'g Golden) -> TextFacts<'g> {
        self.streams(tested, golden)[0]
    }

    /// The facts of every token sequence that `tested` reads, at least one, the decoder's first.
    pub(super) fn streams<'g>(&self, tested: &SubjectUnderTest, golden: &'g Golden) -> Vec<TextFacts<'g>> {
        TextFacts::streams(self.spec().architecture, tested.model(), golden)
    }

    /// Compares two arrays, adds the error to the evidence as `name`, and returns the failure.
    pub(super) fn compare(
        &mut self,
        name: &str,
        expected: &Array,
        got: &Array,
        threshold: Threshold,
    ) -> Option<String> {
        let comparison = compare(name, expected, got, threshold);
        self.evidence.add(comparison.error);
        comparison.failure.map(|failure| format!("`{name}`: {failure}"))
    }

    /// Like [`Self::compare`], for the recorded output `name` of a call with `inputs`: of an engine, at the positions that [`defined`]
    /// leaves. `label` names the comparison.
    pub(super) fn compare_recorded(
        &mut self,
        label: &str,
        inputs: &Arrays,
        [expected, got]: [&Array; 2],
        (tolerance, name): (Tolerance<'_>, &str),
    ) -> Option<String> {
        let threshold = tolerance.golden(name);
        let comparison = match defined(&self.engine, inputs, expected, got) {
            Some([expected, got]) => compare(label, &expected, &got, threshold),
            None => compare(label, expected, got, threshold),
        };
        if comparison.failure.is_some() && tolerance.leaves_open(name, &comparison.error) {
            self.undecided.insert(name.to_owned());
            return None;
        }
        self.evidence.add(comparison.error);
        comparison.failure.map(|failure| format!("`{label}`: {failure}"))
    }

    /// Like [`Self::compare`], for two runs on the same device. `label` names the comparison.
    pub(super) fn compare_runs(
        &mut self,
        label: &str,
        output: RecordedOutput<'_>,
        expected: &Array,
        got: &Array,
    ) -> Option<String> {
        let RecordedOutput { golden, name, tolerance } = output;
        let recorded = golden.main().outputs.get(name).and_then(Array::as_floats);
        let threshold = match (recorded, expected.as_floats()) {
            (Some(recorded), Some(expected)) => tolerance.metamorphic(name).in_units_of(recorded, expected),
            _ => tolerance.metamorphic(name),
        };
        self.compare(label, expected, got, threshold)
    }
}

/// The end of a check whose device is absent: ignored, or failed if the device is required.
pub(super) fn absent_device(requirements: &RequiredDevices, kind: DeviceKind, why: &str) -> Abort {
    match requirements.on(kind) {
        Some(requirement) => Abort::Fail(format!("{REQUIRE_VARIABLE}={requirement}, but {why}")),
        None => Abort::Skip(why.to_owned()),
    }
}

impl SubjectUnderTest {
    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.0
    }

    pub(super) fn loaded(&self) -> &LoadedSubject {
        self.0.loaded().expect("a real endpoint has loaded its subject, and only real endpoints are accepted")
    }

    /// The model, for checks that operators do not have.
    pub(super) fn model(&self) -> &Model {
        self.loaded().model().expect("a check of models has a harness of a model")
    }

    pub(super) fn precision(&self) -> Precision {
        self.loaded().precision()
    }
}
