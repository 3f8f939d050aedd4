//! Errors of engines.

use crate::command::CommandError;
use std::{io, time::Duration};

/// An engine did not answer a call. Every variant but the last four ends the process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The program is not known.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The program cannot be started.
    #[error("cannot start the engine `{program}`: {source}")]
    Start {
        /// The program.
        program: String,
        /// The system's error.
        source: io::Error,
    },
    /// No answer within the limit. The process was killed.
    #[error("the engine did not answer `{call}` within {} s and was ended{output}", limit.as_secs_f64())]
    TimedOut {
        /// The call.
        call: &'static str,
        /// The limit.
        limit: Duration,
        /// The last output, with an introduction; empty without output.
        output: String,
    },
    /// The process ended, or closed its pipe.
    #[error("the engine ended during `{call}` ({status}){output}")]
    Ended {
        /// The call.
        call: &'static str,
        /// Its exit status.
        status: String,
        /// The last output.
        output: String,
    },
    /// Bytes that are not a valid response to this call. The process was killed.
    #[error("the engine's answer to `{call}` is invalid: {problem}{output}")]
    Invalid {
        /// The call.
        call: &'static str,
        /// The violation of the protocol.
        problem: String,
        /// The last output.
        output: String,
    },
    /// The engine reports that it cannot use its device any more. The process was killed.
    #[error("the engine failed in `{call}` and lost its device: {message}")]
    DeviceLost {
        /// The call.
        call: &'static str,
        /// Its message.
        message: String,
    },
    /// An earlier call ended the process.
    #[error("the engine is not running: {why}")]
    NotRunning {
        /// The earlier error.
        why: String,
    },
    /// The engine reports that it does not have what was asked for.
    #[error("not supported by the engine: {message}")]
    Unsupported {
        /// Its message.
        message: String,
    },
    /// The engine reports an error.
    #[error("the engine failed in `{call}`: {message}")]
    Failed {
        /// The call.
        call: &'static str,
        /// Its message.
        message: String,
    },
    /// The engine reports that its device has not enough memory.
    #[error("out of memory: the engine reports in `{call}`: {message}")]
    OutOfMemory {
        /// The call.
        call: &'static str,
        /// Its message.
        message: String,
    },
}

impl EngineError {
    /// Whether the engine itself reports the error, and remains usable.
    pub(crate) fn is_reported(&self) -> bool {
        matches!(
            self,
            Self::Unsupported { .. } | Self::Failed { .. } | Self::OutOfMemory { .. }
        )
    }
}
