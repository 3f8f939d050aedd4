//! The programs that print tables of GPUs.

use serde::Serialize;
use testgen_types::DeviceKind;

/// A program that prints tables of GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuTool {
    /// NVIDIA's `nvidia-smi --query-gpu=... --format=csv`.
    NvidiaSmi,
    /// AMD's `rocm-smi --csv`.
    RocmSmi,
    /// AMD's `amd-smi metric --csv` and `amd-smi monitor --csv`.
    AmdSmi,
}

impl GpuTool {
    /// The name of the program.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NvidiaSmi => "nvidia-smi",
            Self::RocmSmi => "rocm-smi",
            Self::AmdSmi => "amd-smi",
        }
    }

    /// The kind of the GPUs that it reports.
    pub const fn device(self) -> DeviceKind {
        match self {
            Self::NvidiaSmi => DeviceKind::Cuda,
            Self::RocmSmi | Self::AmdSmi => DeviceKind::Rocm,
        }
    }
}
