//! What a generated module declares: its spec, its three ways to a device, and its list of checks.

use crate::{Checkpoint, Endpoint, Source};
use testgen_contract::{Architecture, Check, DeviceKind, ModelType, Precision, Registration, Task};
use testgen_device::DeviceIndex;

/// What a harness tests, as its YAML spec says.
#[derive(Debug)]
pub struct Spec {
    /// The stem of the spec's file.
    pub name: &'static str,
    /// The `model_type` of `config.json`.
    pub model_type: ModelType,
    /// The family.
    pub architecture: Architecture,
    /// What the handlers do.
    pub task: Task,
    /// Where the checkpoint is.
    pub source: Source,
    /// The devices that the harness has checks for.
    pub devices: &'static [DeviceKind],
    /// The precisions that the harness has checks for.
    pub precisions: &'static [Precision],
    /// Deviations from the tolerance table, each with its reason.
    pub tolerances: &'static [ToleranceOverride],
    /// The device memory that the model needs, in MiB, where the spec says so.
    pub vram_mib: Option<u64>,
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

/// Which of the devices of a kind is wanted, and what it should compute in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceRequest {
    /// `auto` or an index among the visible devices.
    pub index: DeviceIndex,
    /// The precision; none takes the first of the spec's that the probe proves correct.
    pub precision: Option<Precision>,
}

/// Opens a device, loads a checkpoint on it and gives an endpoint; never panics, an error becomes the endpoint's status.
pub type Init = fn(checkpoint: &Checkpoint, request: &DeviceRequest, label: &str) -> Endpoint;

/// One generated harness.
#[derive(Debug)]
pub struct Harness {
    /// What it tests.
    pub spec: &'static Spec,
    /// The way to the host processor.
    pub init_cpu: Init,
    /// The way to an NVIDIA GPU.
    pub init_cuda: Init,
    /// The way to an AMD GPU.
    pub init_rocm: Init,
    /// Every check, one test each.
    pub checks: &'static [Registered],
}

impl Harness {
    /// The way to a device of `kind`.
    pub fn init(&self, kind: DeviceKind) -> Init {
        match kind {
            DeviceKind::Cpu => self.init_cpu,
            DeviceKind::Cuda => self.init_cuda,
            DeviceKind::Rocm => self.init_rocm,
        }
    }
}

/// One line of a harness's list of checks.
#[derive(Debug, Clone, Copy)]
pub struct Registered {
    /// What is checked where.
    pub registration: Registration,
    /// Why the spec skips it, where it does.
    pub skip: Option<&'static str>,
}

impl Registered {
    /// The check is run.
    pub const fn run(device: DeviceKind, check: Check, precision: Precision) -> Self {
        Self { registration: Registration { device, check, precision }, skip: None }
    }

    /// The check is listed as ignored, with the spec's reason.
    pub const fn skip(device: DeviceKind, check: Check, precision: Precision, reason: &'static str) -> Self {
        Self { registration: Registration { device, check, precision }, skip: Some(reason) }
    }
}
