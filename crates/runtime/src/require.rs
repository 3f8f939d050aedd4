//! `TESTGEN_REQUIRE`: the devices that must run. For these, a missing device, a fallback and a mock
//! are failures.

use std::{fmt, str::FromStr};
use testgen_device::Device;
use testgen_types::{DeviceKind, UnknownName};

/// The variable.
pub(crate) const REQUIRE_VARIABLE: &str = "TESTGEN_REQUIRE";

/// The required devices. Without the variable no device is required.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RequiredDevices(Vec<RequiredDevice>);

/// One entry of the list: `cpu`, `cuda`, `rocm`, `rocm:2` for at least two, `rocm-sim` to accept a
/// simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequiredDevice {
    /// The kind of device.
    pub(crate) device: DeviceKind,
    /// The minimum number of devices.
    pub(crate) count: u32,
    /// Whether a simulated device is accepted.
    pub(crate) simulated: bool,
}

/// The variable has an invalid value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{REQUIRE_VARIABLE}: {problem}; write a comma list of cpu, cuda, rocm, rocm:2 (a count), rocm-sim (simulated)"
)]
pub(crate) struct RequireError {
    problem: String,
}

impl RequiredDevices {
    /// The requirements in the environment.
    pub(crate) fn from_environment() -> Result<Self, RequireError> {
        match std::env::var(REQUIRE_VARIABLE) {
            Ok(text) => text.parse(),
            Err(std::env::VarError::NotPresent) => Ok(Self::default()),
            // Ignoring it would drop the requirement, and an absent device would look like success.
            Err(error @ std::env::VarError::NotUnicode(_)) => Err(RequireError {
                problem: error.to_string(),
            }),
        }
    }

    /// Requires one device of `kind`, not a simulation.
    pub(crate) fn for_kind(kind: DeviceKind) -> Self {
        Self(vec![RequiredDevice {
            device: kind,
            count: 1,
            simulated: false,
        }])
    }

    /// The requirement for `kind`.
    pub(crate) fn on(&self, kind: DeviceKind) -> Option<RequiredDevice> {
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
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let mut requirements: Vec<RequiredDevice> = Vec::new();
        for entry in text.split(',') {
            let requirement: RequiredDevice = entry.trim().parse()?;
            if requirements
                .iter()
                .any(|other| other.device == requirement.device)
            {
                return Err(RequireError {
                    problem: format!("`{}` is required twice", requirement.device),
                });
            }
            requirements.push(requirement);
        }
        Ok(Self(requirements))
    }
}

impl FromStr for RequiredDevice {
    type Err = RequireError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (device, count) = text.split_once(':').unwrap_or((text, "1"));
        let (device, simulated) = match device.strip_suffix("-sim") {
            Some(device) => (device, true),
            None => (device, false),
        };
        let count = count.parse().ok().filter(|count| *count > 0);
        let count = count.ok_or_else(|| RequireError {
            problem: format!("`{text}` has no positive count"),
        })?;
        let device: DeviceKind = device.parse().map_err(|error: UnknownName| RequireError {
            problem: error.to_string(),
        })?;
        if device == DeviceKind::Cpu && (simulated || count > 1) {
            return Err(RequireError {
                problem: format!("`{text}`: cpu takes neither a count nor `-sim`"),
            });
        }
        Ok(Self {
            device,
            count,
            simulated,
        })
    }
}

impl fmt::Display for RequiredDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let simulated = if self.simulated { "-sim" } else { "" };
        write!(f, "{}{simulated}", self.device)?;
        if self.count == 1 {
            Ok(())
        } else {
            write!(f, ":{}", self.count)
        }
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
        let on = |kind| requirements.on(kind).unwrap();
        assert_eq!(
            on(DeviceKind::Cpu),
            RequiredDevice {
                device: DeviceKind::Cpu,
                count: 1,
                simulated: false
            }
        );
        assert_eq!(
            on(DeviceKind::Cuda),
            RequiredDevice {
                device: DeviceKind::Cuda,
                count: 2,
                simulated: false
            }
        );
        assert_eq!(
            on(DeviceKind::Rocm),
            RequiredDevice {
                device: DeviceKind::Rocm,
                count: 1,
                simulated: true
            }
        );
        assert_eq!(on(DeviceKind::Cuda).to_string(), "cuda:2");
    }

    #[test]
    fn nothing_is_required_of_other_devices() {
        assert_eq!(parse("").unwrap(), RequiredDevices::default());
        assert_eq!(parse("rocm").unwrap().on(DeviceKind::Cuda), None);
    }

    #[test]
    fn an_invalid_list_is_an_error_that_lists_the_valid_entries() {
        for text in [
            "gpu",
            "rocm,",
            ",",
            "rocm:0",
            "rocm:x",
            "rocm:",
            "rocm-simulated",
            "rocm,rocm:2",
            "cpu:2",
            "cpu-sim",
        ] {
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
