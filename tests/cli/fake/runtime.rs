//! Replaces `testgen-runtime` in tests of `testgen run`: the same names, no model, no device, no
//! dependency.
//!
//! The file `FAKE_RULES` decides the result of every test: the last line `PART|ACTION|JSON` whose
//! PART is in the test's name, followed by ` rocm:1` where a device is selected, counts. Without a
//! rule CPU checks pass, and numeric checks elsewhere are ignored.

pub mod suite;
mod words;

pub use words::*;

#[derive(Debug, Clone)]
pub struct Checkpoint;
#[derive(Debug)]
pub struct Model;
#[derive(Debug)]
pub struct LoadedModel;
#[derive(Debug, Clone)]
pub struct Label;
#[derive(Debug)]
pub struct RecordedRequest;
#[derive(Debug)]
pub struct RequestError;
#[derive(Debug)]
pub struct OpenDevice;
#[derive(Debug)]
pub struct Device;
#[derive(Debug)]
pub struct Visibility;
#[derive(Debug, Clone, Copy)]
pub struct DeviceMemory;
#[derive(Debug)]
pub struct DeviceUnavailable;
#[derive(Debug)]
pub struct Endpoint;
#[derive(Debug)]
pub struct Probe;

pub type InitError = DeviceUnavailable;

#[derive(Debug, Clone)]
pub struct LoadTarget {
    pub checkpoint: Checkpoint,
    pub index: u32,
    pub precision: Option<Precision>,
    pub label: Label,
}

#[derive(Debug)]
pub enum Request {
    Texts(Vec<String>),
    Questions(Vec<String>),
    Prompts { prompts: Vec<String>, controls: u32 },
    Images(Vec<String>),
}

#[derive(Debug)]
pub struct Source {
    pub path: &'static str,
    pub hub: Option<&'static str>,
}

#[derive(Debug)]
pub enum Subject {
    Model { model_type: ModelType, source: Source },
    Operators(&'static [OperatorShapes]),
}

#[derive(Debug)]
pub struct OperatorShapes {
    pub operator: Operator,
    pub shapes: &'static [&'static [usize]],
    pub stress: &'static [StressShapes],
}

#[derive(Debug)]
pub struct StressShapes {
    pub issue: &'static str,
    pub shapes: &'static [&'static [usize]],
}

#[derive(Debug)]
pub struct ToleranceOverride {
    pub output: &'static str,
    pub precision: Precision,
    pub rel_l2: f64,
    pub max_rel: f64,
    pub reason: &'static str,
}

#[derive(Debug)]
pub struct Spec {
    pub name: &'static str,
    pub subject: Subject,
    pub architecture: Architecture,
    pub task: Task,
    pub devices: &'static [DeviceKind],
    pub precisions: &'static [Precision],
    pub tolerances: &'static [ToleranceOverride],
    pub vram_mib: Option<u64>,
    pub limit_seconds: Option<u64>,
}

pub type Init = fn(&LoadTarget) -> Endpoint;

#[derive(Debug)]
pub struct Harness {
    pub spec: &'static Spec,
    pub init_cpu: Init,
    pub init_cuda: Init,
    pub init_rocm: Init,
    pub request: fn(&RecordedRequest) -> Result<Request, RequestError>,
    pub skipped: &'static [Skip],
}

#[derive(Debug, Clone, Copy)]
pub struct Skip {
    check: Check,
    device: Option<DeviceKind>,
    precision: Option<Precision>,
    reason: &'static str,
}

impl Skip {
    pub const fn new(check: Check, reason: &'static str) -> Self {
        Self { check, device: None, precision: None, reason }
    }

    pub const fn on(device: DeviceKind, check: Check, reason: &'static str) -> Self {
        Self { check, device: Some(device), precision: None, reason }
    }

    pub const fn in_precision(precision: Precision, check: Check, reason: &'static str) -> Self {
        Self { check, device: None, precision: Some(precision), reason }
    }

    pub const fn on_in_precision(
        device: DeviceKind,
        precision: Precision,
        check: Check,
        reason: &'static str,
    ) -> Self {
        Self { check, device: Some(device), precision: Some(precision), reason }
    }
}

/// A check of a harness, with the reason if it is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PlannedCheck {
    device: DeviceKind,
    check: Check,
    precision: Precision,
    skip: Option<&'static str>,
}

