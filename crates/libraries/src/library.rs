//! The vendor libraries: their names, and the places where programs of a machine find them.

use crate::number_type::NumberType;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;
use testgen_device::{DeviceKind, NotOpened, SharedLibrary, System};
use testgen_engine::LibraryTuning;
use testgen_types::{Operator, excerpt};

/// A variable with directories, separated by colons, that are searched first: a Python environment
/// has cuBLAS in `site-packages/nvidia/cu13/lib`, where no loader looks.
pub const DIRECTORIES_VARIABLE: &str = "TESTGEN_LIBRARIES";

/// A vendor library with matrix products, or with convolutions and other operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LibraryName {
    /// cuBLAS, by `cublasGemmEx`, and `gemv` for vectors.
    Cublas,
    /// cuBLASLt, by `cublasLtMatmul`.
    CublasLt,
    /// rocBLAS, by `rocblas_gemm_ex`, and `gemv` for vectors.
    Rocblas,
    /// hipBLASLt, by `hipblasLtMatmul`.
    HipblasLt,
    /// cuDNN, by its functions for single operations.
    Cudnn,
    /// MIOpen, by its functions for single operations.
    Miopen,
}

/// The operators of cuDNN and MIOpen: the first one is an activation that MIOpen does not have, the
/// last ones are norms that cuDNN's functions for single operations do not have.
const DNN_OPERATORS: &[Operator] = &[
    Operator::Silu,
    Operator::Conv1d,
    Operator::Conv2d,
    Operator::Conv3d,
    Operator::ConvTranspose2d,
    Operator::Softmax,
    Operator::LogSoftmax,
    Operator::Relu,
    Operator::Relu6,
    Operator::Sigmoid,
    Operator::Tanh,
    Operator::MaxPool1d,
    Operator::MaxPool2d,
    Operator::MaxPool3d,
    Operator::AvgPool1d,
    Operator::AvgPool2d,
    Operator::AvgPool3d,
    Operator::Sum,
    Operator::Mean,
    Operator::Max,
    Operator::Min,
    Operator::Prod,
    Operator::BatchNorm,
    Operator::LayerNorm,
    Operator::GroupNorm,
    Operator::RmsNorm,
];

/// The operators of cuDNN.
const CUDNN_OPERATORS: &[Operator] = DNN_OPERATORS.split_at(DNN_OPERATORS.len() - 3).0;

/// The operators of MIOpen.
const MIOPEN_OPERATORS: &[Operator] = DNN_OPERATORS.split_at(1).1;

impl LibraryName {
    /// Every library.
    pub const ALL: &'static [Self] = &[
        Self::Cublas,
        Self::CublasLt,
        Self::Rocblas,
        Self::HipblasLt,
        Self::Cudnn,
        Self::Miopen,
    ];

    /// Its name with a version that it reported, for instance `cublas 12.8.4`.
    pub(crate) fn with_version(self, version: &str) -> String {
        format!("{self} {}", excerpt(version))
    }

    /// The variables of the user that tune it, as reports have them. NVIDIA's libraries have none.
    pub(crate) fn tuning(self) -> Vec<String> {
        match self {
            Self::Cublas | Self::CublasLt | Self::Cudnn => Vec::new(),
            Self::Rocblas | Self::HipblasLt => LibraryTuning::Products.state(),
            Self::Miopen => LibraryTuning::Convolutions.state(),
        }
    }

    /// Whether A and B of a product with results of this type are not read if alpha is 0, also if
    /// they have NaN.
    pub(crate) const fn skips_factors(self, result: NumberType) -> bool {
        match self {
            // "Compliant with Legacy Blas for special values alpha == 0, k == 0, beta == 1,
            // beta == 0" since 2.36 (CHANGELOG.md).
            Self::Rocblas => true,
            // "An implementation of BLAS" (introduction of its documentation). BLAS says that "if
            // ALPHA is zero the values in A and B do not affect the result" (sgemm of Reference
            // LAPACK), and has no types of 16 bits: of f16 and bf16 cuBLAS 13.1 on an H200 returns
            // 0 * NaN if beta is not 0.
            Self::Cublas => matches!(result, NumberType::F32),
            // The documentation of `cublasLtMatmul` and `hipblasLtMatmul` says nothing about it, and
            // some algorithms of cuBLASLt 13.1 on an H200 return 0 * NaN.
            Self::CublasLt | Self::HipblasLt => false,
            Self::Cudnn | Self::Miopen => false,
        }
    }

    /// The kind of device that it computes on.
    pub const fn device(self) -> DeviceKind {
        match self {
            Self::Cublas | Self::CublasLt | Self::Cudnn => DeviceKind::Cuda,
            Self::Rocblas | Self::HipblasLt | Self::Miopen => DeviceKind::Rocm,
        }
    }

    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cublas => "cublas",
            Self::CublasLt => "cublaslt",
            Self::Rocblas => "rocblas",
            Self::HipblasLt => "hipblaslt",
            Self::Cudnn => "cudnn",
            Self::Miopen => "miopen",
        }
    }

    /// The operators that it computes.
    pub const fn operators(self) -> &'static [Operator] {
        match self {
            Self::Cublas | Self::CublasLt | Self::Rocblas | Self::HipblasLt => {
                &[Operator::Matmul, Operator::BatchMatmul, Operator::Gemm]
            }
            Self::Cudnn => CUDNN_OPERATORS,
            Self::Miopen => MIOPEN_OPERATORS,
        }
    }

    /// The file names, the newest version first.
    const fn files(self) -> &'static [&'static str] {
        // Programs are linked to a name with a version; the one without is part of a development
        // package.
        match self {
            Self::Cublas => &[
                "libcublas.so.13",
                "libcublas.so.12",
                "libcublas.so.11",
                "libcublas.so",
            ],
            Self::CublasLt => &[
                "libcublasLt.so.13",
                "libcublasLt.so.12",
                "libcublasLt.so.11",
                "libcublasLt.so",
            ],
            Self::Rocblas => &["librocblas.so.5", "librocblas.so.4", "librocblas.so"],
            Self::HipblasLt => &["libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"],
            Self::Cudnn => &["libcudnn.so.9", "libcudnn.so.8", "libcudnn.so"],
            Self::Miopen => &["libMIOpen.so.1", "libMIOpen.so"],
        }
    }
}

