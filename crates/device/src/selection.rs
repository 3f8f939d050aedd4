//! The selection of one device among the devices of a kind.

use crate::device::{Device, EngineKind};
use crate::device_unavailable::DeviceUnavailable;
use serde::{Serialize, Serializer};
use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;
use testgen_types::DeviceKind;

/// The requested device of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DeviceIndex {
    /// The device with the most free memory; on a tie, discrete before integrated.
    #[default]
    Auto,
    /// The device with this ordinal.
    Index(u32),
}

impl DeviceIndex {
    /// The ordinal, where one was chosen.
    pub fn chosen(self) -> Option<u32> {
        match self {
            Self::Auto => None,
            Self::Index(index) => Some(index),
        }
    }
}

impl fmt::Display for DeviceIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.pad("auto"),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

impl Serialize for DeviceIndex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text that is not a device index.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid device index `{given}`: write `auto` or a number such as `1`")]
pub struct InvalidDeviceIndex {
    /// The text as given.
    pub given: String,
}

impl FromStr for DeviceIndex {
    type Err = InvalidDeviceIndex;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // `parse` alone would also accept `+1`, and two texts would name one device.
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text {
            "auto" => Ok(Self::Auto),
            _ if is_number => text
                .parse()
                .map(Self::Index)
                .map_err(|_| InvalidDeviceIndex {
                    given: text.to_owned(),
                }),
            _ => Err(InvalidDeviceIndex {
                given: text.to_owned(),
            }),
        }
    }
}

/// The device of `kind` that `index` requests, for `engine`. Devices of other kinds are ignored.
///
/// Where two paths have a device with the same ordinal, the preferred path wins.
///
/// # Errors
///
/// There is no device of the kind or with the ordinal, or `engine` cannot use any of them.
pub fn select(
    devices: Vec<Device>,
    index: DeviceIndex,
    kind: DeviceKind,
    engine: EngineKind,
) -> Result<Device, DeviceUnavailable> {
    let mut devices: Vec<Device> = devices
        .into_iter()
        .filter(|device| device.kind == kind)
        .collect();
    // Then the first device with an ordinal is the one of the preferred path.
    devices.sort_by_key(|device| (device.path, device.index));
    if devices.is_empty() {
        return Err(DeviceUnavailable::new(
            kind,
            format!("no {kind} device was found"),
        ));
    }
    match index {
        DeviceIndex::Auto => automatic(devices, kind, engine),
        DeviceIndex::Index(index) => by_index(devices, index, kind, engine),
    }
}

fn by_index(
    devices: Vec<Device>,
    index: u32,
    kind: DeviceKind,
    engine: EngineKind,
) -> Result<Device, DeviceUnavailable> {
    let present: Vec<String> = devices
        .iter()
        .map(|device| format!("{} (`{}`)", device.label(), device.name))
        .collect();
    match devices.into_iter().find(|device| device.index == index) {
        None => Err(DeviceUnavailable::new(
            kind,
            format!(
                "there is no {kind}:{index}; there is {}",
                present.join(", ")
            ),
        )),
        Some(device) => match why_not(&device, engine) {
            // No other device in its place: its results would be taken for results of the one that
            // was named.
            Some(why) => Err(DeviceUnavailable::new(kind, why)),
            None => Ok(device),
        },
    }
}

fn automatic(
    devices: Vec<Device>,
    kind: DeviceKind,
    engine: EngineKind,
) -> Result<Device, DeviceUnavailable> {
    let (usable, unusable): (Vec<Device>, Vec<Device>) = devices
        .into_iter()
        .partition(|device| device.unusable_by(engine).is_none());
    let best = usable.into_iter().min_by_key(|device| {
        (
            // The size if a driver does not report what is free; a device without both comes last.
            Reverse(device.free_memory.or(device.total_memory).unwrap_or(0)),
            device.integrated,
            device.path,
            device.index,
        )
    });
    best.ok_or_else(|| DeviceUnavailable {
        kind,
        reasons: unusable
            .iter()
            .filter_map(|device| why_not(device, engine))
            .collect(),
    })
}

fn why_not(device: &Device, engine: EngineKind) -> Option<String> {
    let why = device.unusable_by(engine)?;
    Some(format!(
        "{} (`{}`) is unusable by burn: {why}",
        device.label(),
        device.name
    ))
}
