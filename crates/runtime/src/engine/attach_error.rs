//! Why a check has no engine.

use testgen_engine::EngineError;
use testgen_nn::forward::Unsupported;

/// An engine cannot be used on a device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AttachError {
    /// The engine, or this version of it, does not have the device or an option; its checks are
    /// ignored.
    #[error("{0}")]
    Unsupported(#[from] Unsupported),
    /// It does not start, or is not at the address that it reports.
    #[error("{0}")]
    Failed(String),
}

impl From<EngineError> for AttachError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Unsupported { message } => Unsupported(message).into(),
            other => Self::Failed(other.to_string()),
        }
    }
}
