//! One line of a report: the outcome of a check, the device it ran on, and the errors of its
//! numbers.
//!
//! The runtime writes these lines, the CLI reads them. Adding a field is compatible; changing one
//! requires a new [`ReportEntry::VERSION`].

use crate::{
    architecture::Architecture, check::Check, device_kind::DeviceKind, matrix_unit::MatrixUnit,
    precision::Precision, provider_share::ProviderShare,
};
use serde::{Deserialize, Serialize};

/// The outcome of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryStatus {
    /// The check ran on its device and its property holds.
    Pass,
    /// The property does not hold, or the check could not run although its device is present.
    Fail,
    /// The check did not run; `reason` says why. Never counted as a pass.
    Ignored,
}

/// One executed or ignored check, one line of JSON in the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportEntry {
    /// [`ReportEntry::VERSION`] of the writer.
    pub version: u32,
    /// The model's name: the stem of its spec.
    pub model: String,
    /// The family of the model.
    pub architecture: Architecture,
    /// The device that the check is for.
    pub device: DeviceKind,
    /// The index of that device, if the run selected one of several, for instance with
    /// `--device rocm:1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_index: Option<u32>,
    /// The engine that computed, with its options, for instance `torch/eager`; absent for the
    /// native one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The versions of the engine's libraries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_versions: Option<String>,
    /// The property.
    pub check: Check,
    /// The precision that the check is for.
    pub precision: Precision,
    /// The outcome.
    pub status: EntryStatus,
    /// Why it failed or was ignored; for a pass, an optional note on what was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The device that ran, by its driver's name, for instance `NVIDIA H100 80GB HBM3`; absent when
    /// nothing ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_name: Option<String>,
    /// Further facts about that device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware: Option<HardwareInfo>,
    /// The version of testgen's runtime that ran the check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub testgen: Option<String>,
    /// Whether that device is a software simulation.
    #[serde(default)]
    pub simulated: bool,
    /// Whether f32 products on it may be computed in TF32; the TF32 row of the tolerance table
    /// applies then.
    #[serde(default)]
    pub tf32: bool,
    /// Whether the endpoint was a fallback to another device.
    #[serde(default)]
    pub fallback: bool,
    /// Whether the endpoint was a mock.
    #[serde(default)]
    pub mock: bool,
    /// Whether the check, or the thread of the device, panicked, so that nothing is known of the
    /// property.
    // `not` of false is true, so that a line has the field only if it is set.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub panicked: bool,
    /// A fingerprint of the GPU kernels that ran: two checks with the same one ran the same
    /// kernels. Absent on the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernels: Option<String>,
    /// How the device adds the terms of a product in the check's precision, where `half_probe`
    /// measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix_unit: Option<MatrixUnit>,
    /// Error and threshold of every compared tensor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<OutputError>,
    /// The errors of hidden states beside the reference's own, in the order of the layers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<LayerError>,
    /// The execution providers that computed the nodes of the graph, where an engine runs one, for
    /// instance ONNX Runtime.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub providers: Vec<ProviderShare>,
    /// Memory before and after the load, if the check loaded a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<LoadMemory>,
    /// The time that an earlier report has of the check, if it was ignored for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_milliseconds: Option<f64>,
    /// Wall time of the check in milliseconds.
    pub milliseconds: f64,
}

/// How far one tensor is from its reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputError {
    /// The tensor's name, for instance `last_hidden_state` or `trace.layer.1`.
    pub name: String,
    /// |d| / |ref| over the tensor, in f64.
    pub rel_l2: f64,
    /// max |d| / max |ref|.
    pub max_rel: f64,
    /// The largest `rel_l2` allowed.
    pub rel_l2_threshold: f64,
    /// The largest `max_rel` allowed.
    pub max_rel_threshold: f64,
    /// The smaller of threshold / error over both measures; below 1 the tensor fails.
    pub headroom: f64,
    /// How many elements are NaN or infinite on one side only, or NaN in both of two runs that are
    /// compared; above 0 the errors are meaningless.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub non_finite: u64,
    /// The five elements with the largest errors, for a tensor that fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worst: Vec<WorstElement>,
}

