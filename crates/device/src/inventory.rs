//! The result of every detection path at once, for `testgen doctor --devices` and `testgen doctor`.

mod contradiction;
mod detection;
mod table;

pub use detection::inventory;

use crate::device::{DetectionPath, Device, DeviceProblem};
use crate::topology::Topology;
use crate::visibility::Visibility;
use serde::Serialize;

/// The result of one detection path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PathResult {
    /// The path.
    pub path: DetectionPath,
    /// How many devices it found.
    pub found: usize,
    /// Why it found none.
    pub absence: Option<String>,
}

/// All devices, why there are no others, and contradictions between the sources. `Display` prints
/// tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inventory {
    /// The visible-device variables.
    pub visibility: Visibility,
    /// The kernel's lists.
    pub topology: Topology,
    /// Each path, in order of preference.
    pub paths: Vec<PathResult>,
    /// Every device, ordered by path and ordinal.
    pub devices: Vec<Device>,
    /// Contradictions between the detection paths and the kernel, and invalid variables.
    pub contradictions: Vec<DeviceProblem>,
}

impl Inventory {
    /// The devices of one path.
    pub fn on(&self, path: DetectionPath) -> impl Iterator<Item = &Device> {
        self.devices
            .iter()
            .filter(move |device| device.path == path)
    }
}
