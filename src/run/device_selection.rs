//! Selected devices: `--device` on the command line, `TESTGEN_DEVICE` for the suite.

use super::RunError;
use std::str::FromStr;
use testgen_types::{DeviceKind, UnknownName};

/// One value of `--device`: `cpu`, `cuda`, `rocm`, or `rocm:1` for the second of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceSelection {
    /// The kind of device.
    pub kind: DeviceKind,
    /// Its index; without it the suite uses the usable device with the most free memory.
    pub index: Option<u32>,
}

/// An invalid device.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DeviceSelectionError {
    /// Unknown kind of device.
    #[error(transparent)]
    Kind(#[from] UnknownName),
    /// The text after the colon is not an index.
    #[error("`{0}` is not the index of a device: rocm:0 is the first, rocm:1 the second")]
    Index(String),
    /// The host processor has no index.
    #[error("there is one host processor: write cpu")]
    Cpu,
}

impl DeviceSelection {
    /// The value of `TESTGEN_DEVICE`: the devices with an index. None when no device has one.
    ///
    /// # Errors
    ///
    /// When two devices of one kind are selected: a run uses one device of each kind.
    pub fn variable(devices: &[Self]) -> Result<Option<String>, RunError> {
        let mut named: Vec<(DeviceKind, u32)> = Vec::new();
        for (kind, index) in devices.iter().filter_map(|device| Some((device.kind, device.index?))) {
            match named.iter().find(|(known, _)| *known == kind) {
                Some((_, known)) if *known != index => return Err(RunError::TwoDevices { kind }),
                Some(_) => {}
                None => named.push((kind, index)),
            }
        }
        let named: Vec<String> = named.iter().map(|(kind, index)| format!("{kind}:{index}")).collect();
        Ok((!named.is_empty()).then(|| named.join(",")))
    }
}

impl FromStr for DeviceSelection {
    type Err = DeviceSelectionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some((kind, index)) = text.split_once(':') else {
            return Ok(Self { kind: text.parse()?, index: None });
        };
        let kind = kind.parse()?;
        let index = index.parse().map_err(|_| DeviceSelectionError::Index(index.to_owned()))?;
        if kind == DeviceKind::Cpu { Err(DeviceSelectionError::Cpu) } else { Ok(Self { kind, index: Some(index) }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_can_have_an_index() {
        let read = |text: &str| text.parse::<DeviceSelection>();
        assert_eq!(read("cpu"), Ok(DeviceSelection { kind: DeviceKind::Cpu, index: None }));
        assert_eq!(read("rocm:1"), Ok(DeviceSelection { kind: DeviceKind::Rocm, index: Some(1) }));
        assert_eq!(read("cpu:0"), Err(DeviceSelectionError::Cpu));
        assert_eq!(read("cuda:x"), Err(DeviceSelectionError::Index("x".to_owned())));
        assert!(matches!(read("gpu"), Err(DeviceSelectionError::Kind(_))));
    }

    #[test]
    fn a_run_uses_one_device_of_a_kind() {
        let named = |texts: &[&str]| {
            let devices: Vec<DeviceSelection> = texts.iter().map(|text| text.parse().expect("is a device")).collect();
            DeviceSelection::variable(&devices)
        };
        assert_eq!(named(&["cpu", "rocm"]).expect("agree"), None);
        assert_eq!(named(&["rocm", "rocm:1", "cuda:0", "rocm:1"]).expect("agree").as_deref(), Some("rocm:1,cuda:0"));
        assert!(matches!(named(&["rocm:0", "rocm:1"]), Err(RunError::TwoDevices { kind: DeviceKind::Rocm })));
    }
}
