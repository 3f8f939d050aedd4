//! `TESTGEN_DEVICE`: which device of a kind the suite computes on, where the machine has several.

use std::{collections::BTreeMap, str::FromStr};
use testgen_contract::{DeviceKind, UnknownWord};
use testgen_device::DeviceIndex;

/// The variable.
const DEVICE_VARIABLE: &str = "TESTGEN_DEVICE";

/// The devices that are named; of every other kind the usable one with most free memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Chosen(BTreeMap<DeviceKind, DeviceIndex>);

/// The variable names no devices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{DEVICE_VARIABLE}: {problem}; write a comma list of cuda:0, rocm:1 (an ordinal), one of each kind at most")]
pub(super) struct ChosenError {
    problem: String,
}

impl Chosen {
    /// What the environment names.
    pub(super) fn from_environment() -> Result<Self, ChosenError> {
        match std::env::var(DEVICE_VARIABLE) {
            Ok(text) => text.parse(),
            Err(std::env::VarError::NotPresent) => Ok(Self::default()),
            Err(error @ std::env::VarError::NotUnicode(_)) => Err(ChosenError { problem: error.to_string() }),
        }
    }

    /// Which device of `kind` is meant.
    pub(super) fn index(&self, kind: DeviceKind) -> DeviceIndex {
        self.0.get(&kind).copied().unwrap_or_default()
    }
}

impl FromStr for Chosen {
    type Err = ChosenError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut chosen = BTreeMap::new();
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let problem = |problem: String| ChosenError { problem };
            let (kind, index) = entry.split_once(':').unwrap_or((entry, ""));
            let kind: DeviceKind = kind.parse().map_err(|error: UnknownWord| problem(error.to_string()))?;
            let index = index.parse().map_err(|_| problem(format!("`{entry}` has no ordinal")))?;
            if kind == DeviceKind::Cpu {
                return Err(problem(format!("`{entry}`: there is one host processor")));
            }
            if chosen.insert(kind, DeviceIndex::Index(index)).is_some() {
                return Err(problem(format!("`{kind}` is named twice")));
            }
        }
        Ok(Self(chosen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_that_are_not_named_are_left_open() {
        let chosen: Chosen = "rocm:1".parse().expect("can be read");
        assert_eq!(chosen.index(DeviceKind::Rocm), DeviceIndex::Index(1));
        assert_eq!(chosen.index(DeviceKind::Cuda), DeviceIndex::Auto);
        assert_eq!("".parse::<Chosen>(), Ok(Chosen::default()));
        let both: Chosen = "cuda:0, rocm:12".parse().expect("can be read");
        assert_eq!(both.index(DeviceKind::Cuda), DeviceIndex::Index(0));
        assert_eq!(both.index(DeviceKind::Rocm), DeviceIndex::Index(12));
    }

    #[test]
    fn nonsense_is_an_error_that_says_what_can_be_written() {
        for text in ["rocm", "rocm:", "rocm:-1", "rocm:x", "gpu:0", "cpu:0", "rocm:0,rocm:1"] {
            let error = text.parse::<Chosen>().expect_err(text);
            assert!(error.to_string().contains("rocm:1"), "{error}");
        }
    }
}
