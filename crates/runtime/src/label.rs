//! The label of an endpoint: the model's name and the kind of device that it was requested on.

use std::fmt;
use testgen_types::DeviceKind;

/// Identifies an endpoint in log lines and messages, as `<model>-<device>`.
///
/// The device is a separate field, because a model's name may contain the name of a device:
/// replacing text in `rocm-bert-rocm` would rename the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    model: String,
    device: DeviceKind,
}

impl Label {
    /// The label of `model` on `device`.
    pub fn new(model: impl Into<String>, device: DeviceKind) -> Self {
        Self {
            model: model.into(),
            device,
        }
    }

    /// The label of the same model on another kind of device.
    #[must_use]
    pub fn on(&self, device: DeviceKind) -> Self {
        Self {
            model: self.model.clone(),
            device,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.model, self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_device_keeps_the_name_of_the_model() {
        let label = Label::new("rocm-bert", DeviceKind::Rocm);
        assert_eq!(label.to_string(), "rocm-bert-rocm");
        assert_eq!(label.on(DeviceKind::Cpu).to_string(), "rocm-bert-cpu");
    }
}
