//! The exit codes of `testgen`, all of them, in one place.

/// How a command ended, as scripts and CI see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// The command succeeded and found nothing wrong.
    Success = 0,
    /// It ran, and something is wrong: findings of the verifier, failed tests, generated files that
    /// are out of date.
    Findings = 1,
    /// The command line, a spec, a template or a checkpoint is wrong.
    BadInput = 2,
    /// A required program or device is not on this machine: cargo, python, a GPU.
    EnvironmentMissing = 3,
    /// A bug of testgen, or a disk that cannot be read or written.
    Internal = 4,
}

impl ExitCode {
    /// Every exit code.
    pub const ALL: &[Self] = &[
        Self::Success,
        Self::Findings,
        Self::BadInput,
        Self::EnvironmentMissing,
        Self::Internal,
    ];

    /// The meaning of the code in a few words, for the help text.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Findings => "findings, failed tests, or generated files out of date",
            Self::BadInput => "wrong usage or input",
            Self::EnvironmentMissing => "cargo, python or a device is missing",
            Self::Internal => "internal error",
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}
