//! The devices of `--devices`: one of each report, which are then compared with each other.

use crate::results::Column;
use std::str::FromStr;
use testgen_types::{DeviceKind, UnknownName};

/// A device of the first report and one of the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DevicePair {
    /// The device of the first report.
    pub a: DeviceChoice,
    /// The device of the second report.
    pub b: DeviceChoice,
}

/// A device as `--devices` names it: `cuda`, `rocm`, `rocm-sim`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceChoice {
    /// The kind.
    pub device: DeviceKind,
    /// Chooses simulations of the device, and only those.
    pub simulated: bool,
}

impl DeviceChoice {
    pub(super) fn includes(self, column: &Column) -> bool {
        // A column without a name holds the checks for which there was no device.
        self.device == column.device && self.simulated == column.simulated && column.name.is_some()
    }
}

impl FromStr for DeviceChoice {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (device, simulated) = text.strip_suffix("-sim").map_or((text, false), |device| (device, true));
        Ok(Self { device: device.parse()?, simulated })
    }
}
