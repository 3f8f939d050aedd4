//! The quantities that are read from tables of GPUs, each in one unit whatever the program prints.

use serde::Serialize;

/// A quantity of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuMetric {
    /// The percentage of time in which a kernel ran.
    Utilization,
    /// Used memory in bytes.
    MemoryUsed,
    /// Power in watts.
    Power,
    /// The temperature in degrees Celsius: of AMD GPUs the hottest spot, if there is such a column.
    Temperature,
    /// The clock of the compute units in MHz; of AMD GPUs with several, the first one.
    Clock,
}

impl GpuMetric {
    /// Its name in tables, with the unit.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Utilization => "utilization (%)",
            Self::MemoryUsed => "memory (GiB)",
            Self::Power => "power (W)",
            Self::Temperature => "temperature (C)",
            Self::Clock => "clock (MHz)",
        }
    }
}
