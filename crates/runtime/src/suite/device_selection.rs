//! `TESTGEN_DEVICE`: selects one of several devices of a kind.

use std::{collections::BTreeMap, str::FromStr};
use testgen_device::DeviceIndex;
use testgen_types::{DeviceKind, UnknownName};

/// The variable.
const DEVICE_VARIABLE: &str = "TESTGEN_DEVICE";

/// The selected devices. Of a kind without a selection, it is the usable device with the most free
/// memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SelectedDevices(BTreeMap<DeviceKind, DeviceIndex>);

/// The variable has an invalid value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{DEVICE_VARIABLE}: {problem}; write a comma list of cuda:0, rocm:1 (an ordinal), at most one of each kind"
)]
pub(super) struct DeviceVariableError {
    problem: String,
}

impl SelectedDevices {
    /// The selection in the environment.
    pub(super) fn from_environment() -> Result<Self, DeviceVariableError> {
        match std::env::var(DEVICE_VARIABLE) {
            Ok(text) => text.parse(),
            Err(std::env::VarError::NotPresent) => Ok(Self::default()),
            // Ignoring it would compute on another device than the selected one.
            Err(error @ std::env::VarError::NotUnicode(_)) => Err(DeviceVariableError {
                problem: error.to_string(),
            }),
        }
    }

    /// The selected device of `kind`.
    pub(super) fn index(&self, kind: DeviceKind) -> DeviceIndex {
        self.0.get(&kind).copied().unwrap_or_default()
    }
}

impl FromStr for SelectedDevices {
    type Err = DeviceVariableError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut selected = BTreeMap::new();
        for entry in text
            .split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
        {
            let (kind, index) = entry.split_once(':').unwrap_or((entry, ""));
            let kind: DeviceKind = kind
                .parse()
                .map_err(|error: UnknownName| problem(error.to_string()))?;
            let index = index
                .parse()
                .map_err(|_| problem(format!("`{entry}` has no ordinal")))?;
            // Accepting it would suggest that a part of the processor can be selected.
            if kind == DeviceKind::Cpu {
                return Err(problem(format!("`{entry}`: there is one host processor")));
            }
            if selected.insert(kind, DeviceIndex::Index(index)).is_some() {
                return Err(problem(format!("`{kind}` is selected twice")));
            }
        }
        Ok(Self(selected))
    }
}

fn problem(problem: String) -> DeviceVariableError {
    DeviceVariableError { problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_without_a_selection_are_automatic() {
        let selection: SelectedDevices = "rocm:1".parse().expect("is valid");
        assert_eq!(selection.index(DeviceKind::Rocm), DeviceIndex::Index(1));
        assert_eq!(selection.index(DeviceKind::Cuda), DeviceIndex::Auto);
        assert_eq!(
            "".parse::<SelectedDevices>(),
            Ok(SelectedDevices::default())
        );
        let both: SelectedDevices = "cuda:0, rocm:12".parse().expect("is valid");
        assert_eq!(both.index(DeviceKind::Cuda), DeviceIndex::Index(0));
        assert_eq!(both.index(DeviceKind::Rocm), DeviceIndex::Index(12));
    }

    #[test]
    fn an_invalid_value_is_an_error_with_an_example() {
        for text in [
            "rocm",
            "rocm:",
            "rocm:-1",
            "rocm:x",
            "gpu:0",
            "cpu:0",
            "rocm:0,rocm:1",
        ] {
            let error = text.parse::<SelectedDevices>().expect_err(text);
            assert!(error.to_string().contains("rocm:1"), "{error}");
        }
    }
}
