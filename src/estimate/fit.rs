//! Whether an estimate fits on a device.

use super::row::EstimateRow;
use testgen_device::Device;
use testgen_estimate::Backend;
use testgen_types::{DeviceKind, Precision};

/// How an estimate compares with the memory of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It fits in the memory that is free now.
    Free,
    /// It fits in the memory of the device, but not in what is free now.
    Total,
    /// It does not fit.
    No,
    /// The device does not report its memory.
    Unknown,
}

impl Fit {
    /// The written form.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Free => "yes",
            Self::Total => "when empty",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }

    fn new(bytes: u64, free_and_total: Option<(u64, u64)>) -> Self {
        match free_and_total {
            None => Self::Unknown,
            Some((free, _)) if bytes <= free => Self::Free,
            Some((_, total)) if bytes <= total => Self::Total,
            Some(_) => Self::No,
        }
    }
}

/// A device with its memory, and what fits on it.
#[derive(Debug, Clone)]
pub struct DeviceRoom {
    /// The kind of device with its index.
    pub label: String,
    /// The name that its driver reports.
    pub name: String,
    /// Whether it is a software simulation.
    pub simulated: bool,
    /// Free and total bytes, if the device reports them.
    pub free_and_total: Option<(u64, u64)>,
    /// One for each precision of the estimates that the device can have.
    pub fits: Vec<(Precision, Fit)>,
}

impl DeviceRoom {
    pub(super) fn new(
        device: &Device,
        free_and_total: Option<(u64, u64)>,
        rows: &[EstimateRow],
    ) -> Self {
        let backend = if device.kind == DeviceKind::Cpu {
            Backend::Host
        } else {
            Backend::Gpu
        };
        let own = rows
            .iter()
            // AMD GPUs have no TF32 units, although the estimate for GPUs has a row for them.
            .filter(|row| row.backend == backend && row.precision.applies_on(device.kind));
        Self {
            label: device.label().to_string(),
            name: device.name.clone(),
            simulated: device.simulated,
            free_and_total,
            fits: own
                .map(|row| {
                    (
                        row.precision,
                        Fit::new(row.estimate.total(), free_and_total),
                    )
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fit;

    #[test]
    fn free_memory_counts_before_all_memory() {
        let fit = |bytes| Fit::new(bytes, Some((10, 20)));
        assert_eq!(
            [fit(10), fit(11), fit(20), fit(21)],
            [Fit::Free, Fit::Total, Fit::Total, Fit::No]
        );
        assert_eq!(Fit::new(1, None), Fit::Unknown);
    }
}
