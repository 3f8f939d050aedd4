//! The devices of `--devices`: one of each report, which are then compared with each other.

use crate::results::read::Column;
use std::str::FromStr;
use testgen_engine::{EngineName, EngineNameError};
use testgen_types::{DeviceKind, UnknownName};

/// A device of the first report and one of the second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevicePair {
    /// The device of the first report.
    pub a: DeviceChoice,
    /// The device of the second report.
    pub b: DeviceChoice,
}

/// A device as `--devices` names it: `cuda`, `rocm`, `rocm-sim`, `rocm:1`, `rocm-sim:1`,
/// `cuda@torch`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceChoice {
    /// The kind.
    pub device: DeviceKind,
    /// Its index; without it every device of the kind.
    pub index: Option<u32>,
    /// Chooses simulations of the device, and only those.
    pub simulated: bool,
    /// The engine, or `None` for the native one.
    pub engine: Option<EngineName>,
}

impl DeviceChoice {
    pub(super) fn includes(&self, column: &Column) -> bool {
        // The native engine has no name in reports, so that both sides are `None` for it.
        let engine = self.engine.as_ref().and_then(EngineName::in_report);
        // A column without a name holds the checks for which there was no device.
        self.device == column.device
            && self.index.is_none_or(|index| column.index == Some(index))
            && self.simulated == column.simulated
            && engine == column.engine
            && column.name.is_some()
    }
}

/// An invalid device.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceChoiceError {
    /// Unknown kind of device.
    #[error(transparent)]
    Device(#[from] UnknownName),
    /// The text after the colon is not an index.
    #[error("`{0}` is not the index of a device: rocm:0 is the first, rocm:1 the second")]
    Index(String),
    /// The text after `@` is not the name of an engine.
    #[error(transparent)]
    Engine(#[from] EngineNameError),
}

impl FromStr for DeviceChoice {
    type Err = DeviceChoiceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // From the end of `rocm-sim:1@torch`, so that each rest is a shorter valid form.
        let (device, engine) = text
            .split_once('@')
            .map_or((text, None), |(device, engine)| (device, Some(engine)));
        let (device, index) = device
            .split_once(':')
            .map_or((device, None), |(device, index)| (device, Some(index)));
        let (device, simulated) = device
            .strip_suffix("-sim")
            .map_or((device, false), |device| (device, true));
        Ok(Self {
            device: device.parse()?,
            index: index
                .map(|index| {
                    index
                        .parse()
                        .map_err(|_| DeviceChoiceError::Index(index.to_owned()))
                })
                .transpose()?,
            simulated,
            engine: engine.map(str::parse).transpose()?,
        })
    }
}