impl Harness {
    fn checks(&self) -> Vec<PlannedCheck> {
        let mut planned = Vec::new();
        for &device in self.spec.devices {
            let applies = |check: &&Check| {
                OF_ARCHITECTURE.contains(&(self.spec.architecture, **check)) && ON_DEVICE.contains(&(device, **check))
            };
            for &check in Check::ALL.iter().filter(applies) {
                let computed = || {
                    self.spec.precisions.iter().filter(|precision| device == DeviceKind::Cuda || **precision != Precision::Tf32)
                };
                let first = computed().min();
                let precisions = computed().filter(|precision| match check {
                    Check::HalfProbe => **precision != Precision::F32,
                    check => check.per_precision() || Some(*precision) == first,
                });
                planned.extend(precisions.map(|&precision| {
                    PlannedCheck { device, check, precision, skip: self.skip_reason(device, check, precision) }
                }));
            }
        }
        planned.sort();
        planned
    }

    fn skip_reason(&self, device: DeviceKind, check: Check, precision: Precision) -> Option<&'static str> {
        let applies = |skip: &&Skip| {
            skip.check == check
                && skip.device.is_none_or(|only| only == device)
                && skip.precision.is_none_or(|only| only == precision)
        };
        self.skipped.iter().find(applies).map(|skip| skip.reason)
    }
}

impl LoadTarget {
    pub fn on(&self, _device: DeviceKind) -> Self {
        self.clone()
    }

    pub fn open(&self, _device: Device) -> Result<OpenDevice, DeviceUnavailable> {
        Ok(OpenDevice)
    }
}

impl LoadedModel {
    pub fn new(_target: &LoadTarget, _device: OpenDevice, _model: Model) -> Self {
        Self
    }

    pub fn with_memory(self, _before: DeviceMemory, _after: DeviceMemory) -> Self {
        self
    }
}

impl RecordedRequest {
    pub fn texts(&self) -> Result<Vec<String>, RequestError> {
        Err(RequestError)
    }

    pub fn questions(&self) -> Result<Vec<String>, RequestError> {
        Err(RequestError)
    }

    pub fn prompts(&self) -> Result<Vec<String>, RequestError> {
        Err(RequestError)
    }

    pub fn controls(&self) -> Result<u32, RequestError> {
        Err(RequestError)
    }

    pub fn images(&self) -> Result<Vec<String>, RequestError> {
        Err(RequestError)
    }
}

impl DeviceUnavailable {
    pub fn and(self, _other: Self) -> Self {
        self
    }
}

impl Probe {
    pub fn choose(&self, _target: Option<Precision>, precisions: &[Precision]) -> Result<Precision, DeviceUnavailable> {
        precisions.first().copied().ok_or(DeviceUnavailable)
    }
}

impl Endpoint {
    pub fn real<T>(_kind: DeviceKind, _loaded: LoadedModel, _task: T) -> Self {
        Self
    }

    pub fn mock<E>(_label: &Label, _kind: DeviceKind, _error: &E) -> Self {
        Self
    }

    pub fn into_fallback(self, _kind: DeviceKind, _absence: &DeviceUnavailable) -> Self {
        self
    }
}

pub fn host_processor() -> Device {
    Device
}

pub fn hip_runtime(_target: &LoadTarget) -> Result<Device, DeviceUnavailable> {
    Err(DeviceUnavailable)
}

pub fn cuda_driver(_target: &LoadTarget) -> Result<Device, DeviceUnavailable> {
    Err(DeviceUnavailable)
}

pub fn cuda_compatibility(_target: &LoadTarget) -> Result<Device, DeviceUnavailable> {
    Err(DeviceUnavailable)
}

pub fn load(_: &Spec, _: &Checkpoint, _: &OpenDevice, _: Precision) -> Result<Model, DeviceUnavailable> {
    Ok(Model)
}

pub fn memory(_device: &OpenDevice) -> DeviceMemory {
    DeviceMemory
}

pub fn probe_half_precision(_device: &OpenDevice) -> Probe {
    Probe
}

pub fn report_memory(_label: &Label, _when: &str, _memory: &DeviceMemory) {}

pub fn report_probe(_label: &Label, _probe: &Probe) {}

pub fn report_visibility(_label: &Label, _visibility: &Visibility) {}

pub fn visible_devices() -> Visibility {
    Visibility
}

pub mod task {
    pub fn text_embedding() {}
    pub fn fill_mask() {}
    pub fn text_classification() {}
    pub fn token_classification() {}
    pub fn question_answering() {}
    pub fn text_generation() {}
    pub fn image_classification() {}
    pub fn image_embedding() {}
}
