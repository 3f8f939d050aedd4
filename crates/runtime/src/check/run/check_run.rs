//! One run of a check: its facts and evidence, and the status that its result has.

use super::{
    context::CheckContext,
    measured_memory::replace_peak,
    outcome::{Abort, CheckEvidence, CheckOutcome, CheckResult, CheckStatus},
};
use crate::{
    engine::CheckEngine,
    golden::{Golden, GoldenError},
    harness::{Harness, Spec},
    memory,
    open::OpenDevice,
};
use std::collections::BTreeSet;
use testgen_models::Checkpoint;
use testgen_types::{DeviceKind, Registration};

/// The function of a check.
pub(in crate::check) type CheckFunction = fn(&mut CheckRun<'_>) -> CheckResult;

/// One run of a check.
pub(in crate::check) struct CheckRun<'a> {
    pub(in crate::check) registration: Registration,
    pub(in crate::check) harness: &'a Harness,
    pub(in crate::check) context: &'a CheckContext<'a>,
    pub(in crate::check) evidence: CheckEvidence,
    /// The engine that models are loaded with.
    pub(in crate::check) engine: CheckEngine,
    /// The device of the last endpoint.
    pub(in crate::check) device: Option<OpenDevice>,
    /// Outputs that cannot be decided.
    // The reference's own error is above the largest threshold.
    pub(in crate::check) undecided: BTreeSet<String>,
    /// The feature that the engine does not have for the last endpoint. A failure without wrong
    /// numbers is not the model's then.
    pub(in crate::check) unsupported: Option<String>,
}

impl<'a> CheckRun<'a> {
    /// A run that begins.
    pub(in crate::check) fn new(
        registration: Registration,
        harness: &'a Harness,
        context: &'a CheckContext<'a>,
    ) -> Self {
        let (evidence, engine) = (
            CheckEvidence::default(),
            CheckEngine::new(context.engine.clone()),
        );
        let undecided = BTreeSet::new();
        Self {
            registration,
            harness,
            context,
            evidence,
            engine,
            device: None,
            undecided,
            unsupported: None,
        }
    }

    /// Runs `check`.
    pub(in crate::check) fn outcome(
        &mut self,
        check: impl FnOnce(&mut CheckRun<'_>) -> CheckResult,
    ) -> CheckOutcome {
        let panics = crate::open::device_panics();
        // After what earlier checks still hold, and before anything is loaded.
        memory::begin_peak();
        let result = check(self);
        replace_peak(&mut self.evidence, self.device.as_ref());
        // A panic on the device's own thread does not reach this one: the calls return buffers that
        // were never written. The CPU has no such thread, and panics of checks that run at the same
        // time must not count.
        let is_valid =
            self.registration.device == DeviceKind::Cpu || crate::open::device_panics() == panics;
        let result = if is_valid {
            result
        } else {
            Err(self.invalidated(panics))
        };
        CheckOutcome {
            status: self.status(result),
            evidence: std::mem::take(&mut self.evidence),
        }
    }

    /// The failure of a check during which the device's thread panicked, for the panics after the
    /// first `before`.
    fn invalidated(&mut self, before: u64) -> Abort {
        if let Some(message) = crate::open::out_of_memory(before) {
            // The allocator of this thread's stream must work again for the next check.
            crate::open::recover();
            return Abort::Fail(message);
        }
        self.evidence.panicked = true;
        let messages = crate::open::device_panic_messages(before);
        Abort::Fail(format!(
            "the device's thread panicked, so its results are invalid: {}",
            messages.join("; ")
        ))
    }

    pub(in crate::check) fn status(&self, result: CheckResult) -> CheckStatus {
        // What an engine does not have, or a check cannot do, is not a fault of the device or of the
        // model. Numbers that were wrong before that are, and a panic.
        let correct = !self.evidence.panicked
            && self
                .evidence
                .outputs
                .iter()
                .all(|output| output.headroom >= 1.0);
        let (unsupported, reason) = match result {
            Ok(summary) => return self.decided(summary),
            // Also if the engine lacks a feature: the reason of the check says more.
            Err(Abort::Skip(reason)) if correct => return CheckStatus::Ignored { reason },
            Err(Abort::Skip(reason)) => (None, format!("outputs are wrong, although {reason}")),
            Err(Abort::Unsupported { feature, reason }) => (Some(feature), reason),
            Err(Abort::Fail(reason)) => (self.unsupported.clone(), reason),
        };
        match unsupported.filter(|_| correct) {
            Some(feature) => CheckStatus::Ignored {
                reason: format!("the engine does not support it: {feature}"),
            },
            None => CheckStatus::Fail { reason },
        }
    }
}

impl CheckRun<'_> {
    /// The status of a check without a failure: it passes if every output could be decided.
    fn decided(&self, summary: Option<String>) -> CheckStatus {
        let Some(first) = self.undecided.first() else {
            return CheckStatus::Pass { summary };
        };
        let others = match self.undecided.len() - 1 {
            0 => String::new(),
            count => format!(" and of {count} more"),
        };
        let reason = format!(
            "the reference's own error of `{first}`{others} is above the largest threshold of this precision"
        );
        CheckStatus::Ignored { reason }
    }

    pub(in crate::check) fn spec(&self) -> &'static Spec {
        self.harness.spec
    }

    /// The checkpoint of the model, for checks that operators do not have.
    pub(in crate::check) fn checkpoint(&self) -> &Checkpoint {
        self.context
            .checkpoint
            .as_ref()
            .expect("a check of models has a harness of a model")
    }

    /// The recorded golden of the checkpoint.
    pub(in crate::check) fn golden(&self) -> Result<Golden, GoldenError> {
        Golden::read(self.checkpoint().directory())
    }
}
