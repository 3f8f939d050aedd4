//! The declarations of a generated module: its spec, an init function for each kind of device, its
//! request, and its skips.

use crate::{
    endpoint::Endpoint,
    load_target::LoadTarget,
    recorded_request::{RecordedRequest, RequestError},
    skip::Skip,
    subject::Subject,
    task::Request,
};
use testgen_types::{
    Architecture, DeviceKind, Precision, Registration, Task, engine_checks, required_checks,
};

/// The model or the operators under test, as the YAML spec describes them.
#[derive(Debug)]
pub struct Spec {
    /// The stem of the spec's file.
    pub name: &'static str,
    /// The model with its checkpoint, or the operators.
    pub subject: Subject,
    /// The family.
    pub architecture: Architecture,
    /// The task of the handlers.
    pub task: Task,
    /// The devices that the harness has checks for.
    pub devices: &'static [DeviceKind],
    /// The precisions that the harness has checks for.
    pub precisions: &'static [Precision],
    /// Deviations from the tolerance table, each with its reason.
    pub tolerances: &'static [ToleranceOverride],
    /// The device memory that the model needs, in MiB, if the spec says so.
    pub vram_mib: Option<u64>,
    /// The seconds that a check may take, if the spec has a limit.
    pub limit_seconds: Option<u64>,
}

/// A tolerance of the spec's own for one output in one precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToleranceOverride {
    /// The output's name, for instance `logits`.
    pub output: &'static str,
    /// The precision that it is for.
    pub precision: Precision,
    /// The largest |d| / |ref|.
    pub rel_l2: f64,
    /// The largest max |d| / max |ref|.
    pub max_rel: f64,
    /// Why the table does not fit.
    pub reason: &'static str,
}

/// Opens a device, loads a checkpoint on it and returns an endpoint. An error becomes the status of
/// the endpoint.
pub type Init = fn(target: &LoadTarget) -> Endpoint;

/// One generated harness.
#[derive(Debug)]
pub struct Harness {
    /// The model under test.
    pub spec: &'static Spec,
    /// Loads the model on the host processor.
    pub init_cpu: Init,
    /// Loads the model on an NVIDIA GPU.
    pub init_cuda: Init,
    /// Loads the model on an AMD GPU.
    pub init_rocm: Init,
    /// The request of the architecture and the task, built from recorded inputs.
    pub request: fn(recorded: &RecordedRequest) -> Result<Request, RequestError>,
    /// The checks that are not run.
    pub skipped: &'static [Skip],
}

impl Harness {
    /// The init function for devices of `kind`.
    pub fn init(&self, kind: DeviceKind) -> Init {
        match kind {
            DeviceKind::Cpu => self.init_cpu,
            DeviceKind::Cuda => self.init_cuda,
            DeviceKind::Rocm => self.init_rocm,
        }
    }

    /// Every check that the spec requires, skipped ones included, in the order of a report.
    pub fn required(&self) -> Vec<Registration> {
        required_checks(
            self.spec.architecture,
            self.spec.devices,
            self.spec.precisions,
        )
    }

    /// The checks that the spec requires besides these on an engine that is a process.
    pub fn required_of_engines(&self) -> Vec<Registration> {
        engine_checks(
            self.spec.architecture,
            self.spec.devices,
            self.spec.precisions,
        )
    }

    /// Why a check is not run, or `None` if it is.
    pub fn skip_reason(&self, registration: Registration) -> Option<&'static str> {
        self.skipped
            .iter()
            .find_map(|skip| skip.reason(registration))
    }
}
