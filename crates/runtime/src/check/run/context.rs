//! The environment of a check: the checkpoint, the device and the engine that it runs with.

use crate::require::RequiredDevices;
use std::path::Path;
use testgen_device::DeviceIndex;
use testgen_engine::EngineName;
use testgen_models::Checkpoint;

/// A directory that does not exist.
pub(in crate::check) const MISSING: &str = "there-is-no-such-checkpoint";

/// The environment of a check.
#[derive(Debug, Clone)]
pub(crate) struct CheckContext<'a> {
    /// The checkpoint to load; operators have none.
    pub(crate) checkpoint: Option<Checkpoint>,
    /// The devices that must be present.
    pub(crate) requirements: &'a RequiredDevices,
    /// The index of the device among the devices of its kind.
    pub(crate) index: DeviceIndex,
    /// The engine that computes.
    pub(crate) engine: EngineName,
}

impl CheckContext<'_> {
    /// A checkpoint that no subject can be loaded from: its directory does not exist, and operators
    /// take none.
    pub(in crate::check) fn missing_checkpoint(&self) -> Checkpoint {
        let here = self
            .checkpoint
            .as_ref()
            .map_or(Path::new(""), Checkpoint::directory);
        Checkpoint::at(here.join(MISSING))
    }
}
