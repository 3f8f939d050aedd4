//! One line of the diagnosis: evidence, cause, and the command that fixes it.

use serde::Serialize;

/// The meaning of a line for the validity of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowStatus {
    /// It works.
    // From best to worst: a diagnosis has the largest status of its lines.
    Ok,
    /// It is absent or unused, which makes no result invalid.
    Note,
    /// Results may be missing or wrong.
    Warning,
    /// Results on a device that is present are missing or wrong.
    Failure,
}

impl RowStatus {
    /// The written form.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Failure => "failure",
        }
    }
}

/// The part of the machine that a line is about, in the order in which lines are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    // From causes to their effects: the row of a requirement refers to the lines above it.
    /// The operating system, and the container.
    System,
    /// Modules of the kernel.
    KernelModules,
    /// `/dev/kfd`, `/dev/dri/renderD*` of AMD, `/dev/nvidia*`.
    DeviceFiles,
    /// Environment variables.
    Variables,
    /// The libraries of HIP and CUDA.
    Libraries,
    /// The devices that they list.
    Devices,
    /// Free memory.
    Memory,
    /// Python and its packages.
    Python,
    /// Known answers that engines computed.
    Computation,
    /// Devices that the caller requires.
    Requirements,
}

impl Area {
    /// The heading above its lines.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::KernelModules => "kernel modules",
            Self::DeviceFiles => "device files",
            Self::Variables => "variables",
            Self::Libraries => "libraries",
            Self::Devices => "devices",
            Self::Memory => "free memory",
            Self::Python => "Python",
            Self::Computation => "computation",
            Self::Requirements => "requirements",
        }
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorRow {
    /// The part of the machine.
    pub area: Area,
    /// The file, variable, package or device.
    pub subject: String,
    /// The meaning for the validity of results.
    pub status: RowStatus,
    /// The text that was read, or the numbers that were computed.
    pub evidence: String,
    /// Why that is a problem, or why it is so.
    pub cause: Option<String>,
    /// The command that fixes it.
    pub fix: Option<String>,
}

impl DoctorRow {
    /// A line without cause and fix.
    pub fn new(
        area: Area,
        subject: impl Into<String>,
        status: RowStatus,
        evidence: impl Into<String>,
    ) -> Self {
        Self {
            area,
            subject: subject.into(),
            status,
            evidence: evidence.into(),
            cause: None,
            fix: None,
        }
    }

    /// The line with its cause and the command that fixes it.
    #[must_use]
    pub fn because(self, cause: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            cause: Some(cause.into()),
            fix: Some(fix.into()),
            ..self
        }
    }

    /// The line as a warning, with its cause and the command that fixes it.
    #[must_use]
    pub fn warning(self, cause: impl Into<String>, fix: impl Into<String>) -> Self {
        let status = RowStatus::Warning;
        Self { status, ..self }.because(cause, fix)
    }

    /// The line as a failure, with its cause and the command that fixes it.
    #[must_use]
    pub fn failure(self, cause: impl Into<String>, fix: impl Into<String>) -> Self {
        let status = RowStatus::Failure;
        Self { status, ..self }.because(cause, fix)
    }
}
