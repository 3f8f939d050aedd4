//! The outcome of an engine on a device.

use testgen_device::DeviceKind;

/// An engine on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineComputation {
    /// The engine with its options.
    pub engine: String,
    /// The device, `rocm:0`, or `None` if the engine did not start anywhere.
    pub device: Option<String>,
    /// The kind of device.
    pub kind: DeviceKind,
    /// Whether the device is a simulation.
    pub simulated: bool,
    /// The outcome.
    pub outcome: ComputationOutcome,
}

/// The outcome of an engine on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComputationOutcome {
    /// The engine, or what it needs, is not installed.
    NotInstalled {
        /// The missing part.
        why: String,
        /// The command that installs it.
        fix: String,
    },
    /// It does not have this device or this option.
    Unsupported {
        /// The engine's reason.
        why: String,
    },
    /// It did not start, died, hung, or violated the protocol.
    Failed {
        /// The error.
        why: String,
    },
    /// It opened the CPU in place of the GPU.
    Fallback {
        /// The engine's reason.
        why: String,
        /// The build of the engine, for instance `HIP`.
        build: &'static str,
        /// Whether this build can use devices of this kind.
        for_this_kind: bool,
        /// The Python of the engine, quoted for a shell; `None` for a program of the user.
        python: Option<String>,
    },
    /// It opened another device.
    OtherDevice {
        /// The two devices.
        why: String,
    },
    /// It computed.
    Computed {
        /// The versions of its libraries, or its program.
        with: String,
        /// Each operation.
        operations: Vec<KnownOperation>,
    },
}

/// An operation with a known answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownOperation {
    /// Its name.
    pub name: String,
    /// Its answer.
    pub answer: EngineAnswer,
}

/// The answer of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineAnswer {
    /// It is the known one; what was compared.
    Right(String),
    /// It is another one; the first difference.
    Wrong(String),
    /// There is none; the reason. The engine is not wrong.
    None(String),
    /// There is none, and that is an error of the engine.
    Failed(String),
}

impl KnownOperation {
    fn is_right(&self) -> bool {
        matches!(self.answer, EngineAnswer::Right(_))
    }

    fn has_failed(&self) -> bool {
        matches!(
            self.answer,
            EngineAnswer::Wrong(_) | EngineAnswer::Failed(_)
        )
    }
}

impl EngineComputation {
    /// Whether at least one answer was right, and no operation failed.
    pub fn is_right(&self) -> bool {
        let ComputationOutcome::Computed { operations, .. } = &self.outcome else {
            return false;
        };
        // At least one: an engine that supports none of them has shown nothing.
        operations.iter().any(KnownOperation::is_right)
            && !operations.iter().any(KnownOperation::has_failed)
    }
}