impl fmt::Display for LibraryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A library that is not installed, or that does not load.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{library} is not found; searched: {}{}", .searched.join(", "), defects(.broken))]
pub struct LibraryNotFound {
    /// The name of the library or driver.
    pub library: &'static str,
    /// The directories and names that were tried.
    pub searched: Vec<String>,
    /// Files that exist and do not load, each with the loader's error.
    pub broken: Vec<String>,
}

fn defects(broken: &[String]) -> String {
    if broken.is_empty() {
        String::new()
    } else {
        format!("; {}", broken.join(", "))
    }
}

/// Opens a library.
///
/// # Errors
///
/// It is not found, or does not load.
pub(crate) fn open(
    system: &System,
    library: LibraryName,
) -> Result<SharedLibrary, LibraryNotFound> {
    open_files(system, library.as_str(), library.device(), library.files())
}

/// Opens the driver of a kind of GPU.
///
/// # Errors
///
/// It is not found, or does not load; a kind without a driver library.
pub(crate) fn open_driver(
    system: &System,
    device: DeviceKind,
) -> Result<SharedLibrary, LibraryNotFound> {
    match device {
        DeviceKind::Cuda => open_files(
            system,
            "the CUDA driver",
            device,
            &["libcuda.so.1", "libcuda.so"],
        ),
        DeviceKind::Rocm => {
            let files = ["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"];
            open_files(system, "the HIP runtime", device, &files)
        }
        DeviceKind::Cpu => Err(LibraryNotFound {
            library: "a driver of the CPU",
            searched: Vec::new(),
            broken: Vec::new(),
        }),
    }
}

fn open_files(
    system: &System,
    library: &'static str,
    device: DeviceKind,
    files: &[&str],
) -> Result<SharedLibrary, LibraryNotFound> {
    let [before, after] = directories(system, device);
    let by_loader = files.iter().flat_map(|file| system.loader_candidates(file));
    let candidates: Vec<PathBuf> = located(files, &before)
        .into_iter()
        .chain(by_loader)
        .chain(located(files, &after))
        .collect();
    SharedLibrary::open(&candidates).map_err(|NotOpened { broken }| {
        let loader = format!("the loader's path ({})", files.join(", "));
        let path = |path: &PathBuf| path.display().to_string();
        let searched = before
            .iter()
            .map(path)
            .chain([loader])
            .chain(after.iter().map(path))
            .collect();
        LibraryNotFound {
            library,
            searched,
            broken,
        }
    })
}

/// The paths of the files in each directory.
fn located(files: &[&str], directories: &[PathBuf]) -> Vec<PathBuf> {
    directories
        .iter()
        .flat_map(|directory| files.iter().map(move |file| directory.join(file)))
        .collect()
}

/// The directories that are searched before and after the loader's path.
fn directories(system: &System, device: DeviceKind) -> [Vec<PathBuf>; 2] {
    // ROCM_PATH comes first, because burn's backend opens HIP there.
    let named = system.variable(DIRECTORIES_VARIABLE).unwrap_or_default();
    let mut before: Vec<PathBuf> = named
        .split(':')
        .filter(|path| !path.is_empty())
        .map(|path| system.path(path))
        .collect();
    let root = |variable: &str| {
        system
            .variable(variable)
            .filter(|root| !root.is_empty())
            .map(|root| system.path(root))
    };
    let after = match device {
        DeviceKind::Rocm => {
            before.extend(
                ["ROCM_PATH", "HIP_PATH"]
                    .into_iter()
                    .filter_map(root)
                    .map(|root| root.join("lib")),
            );
            vec![system.path("/opt/rocm/lib")]
        }
        DeviceKind::Cuda | DeviceKind::Cpu => {
            let roots = ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(root);
            roots
                .chain([system.path("/usr/local/cuda")])
                .map(|root| root.join("lib64"))
                .collect()
        }
    };
    [before, after]
}

#[cfg(test)]
mod tests {
    use super::{LibraryName, open};
    use std::path::PathBuf;
    use testgen_device::System;

    #[test]
    fn an_error_names_the_searched_locations() {
        let system = System::fake(
            &PathBuf::from("/nowhere"),
            [
                ("ROCM_PATH", "/opt/rocm-6.4"),
                ("TESTGEN_LIBRARIES", "/a:/b"),
            ],
            [],
        );
        let error = open(&system, LibraryName::Rocblas)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        for part in [
            "/nowhere/a, /nowhere/b, /nowhere/opt/rocm-6.4/lib",
            "librocblas.so.5",
            "/nowhere/opt/rocm/lib",
        ] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