impl OutputError {
    /// A result of which nothing but the headroom is known.
    pub const fn with_headroom(name: String, headroom: f64) -> Self {
        Self {
            name,
            // Errors of 0 are inside of thresholds of 0, so that the headroom alone decides.
            rel_l2: 0.0,
            max_rel: 0.0,
            rel_l2_threshold: 0.0,
            max_rel_threshold: 0.0,
            headroom,
            non_finite: 0,
            worst: Vec::new(),
        }
    }

    /// Whether the error of the tensor exceeds a threshold, or the error of an element its bound.
    pub fn is_outside(&self) -> bool {
        let inside = self.rel_l2 <= self.rel_l2_threshold
            && self.max_rel <= self.max_rel_threshold
            && self.headroom >= 1.0;
        // For NaN every comparison is false, so that it is not inside.
        !inside
    }
}

/// How far one hidden state is from its reference. It is measured only; [`OutputError`] has what is
/// compared with a threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayerError {
    /// The name in the golden without `trace.`, for instance `layer.16` or `decoder.layer.3`.
    pub name: String,
    /// |d| / |ref| over the tensor, in f64; the largest number if it is not finite.
    pub rel_l2: f64,
    /// The reference's own error in this precision, in f16 for tf32; absent if it is not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<f64>,
}

/// One element of a tensor that fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorstElement {
    /// Its position, one index per dimension.
    pub index: Vec<usize>,
    /// The reference value.
    pub expected: f64,
    /// The value computed.
    pub got: f64,
}

/// Facts about the device that ran, beyond its name; what its library does not report is absent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct HardwareInfo {
    /// `gfx942`, `sm_90` or `x86_64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// The path by which it was found, for instance `hip_runtime`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The kernel driver's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver_version: Option<String>,
    /// The version of the HIP or CUDA runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_version: Option<String>,
    /// The address on the PCI bus, for instance `0000:03:00.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pci_address: Option<String>,
    /// The identifier that the driver assigns to this device alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
}

/// Bytes before and after a load. `None`: the device does not report the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LoadMemory {
    /// All memory of the device.
    #[serde(default)]
    pub total: Option<u64>,
    /// Free before the load.
    #[serde(default)]
    pub free: Option<u64>,
    /// In use by this process before the load.
    #[serde(default)]
    pub in_use_before: Option<u64>,
    /// In use by this process after the load.
    #[serde(default)]
    pub in_use_after: Option<u64>,
    /// The most that was in use until the check ended: on the host by the process, on a GPU by the
    /// tensors of the check, of an engine by its tensors since it loaded the model.
    #[serde(default)]
    pub peak: Option<u64>,
    /// The most bytes of a GPU that its driver had given to the process that computes, after the
    /// load and when the check ended: tensors, what the allocator keeps, code and the context. Null
    /// if the driver does not report them, as in many containers, and for the host processor.
    #[serde(default)]
    pub driver: Option<u64>,
    /// The bytes of the weights that were expected from the headers of the checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_weights: Option<u64>,
    /// Whether the layers of the model stayed in their file, and were loaded when they were needed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub streamed: bool,
    /// The number of devices that the layers of the model are split over. The other fields are
    /// about the device of the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<u16>,
}

impl ReportEntry {
    /// The version of this line format.
    pub const VERSION: u32 = 1;

    /// Whether outputs were compared, so that the entry says something about numbers.
    pub fn has_compared(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// The name of this entry's test: `<architecture>::<model>::<device>::<check>`, followed by the
    /// precision for checks that run once per precision, and by `@<engine>` unless the engine is
    /// the native one.
    pub fn test_name(&self) -> String {
        let name = test_name(
            self.architecture,
            &self.model,
            self.device,
            self.check,
            self.precision,
        );
        with_engine(name, self.engine.as_deref())
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The test of another engine than the native one: `<name>@<engine>`. The engine is last, so that
/// filters for models, devices and checks select the tests of every engine.
pub fn with_engine(name: String, engine: Option<&str>) -> String {
    engine.map_or(name.clone(), |engine| format!("{name}@{engine}"))
}

/// `<architecture>::<model>::<device>::<check>[_<precision>]`.
pub fn test_name(
    architecture: Architecture,
    model: &str,
    device: DeviceKind,
    check: Check,
    precision: Precision,
) -> String {
    // A check that runs once has no suffix: the precision in which it runs depends on the spec and
    // on the device, and its name must not.
    let suffix = if check.per_precision() {
        format!("_{precision}")
    } else {
        String::new()
    };
    format!("{architecture}::{model}::{device}::{check}{suffix}")
}
