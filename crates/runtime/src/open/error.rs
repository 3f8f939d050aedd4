//! Why a device could not be opened.

use super::isolated::IsolatedFailure;
use crate::{engine::AttachError, gpu_memory::is_out_of_memory};
use std::fmt;
use testgen_device::{DetectionPath, Device};

/// The step at which opening failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenStep {
    /// The backend is not built into this program.
    Backend,
    /// A requirement of burn is missing; found by detection.
    Requirements,
    /// The first kernel failed.
    FirstKernel,
    /// The first kernel took too long, or an earlier device did.
    TimeLimit,
    /// The first kernel computed a wrong answer.
    KnownAnswer,
    /// The precision of products could not be measured.
    Precision,
    /// The engine of the check does not start or does not run on the device.
    Engine,
}

impl OpenStep {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Backend => "choosing the backend",
            Self::Requirements => "checking what the backend needs",
            Self::FirstKernel => "running the first kernel",
            Self::TimeLimit => "waiting for the first kernel",
            Self::KnownAnswer => "checking the answer of the first kernel",
            Self::Precision => "measuring the precision of f32 products",
            Self::Engine => "starting the engine",
        }
    }
}

impl fmt::Display for OpenStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A device that is present and cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` ({device}) cannot be opened: {step} failed: {message}; {remedy}")]
pub struct OpenError {
    /// `rocm:1`.
    pub device: String,
    /// The name that its driver reports.
    pub name: String,
    /// The step that failed.
    pub step: OpenStep,
    /// The reason.
    pub message: String,
    /// How to fix it.
    pub remedy: &'static str,
    /// The reason, if an engine has it.
    source: Option<Box<AttachError>>,
}

const CUDA_REMEDY: &str = "`testgen doctor --devices` lists versions and requirements; `CUDA_PATH` must be a toolkit with headers (`include`, with `cccl`) of the driver's major version";
const ROCM_REMEDY: &str = "`testgen doctor --devices` lists versions and requirements; `hipconfig` must be on PATH and print the folder of the HIP headers";
const HOST_REMEDY: &str = "this is a bug in testgen-runtime or in burn: report it";
const MEMORY_REMEDY: &str = "the next check opens it again";
const TIME_REMEDY: &str = "check whether another process holds the device or it needs a reset; TESTGEN_OPEN_TIMEOUT sets another limit in seconds";
const ENGINE_REMEDY: &str = "docs/engines.md describes what an engine needs; TESTGEN_PYTHON names the Python of the engine `torch`";
const ANSWER_REMEDY: &str = "results of this device cannot be trusted: check driver, memory errors (ECC) and the visible-device variables";

impl OpenError {
    pub(super) fn new(
        device: &Device,
        step: OpenStep,
        message: impl fmt::Display,
        remedy: &'static str,
    ) -> Self {
        let (name, message) = (device.name.clone(), message.to_string());
        Self {
            device: device.label(),
            name,
            step,
            message,
            remedy,
            source: None,
        }
    }

    #[cfg(not(all(feature = "cuda", feature = "rocm")))]
    pub(super) fn not_built(device: &Device, feature: &str) -> Self {
        let message =
            format!("this program was built without the feature `{feature}` of testgen-runtime");
        Self::new(
            device,
            OpenStep::Backend,
            message,
            "build it with that feature",
        )
    }

    /// Isolated work that returned no answer.
    pub(super) fn no_answer(device: &Device, step: OpenStep, failure: IsolatedFailure) -> Self {
        match failure {
            IsolatedFailure::Panicked { message } => Self::failed(device, step, &message),
            IsolatedFailure::TimedOut { limit } => {
                let message = format!("no answer within {} s", limit.as_secs_f64());
                Self::new(device, OpenStep::TimeLimit, message, TIME_REMEDY)
            }
            IsolatedFailure::Blocked { by } => {
                let message = format!(
                    "not started, because {by} does not answer and may block every GPU of this process"
                );
                Self::new(device, OpenStep::TimeLimit, message, TIME_REMEDY)
            }
        }
    }

    /// The backend returned an error message.
    pub(super) fn failed(device: &Device, step: OpenStep, message: &str) -> Self {
        let remedy = match device.path {
            // First: the remedy for memory is the same on every path.
            _ if is_out_of_memory(message) => MEMORY_REMEDY,
            DetectionPath::HostProcessor => HOST_REMEDY,
            DetectionPath::HipRuntime => ROCM_REMEDY,
            DetectionPath::Engine => ENGINE_REMEDY,
            DetectionPath::CudaDriver | DetectionPath::CudaCompatibility => CUDA_REMEDY,
        };
        Self::new(device, step, summary(message), remedy)
    }

    /// The engine's message has lines of its last output.
    pub(super) fn of_engine(device: &Device, error: AttachError) -> Self {
        Self {
            source: Some(Box::new(error.clone())),
            ..Self::new(device, OpenStep::Engine, error, ENGINE_REMEDY)
        }
    }

    pub(super) fn wrong_answer(device: &Device, message: &str) -> Self {
        Self::new(device, OpenStep::KnownAnswer, message, ANSWER_REMEDY)
    }
}

/// The first lines of a backend's message, without the backtrace and the kernel's source.
fn summary(message: &str) -> String {
    // cubecl appends the whole source of a kernel that does not compile.
    let body = message.split("[Source]").next().unwrap_or(message);
    // Without the backtrace, and without the kernel's source, which can be pages long.
    let lines: Vec<&str> = body
        .lines()
        .map(str::trim)
        .filter(|line| !is_noise(line))
        .take(6)
        .collect();
    let mut text = lines.join(" ");
    // By characters, because a byte limit could cut one in two.
    if let Some((end, _)) = text.char_indices().nth(400) {
        text.truncate(end);
        text.push_str(" ...");
    }
    text
}

fn is_noise(line: &str) -> bool {
    line.is_empty() || line.starts_with("Caused by") || line.starts_with("No backtrace")
}

#[cfg(test)]
mod tests {
    use super::summary;

    #[test]
    fn backtraces_and_sources_are_removed() {
        let message = "Compilation failed\n\n  nvrtc: error: no header\n[Source]\nextern \"C\" ...";
        assert_eq!(
            summary(message),
            "Compilation failed nvrtc: error: no header"
        );
        assert!(summary(&"ä".repeat(5000)).len() < 1300);
    }
}
