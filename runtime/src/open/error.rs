//! Why a device could not be opened.

use super::Failure;
use std::fmt;
use testgen_device::{DetectionPath, Device};

/// The step at which opening failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenStep {
    /// The backend is not in this program.
    Backend,
    /// Something that burn needs is missing; found by detection.
    Requirements,
    /// The first kernel did not come to an end.
    FirstKernel,
    /// The first kernel took too long, or an earlier device did.
    TimeLimit,
    /// The first kernel gave a wrong answer.
    KnownAnswer,
    /// The precision of products could not be measured.
    Precision,
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
    /// As its driver names it.
    pub name: String,
    /// Where it stopped.
    pub step: OpenStep,
    /// What was said or found.
    pub message: String,
    /// What to do.
    pub remedy: &'static str,
}

const CUDA_REMEDY: &str = "`testgen devices` tells versions and requirements; `CUDA_PATH` must lead to toolkit headers (`include`, with `cccl`) of the driver's major version";
const ROCM_REMEDY: &str =
    "`testgen devices` tells versions and requirements; `hipconfig` must be on PATH and lead to the HIP headers";
const HOST_REMEDY: &str = "that is a fault of testgen-runtime or of burn: report it";
const TIME_REMEDY: &str = "see whether another process holds the device or it needs a reset; TESTGEN_OPEN_TIMEOUT sets another limit in seconds";
const ANSWER_REMEDY: &str =
    "results of this device cannot be trusted: check driver, memory errors (ECC) and the visible-device variables";

impl OpenError {
    pub(super) fn new(device: &Device, step: OpenStep, message: impl fmt::Display, remedy: &'static str) -> Self {
        Self { device: device.label(), name: device.name.clone(), step, message: message.to_string(), remedy }
    }

    #[cfg(not(all(feature = "cuda", feature = "rocm")))]
    pub(super) fn not_built(device: &Device, feature: &str) -> Self {
        let message = format!("this program was built without the feature `{feature}` of testgen-runtime");
        Self::new(device, OpenStep::Backend, message, "build it with that feature")
    }

    /// Isolated work that gave no answer.
    pub(super) fn no_answer(device: &Device, step: OpenStep, failure: Failure) -> Self {
        match failure {
            Failure::Panicked { message } => Self::failed(device, step, &message),
            Failure::TimedOut { limit } => {
                let message = format!("no answer within {} s", limit.as_secs_f64());
                Self::new(device, OpenStep::TimeLimit, message, TIME_REMEDY)
            }
            Failure::Blocked { by } => {
                let message =
                    format!("not begun, because {by} does not answer and may block every GPU of this process");
                Self::new(device, OpenStep::TimeLimit, message, TIME_REMEDY)
            }
        }
    }

    /// The backend said what went wrong.
    pub(super) fn failed(device: &Device, step: OpenStep, message: &str) -> Self {
        let remedy = match device.path {
            DetectionPath::HostProcessor => HOST_REMEDY,
            DetectionPath::HipRuntime => ROCM_REMEDY,
            DetectionPath::CudaDriver | DetectionPath::CudaCompatibility => CUDA_REMEDY,
        };
        Self::new(device, step, telling_lines(message), remedy)
    }

    pub(super) fn wrong_answer(device: &Device, message: &str) -> Self {
        Self::new(device, OpenStep::KnownAnswer, message, ANSWER_REMEDY)
    }
}

/// The first lines of a backend's message without the backtrace and the kernel's source, which can run to pages.
fn telling_lines(message: &str) -> String {
    let noise = |line: &&str| line.is_empty() || line.starts_with("Caused by") || line.starts_with("No backtrace");
    let body = message.split("[Source]").next().unwrap_or(message);
    let lines: Vec<&str> = body.lines().map(str::trim).filter(|line| !noise(line)).take(6).collect();
    let mut text = lines.join(" ");
    if let Some((end, _)) = text.char_indices().nth(400) {
        text.truncate(end);
        text.push_str(" ...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::telling_lines;

    #[test]
    fn backtraces_and_sources_are_cut() {
        let message = "Compilation failed\n\n  nvrtc: error: no header\n[Source]\nextern \"C\" ...";
        assert_eq!(telling_lines(message), "Compilation failed nvrtc: error: no header");
        assert!(telling_lines(&"ä".repeat(5000)).len() < 1300);
    }
}
