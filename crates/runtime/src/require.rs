//! `TESTGEN_REQUIRE`: the devices that must run. For these, a missing device, a fallback and a mock
//! are failures.

use std::{num::NonZeroU32, str::FromStr};
use testgen_device::Device;
use testgen_types::{DeviceKind, Requirement, RequirementError};

/// The variable.
pub(crate) const REQUIRE_VARIABLE: &str = "TESTGEN_REQUIRE";

/// The required devices. Without the variable no device is required.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RequiredDevices(Vec<Requirement>);

/// The variable has an invalid value.
#[derive(Debug, thiserror::Error)]
#[error("{REQUIRE_VARIABLE}: {0}")]
pub(crate) struct RequireError(String);

impl From<RequirementError> for RequireError {
    fn from(error: RequirementError) -> Self {
        Self(error.to_string())
    }
}

impl RequiredDevices {
    /// The requirements in the environment.
    pub(crate) fn from_environment() -> Result<Self, RequireError> {
        match std::env::var(REQUIRE_VARIABLE) {
            Ok(text) => text.parse(),
            Err(std::env::VarError::NotPresent) => Ok(Self::default()),
            // Ignoring it would drop the requirement, and an absent device would look like success.
            Err(error @ std::env::VarError::NotUnicode(_)) => Err(RequireError(error.to_string())),
        }
    }

    /// Requires one device of `kind`, not a simulation.
    pub(crate) fn for_kind(kind: DeviceKind) -> Self {
        Self(vec![Requirement {
            device: kind,
            count: NonZeroU32::MIN,
            simulated: false,
        }])
    }

    /// The requirement for `kind`.
    pub(crate) fn on(&self, kind: DeviceKind) -> Option<Requirement> {
        self.0
            .iter()
            .copied()
            .find(|requirement| requirement.device == kind)
    }

    /// The required kinds.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = DeviceKind> {
        self.0.iter().map(|requirement| requirement.device)
    }

    /// Why `device` does not meet the requirement for its kind; `None` when it does, or without a
    /// requirement.
    pub(crate) fn refuses(&self, device: &Device) -> Option<String> {
        let requirement = self.on(device.kind)?;
        // Without `-sim` a simulation would look like the hardware that the job requires.
        (device.simulated && !requirement.simulated).then(|| {
            let kind = device.kind;
            format!(
                "{REQUIRE_VARIABLE}={requirement} refuses `{}`, a simulation; {kind}-sim allows it",
                device.name
            )
        })
    }
}

impl FromStr for RequiredDevices {
    type Err = RequireError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // An empty variable counts as absent, so that a job can clear what its environment sets.
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let requirements = text.split(',').map(str::parse);
        let requirements: Vec<Requirement> = requirements.collect::<Result<_, _>>()?;
        // A kind that is listed twice with different counts has no single requirement.
        Requirement::confirm_distinct(&requirements)?;
        Ok(Self(requirements))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<RequiredDevices, RequireError> {
        text.parse()
    }

    #[test]
    fn a_list_is_parsed() {
        let requirements = parse("cpu, cuda:2,rocm-sim").unwrap();
        for (kind, written) in [
            (DeviceKind::Cpu, "cpu"),
            (DeviceKind::Cuda, "cuda:2"),
            (DeviceKind::Rocm, "rocm-sim"),
        ] {
            assert_eq!(requirements.on(kind).unwrap().to_string(), written);
        }
    }

    #[test]
    fn nothing_is_required_of_other_devices() {
        assert_eq!(parse("").unwrap(), RequiredDevices::default());
        assert_eq!(parse("rocm").unwrap().on(DeviceKind::Cuda), None);
    }

    #[test]
    fn an_invalid_list_is_an_error_that_lists_the_valid_entries() {
        for text in ["gpu", "rocm,", ",", "rocm,rocm:2", "cpu:2"] {
            let message = parse(text).unwrap_err().to_string();
            assert!(
                message.contains("TESTGEN_REQUIRE") && message.contains("rocm:2"),
                "{text}: {message}"
            );
        }
    }

    #[test]
    fn a_simulation_is_accepted_only_where_requested() {
        let mut device = testgen_device::host_processor(&testgen_device::System::host());
        device.kind = DeviceKind::Rocm;
        device.simulated = true;
        assert!(
            parse("rocm")
                .unwrap()
                .refuses(&device)
                .unwrap()
                .contains("rocm-sim")
        );
        assert_eq!(parse("rocm-sim").unwrap().refuses(&device), None);
        assert_eq!(parse("cuda").unwrap().refuses(&device), None);
        device.simulated = false;
        assert_eq!(parse("rocm").unwrap().refuses(&device), None);
        assert_eq!(parse("rocm-sim").unwrap().refuses(&device), None);
    }
}
