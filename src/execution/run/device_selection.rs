//! Selected devices: `--device` on the command line, and the processes of the suite that compute on
//! them.

use std::{collections::BTreeMap, str::FromStr};
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

/// The devices of one process of the suite: one of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessDevices {
    /// The kinds of which it runs the checks; empty for all of them.
    pub kinds: Vec<DeviceKind>,
    /// The index of each kind that has one.
    pub indices: BTreeMap<DeviceKind, u32>,
}

impl DeviceSelection {
    /// The processes that compute on `devices`, at least one. The second device of a kind has a
    /// separate process, so that all of them compute at the same time; kinds without an index are
    /// in the first process.
    pub fn processes(devices: &[Self]) -> Vec<ProcessDevices> {
        let mut kinds: Vec<DeviceKind> = Vec::new();
        let mut indices: BTreeMap<DeviceKind, Vec<u32>> = BTreeMap::new();
        for device in devices {
            if !kinds.contains(&device.kind) {
                kinds.push(device.kind);
            }
            let known = indices.entry(device.kind).or_default();
            // A device that is named twice computes once.
            known.extend(device.index.filter(|index| !known.contains(index)));
        }
        let processes = indices
            .values()
            .map(Vec::len)
            .max()
            .unwrap_or_default()
            // Without an index there is one process, for all devices.
            .max(1);
        (0..processes)
            .map(|process| {
                let indices: BTreeMap<DeviceKind, u32> = indices
                    .iter()
                    .filter_map(|(kind, known)| Some((*kind, *known.get(process)?)))
                    .collect();
                // Only the first has the kinds without an index: in the others their checks would
                // run again.
                let kinds = if process == 0 {
                    kinds.clone()
                } else {
                    indices.keys().copied().collect()
                };
                ProcessDevices { kinds, indices }
            })
            .collect()
    }
}

impl ProcessDevices {
    /// The value of `TESTGEN_DEVICE`: the devices with an index. None when no device has one.
    pub fn variable(&self) -> Option<String> {
        let named: Vec<String> = self
            .indices
            .iter()
            .map(|(kind, index)| format!("{kind}:{index}"))
            .collect();
        (!named.is_empty()).then(|| named.join(","))
    }

    /// A name for files of this process: `cuda-0-rocm-1`. None when no device has an index.
    pub fn file_name(&self) -> Option<String> {
        self.variable().map(|text| text.replace([':', ','], "-"))
    }
}

impl FromStr for DeviceSelection {
    type Err = DeviceSelectionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some((kind, index)) = text.split_once(':') else {
            return Ok(Self {
                kind: text.parse()?,
                index: None,
            });
        };
        let kind = kind.parse()?;
        let index = index
            .parse()
            .map_err(|_| DeviceSelectionError::Index(index.to_owned()))?;
        if kind == DeviceKind::Cpu {
            Err(DeviceSelectionError::Cpu)
        } else {
            Ok(Self {
                kind,
                index: Some(index),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_can_have_an_index() {
        let read = |text: &str| text.parse::<DeviceSelection>();
        assert_eq!(
            read("cpu"),
            Ok(DeviceSelection {
                kind: DeviceKind::Cpu,
                index: None
            })
        );
        assert_eq!(
            read("rocm:1"),
            Ok(DeviceSelection {
                kind: DeviceKind::Rocm,
                index: Some(1)
            })
        );
        assert_eq!(read("cpu:0"), Err(DeviceSelectionError::Cpu));
        assert_eq!(
            read("cuda:x"),
            Err(DeviceSelectionError::Index("x".to_owned()))
        );
        assert!(matches!(read("gpu"), Err(DeviceSelectionError::Kind(_))));
    }

    #[test]
    fn each_device_of_a_kind_has_a_process() {
        let processes = |texts: &[&str]| {
            let devices: Vec<DeviceSelection> = texts
                .iter()
                .map(|text| text.parse().expect("is a device"))
                .collect();
            let describe = |devices: ProcessDevices| {
                (devices.kinds.len(), devices.variable().unwrap_or_default())
            };
            DeviceSelection::processes(&devices)
                .into_iter()
                .map(describe)
                .collect::<Vec<_>>()
        };
        assert_eq!(processes(&[]), [(0, String::new())]);
        assert_eq!(processes(&["cpu", "rocm"]), [(2, String::new())]);
        assert_eq!(
            processes(&["rocm", "rocm:1", "cuda:0", "rocm:1"]),
            [(2, "cuda:0,rocm:1".to_owned())]
        );
        assert_eq!(
            processes(&["cpu", "rocm:3", "rocm:1", "cuda:0"]),
            [(3, "cuda:0,rocm:3".to_owned()), (1, "rocm:1".to_owned())]
        );
        let two = DeviceSelection::processes(
            &["cuda:0", "rocm:1"].map(|text| text.parse().expect("is a device")),
        );
        assert_eq!(two[0].file_name().as_deref(), Some("cuda-0-rocm-1"));
    }
}
