//! Devices that a run is limited to: `--device` on the command line, `TESTGEN_DEVICE` for the suite.

use super::RunError;
use std::str::FromStr;
use testgen_contract::{DeviceKind, UnknownWord};

/// One value of `--device`: `cpu`, `cuda`, `rocm`, or `rocm:1` for the second of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChosenDevice {
    /// The kind of device.
    pub kind: DeviceKind,
    /// Which of them; without it the suite takes the usable one with most free memory.
    pub index: Option<u32>,
}

/// A device that cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ChosenDeviceError {
    /// The kind is none.
    #[error(transparent)]
    Kind(#[from] UnknownWord),
    /// What follows the colon is no ordinal.
    #[error("`{0}` is not the number of a device: rocm:0 is the first, rocm:1 the second")]
    Index(String),
    /// There is only one.
    #[error("there is one host processor: write cpu")]
    Cpu,
}

impl ChosenDevice {
    /// What the suite is told of the devices that have a number; nothing where none has.
    ///
    /// # Errors
    ///
    /// When two devices of a kind are named: a run computes on one of each.
    pub fn named(devices: &[Self]) -> Result<Option<String>, RunError> {
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

impl FromStr for ChosenDevice {
    type Err = ChosenDeviceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some((kind, index)) = text.split_once(':') else {
            return Ok(Self { kind: text.parse()?, index: None });
        };
        let kind = kind.parse()?;
        let index = index.parse().map_err(|_| ChosenDeviceError::Index(index.to_owned()))?;
        if kind == DeviceKind::Cpu { Err(ChosenDeviceError::Cpu) } else { Ok(Self { kind, index: Some(index) }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_may_have_a_number() {
        let read = |text: &str| text.parse::<ChosenDevice>();
        assert_eq!(read("cpu"), Ok(ChosenDevice { kind: DeviceKind::Cpu, index: None }));
        assert_eq!(read("rocm:1"), Ok(ChosenDevice { kind: DeviceKind::Rocm, index: Some(1) }));
        assert_eq!(read("cpu:0"), Err(ChosenDeviceError::Cpu));
        assert_eq!(read("cuda:x"), Err(ChosenDeviceError::Index("x".to_owned())));
        assert!(matches!(read("gpu"), Err(ChosenDeviceError::Kind(_))));
    }

    #[test]
    fn a_run_computes_on_one_device_of_a_kind() {
        let named = |texts: &[&str]| {
            let devices: Vec<ChosenDevice> = texts.iter().map(|text| text.parse().expect("is a device")).collect();
            ChosenDevice::named(&devices)
        };
        assert_eq!(named(&["cpu", "rocm"]).expect("agree"), None);
        assert_eq!(named(&["rocm", "rocm:1", "cuda:0", "rocm:1"]).expect("agree").as_deref(), Some("rocm:1,cuda:0"));
        assert!(matches!(named(&["rocm:0", "rocm:1"]), Err(RunError::TwoDevices { kind: DeviceKind::Rocm })));
    }
}
