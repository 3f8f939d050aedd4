//! The checks that a harness leaves out, with the reason.

use testgen_types::{Check, DeviceKind, Precision, Registration};

/// A check of the spec that is not run. It is listed as ignored, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skip {
    check: Check,
    device: Option<DeviceKind>,
    precision: Option<Precision>,
    reason: &'static str,
}

impl Skip {
    /// Skips `check` on every device and in every precision.
    pub const fn new(check: Check, reason: &'static str) -> Self {
        Self {
            check,
            device: None,
            precision: None,
            reason,
        }
    }

    /// Skips `check` on one kind of device.
    pub const fn on(device: DeviceKind, check: Check, reason: &'static str) -> Self {
        Self {
            check,
            device: Some(device),
            precision: None,
            reason,
        }
    }

    /// Skips `check` in one precision.
    pub const fn in_precision(precision: Precision, check: Check, reason: &'static str) -> Self {
        Self {
            check,
            device: None,
            precision: Some(precision),
            reason,
        }
    }

    /// Skips `check` on one kind of device, in one precision.
    pub const fn on_in_precision(
        device: DeviceKind,
        precision: Precision,
        check: Check,
        reason: &'static str,
    ) -> Self {
        Self {
            check,
            device: Some(device),
            precision: Some(precision),
            reason,
        }
    }

    /// The reason, if the skip applies.
    pub(crate) fn reason(&self, registration: Registration) -> Option<&'static str> {
        // A skip without a device or a precision holds for all of them.
        let applies = self.check == registration.check
            && self
                .device
                .is_none_or(|device| device == registration.device)
            && self
                .precision
                .is_none_or(|precision| precision == registration.precision);
        applies.then_some(self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINITE: Registration = Registration {
        device: DeviceKind::Rocm,
        check: Check::Finite,
        precision: Precision::F16,
    };

    #[test]
    fn a_skip_applies_where_every_restriction_holds() {
        let (rocm, f16, finite) = (DeviceKind::Rocm, Precision::F16, Check::Finite);
        let skips = [
            Skip::new(finite, "overflows"),
            Skip::on(rocm, finite, "overflows"),
            Skip::in_precision(f16, finite, "overflows"),
            Skip::on_in_precision(rocm, f16, finite, "overflows"),
        ];
        let applies =
            |registration| skips.map(|skip| skip.reason(registration) == Some("overflows"));
        assert_eq!(applies(FINITE), [true; 4]);
        assert_eq!(
            applies(Registration {
                device: DeviceKind::Cuda,
                ..FINITE
            }),
            [true, false, true, false]
        );
        assert_eq!(
            applies(Registration {
                precision: Precision::F32,
                ..FINITE
            }),
            [true, true, false, false]
        );
        assert_eq!(
            applies(Registration {
                check: Check::Placement,
                ..FINITE
            }),
            [false; 4]
        );
    }
}
