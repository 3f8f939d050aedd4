//! One path through an init function, described by its steps: detect, open, probe, choose, load.

use crate::{
    finding::Diagnostic,
    reader::{BranchOutcome, Callee, CodePath, RecordedCall, Value},
    vocabulary::init_name,
};
use std::rc::Rc;
use testgen_types::DeviceKind;

/// One path through an init function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InitPath<'w, 'a> {
    /// The device that the function is named after.
    pub(crate) device: DeviceKind,
    pub(crate) code_path: &'w CodePath<'a>,
}

/// The functions that detect a device of that kind, in the order in which they must be called.
pub(crate) fn detectors(device: DeviceKind) -> &'static [&'static str] {
    match device {
        DeviceKind::Cpu => &["host_processor"],
        DeviceKind::Cuda => &["cuda_driver"],
        // HIP first, because it is AMD's own interface; an AMD GPU may also be visible through the
        // CUDA compatibility layer alone.
        DeviceKind::Rocm => &["hip_runtime", "cuda_compatibility"],
    }
}

/// The parameter `target`.
pub(crate) const TARGET: Value<'static> = Value::Parameter(0);

/// `target.<name>`.
pub(crate) fn of_target<'a>(name: &str) -> Value<'a> {
    Value::Field(Rc::new(TARGET), name.to_owned())
}

/// The payload of the result of the call at `step` on the side `outcome`.
pub(crate) fn payload<'a>(outcome: BranchOutcome, step: usize) -> Value<'a> {
    Value::Payload(outcome, Rc::new(Value::Called(step)))
}

/// `DeviceKind::<device>`.
pub(crate) fn device_value<'a>(device: DeviceKind) -> Value<'a> {
    Value::Runtime(format!("DeviceKind::{}", device.variant_name()))
}

impl<'w, 'a> InitPath<'w, 'a> {
    /// The function's name.
    pub(crate) fn function(&self) -> String {
        init_name(self.device)
    }

    /// A diagnostic at the end of the path.
    pub(crate) fn diagnostic(
        &self,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::span(self.code_path.end(), message, help)
    }

    /// The calls that detect a device of this kind.
    pub(crate) fn detections(&self) -> Vec<(usize, &'w RecordedCall<'a>)> {
        detectors(self.device)
            .iter()
            .flat_map(|name| self.code_path.runtime(name))
            .collect()
    }

    /// The device that was detected.
    pub(crate) fn found(&self) -> Option<Value<'a>> {
        self.detections()
            .into_iter()
            .find_map(|(step, _)| match self.device {
                // `host_processor` returns the device itself, because a host always has one.
                DeviceKind::Cpu => Some(Value::Called(step)),
                DeviceKind::Cuda | DeviceKind::Rocm => (self.code_path.outcome(step)
                    == Some(BranchOutcome::Ok))
                .then(|| payload(BranchOutcome::Ok, step)),
            })
    }

    /// Whether the device was searched for and is absent.
    pub(crate) fn is_absent(&self) -> bool {
        let detections = self.detections();
        self.device != DeviceKind::Cpu
            && !detections.is_empty()
            && detections
                .iter()
                .all(|(step, _)| self.code_path.outcome(*step) == Some(BranchOutcome::Err))
    }

    /// The calls that open a device.
    pub(crate) fn opens(&self) -> impl Iterator<Item = (usize, &'w RecordedCall<'a>)> {
        self.code_path
            .calls()
            // By the name alone, because the interpreter has no types; `detection_paths` compares
            // the receiver.
            .filter(|(_, call)| call.callee == Callee::Method("open".to_owned()))
    }

    /// The call that opens the device.
    pub(crate) fn open(&self) -> Option<(usize, &'w RecordedCall<'a>)> {
        self.opens().next()
    }

    /// The open device, on paths that opened it.
    pub(crate) fn opened(&self) -> Option<Value<'a>> {
        let (step, _) = self.open()?;
        (self.code_path.outcome(step) == Some(BranchOutcome::Ok))
            .then(|| payload(BranchOutcome::Ok, step))
    }

    /// The call that chooses the precision.
    pub(crate) fn choose(&self) -> Option<(usize, &'w RecordedCall<'a>)> {
        self.code_path
            .calls()
            .find(|(_, call)| call.callee == Callee::Method("choose".to_owned()))
    }

    /// The call that loads the model.
    pub(crate) fn load(&self) -> Option<(usize, &'w RecordedCall<'a>)> {
        self.code_path.runtime("load").next()
    }

    /// The model, on paths that loaded it.
    pub(crate) fn loaded(&self) -> Option<Value<'a>> {
        let (step, _) = self.load()?;
        (self.code_path.outcome(step) == Some(BranchOutcome::Ok))
            .then(|| payload(BranchOutcome::Ok, step))
    }

    /// The first of open, choose and load that failed.
    pub(crate) fn failed(&self) -> Option<(usize, &'w RecordedCall<'a>)> {
        let calls = [self.open(), self.choose(), self.load()];
        calls
            .into_iter()
            .flatten()
            .find(|(step, _)| self.code_path.outcome(*step) == Some(BranchOutcome::Err))
    }
}
