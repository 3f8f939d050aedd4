//! A request to compute a failed call again.

use testgen_operators::calls::FailedCall;
use testgen_types::DeviceKind;

/// A request to compute a failed call again.
#[derive(Debug)]
pub(super) struct ReplayRequest {
    pub(super) failed: FailedCall,
    /// The kind of device that computes.
    pub(super) device: DeviceKind,
    /// Whether a smaller call is searched for.
    pub(super) reduce: bool,
}
