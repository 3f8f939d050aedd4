//! The numbers by which cuBLASLt and hipBLASLt differ. `tests/declarations` compares AMD's with
//! the published headers.

use crate::{
    library::LibraryName,
    library_error::{LibraryError, StatusNames, check},
    number_type::NumberType,
    product::ComputeType,
};
use std::ffi::{c_int, c_void};
use testgen_device::SharedLibrary;

/// The numbers of a library.
#[derive(Debug)]
pub struct Dialect {
    /// The library.
    pub library: LibraryName,
    /// The first part of the names of its functions.
    pub prefix: &'static str,
    /// The operations: a matrix as it is, and transposed.
    pub operations: [c_int; 2],
    /// The compute types f32, TF32 and i32.
    pub computes: [c_int; 3],
    /// The attributes of an operation: the operations on A and on B.
    pub transposes: [c_int; 2],
    /// The attribute of an operation: the epilogue.
    pub epilogue: c_int,
    /// The attributes of an operation: the address of the bias, and its type.
    pub bias: [c_int; 2],
    /// The attributes of an operation: the addresses of the scales of A and of B.
    pub scales: [c_int; 2],
    /// The attribute of a layout: the matrices of a batch.
    pub batch_count: c_int,
    /// The attribute of a layout: elements from a matrix to the next.
    pub batch_stride: c_int,
    /// The attribute of a preference: bytes of workspace.
    pub workspace: c_int,
    /// The attribute of a preference: the ways to add parts of a sum, as bits; and the bit of f32.
    /// hipBLASLt has none.
    pub reductions: Option<(c_int, u32)>,
    /// Words of 8 bytes of an algorithm.
    pub algorithm_words: usize,
    /// Words of 8 bytes of a result of the heuristic.
    pub result_words: usize,
    /// The statuses by name.
    pub statuses: StatusNames,
    /// The statuses of a product that the library does not have.
    pub unsupported: &'static [c_int],
}

/// cuBLASLt, whose numbers are the same from CUDA 11 to 13.
pub const CUBLASLT: Dialect = Dialect {
    library: LibraryName::CublasLt,
    prefix: "cublasLt",
    operations: [0, 1],
    computes: [68, 77, 72],
    transposes: [3, 4],
    epilogue: 7,
    bias: [8, 26],
    scales: [17, 18],
    batch_count: 5,
    batch_stride: 6,
    workspace: 1,
    reductions: Some((3, 2)),
    algorithm_words: 8,
    result_words: 12,
    statuses: CUBLAS_STATUSES,
    unsupported: &[8, 15],
};

/// hipBLASLt, from ROCm 6.0.
pub const HIPBLASLT: Dialect = Dialect {
    library: LibraryName::HipblasLt,
    prefix: "hipblasLt",
    operations: [111, 112],
    computes: [2, 6, 9],
    transposes: [0, 1],
    epilogue: 2,
    bias: [3, 4],
    scales: [5, 6],
    batch_count: 0,
    batch_stride: 1,
    workspace: 1,
    reductions: None,
    algorithm_words: 3,
    result_words: 7,
    statuses: HIPBLAS_STATUSES,
    unsupported: &[7, 8],
};

/// `cublasStatus_t`.
pub(crate) const CUBLAS_STATUSES: StatusNames = &[
    (1, "CUBLAS_STATUS_NOT_INITIALIZED"),
    (3, "CUBLAS_STATUS_ALLOC_FAILED"),
    (7, "CUBLAS_STATUS_INVALID_VALUE"),
    (8, "CUBLAS_STATUS_ARCH_MISMATCH"),
    (11, "CUBLAS_STATUS_MAPPING_ERROR"),
    (13, "CUBLAS_STATUS_EXECUTION_FAILED"),
    (14, "CUBLAS_STATUS_INTERNAL_ERROR"),
    (15, "CUBLAS_STATUS_NOT_SUPPORTED"),
    (16, "CUBLAS_STATUS_LICENSE_ERROR"),
];

/// `hipblasStatus_t`.
const HIPBLAS_STATUSES: StatusNames = &[
    (1, "HIPBLAS_STATUS_NOT_INITIALIZED"),
    (2, "HIPBLAS_STATUS_ALLOC_FAILED"),
    (3, "HIPBLAS_STATUS_INVALID_VALUE"),
    (4, "HIPBLAS_STATUS_MAPPING_ERROR"),
    (5, "HIPBLAS_STATUS_EXECUTION_FAILED"),
    (6, "HIPBLAS_STATUS_INTERNAL_ERROR"),
    (7, "HIPBLAS_STATUS_NOT_SUPPORTED"),
    (8, "HIPBLAS_STATUS_ARCH_MISMATCH"),
    (9, "HIPBLAS_STATUS_HANDLE_IS_NULLPTR"),
    (10, "HIPBLAS_STATUS_INVALID_ENUM"),
    (11, "HIPBLAS_STATUS_UNKNOWN"),
];

/// The configuration of an algorithm of cuBLASLt: name, attribute, bytes.
pub(super) const CONFIGURATION: &[(&str, c_int, usize)] = &[
    ("id", 0, 4),
    ("tile", 1, 4),
    ("split", 2, 4),
    ("reduction", 3, 4),
    ("swizzling", 4, 4),
    ("option", 5, 4),
    ("stages", 6, 4),
    ("inner", 7, 2),
    ("cluster", 8, 2),
];

impl Dialect {
    pub(super) fn check(&self, function: &str, code: c_int) -> Result<(), LibraryError> {
        check(
            &format!("{}{function}", self.prefix),
            code,
            self.statuses,
            self.unsupported,
        )
    }

    /// The number of a compute type.
    pub fn compute(&self, compute: ComputeType) -> c_int {
        match compute {
            ComputeType::F32 => self.computes[0],
            ComputeType::Tf32 => self.computes[1],
            ComputeType::I32 => self.computes[2],
        }
    }

    /// The number of the type of alpha and beta, the same in both libraries.
    pub fn scalar(&self, compute: ComputeType) -> c_int {
        data_type(match compute {
            ComputeType::F32 | ComputeType::Tf32 => NumberType::F32,
            ComputeType::I32 => NumberType::I32,
        })
    }

    /// The number of a type of elements; `None` when the library does not have it.
    pub fn number(&self, number: NumberType) -> Option<c_int> {
        let is_amd = self.library == LibraryName::HipblasLt;
        Some(data_type(number))
            // The formats of gfx942 have numbers in `hipDataType` only.
            .filter(|_| is_amd || !matches!(number, NumberType::E4m3Fnuz | NumberType::E5m2Fnuz))
    }

    /// The version that the library reports.
    pub(super) fn version(&self, library: &SharedLibrary, handle: *mut c_void) -> String {
        if self.library == LibraryName::HipblasLt {
            // SAFETY: the type is the C signature of `hipblasLtGetVersion`.
            let function = unsafe {
                library.function::<unsafe extern "C" fn(*mut c_void, *mut c_int) -> c_int>(
                    "hipblasLtGetVersion",
                )
            };
            let mut version = 0;
            // SAFETY: `version` is writable for the whole call, and the handle came from the
            // library.
            let code = function.map(|function| unsafe { function(handle, &mut version) });
            // Major * 100000 + minor * 100 + patch.
            let text = format!(
                "{}.{}.{}",
                version / 100_000,
                version / 100 % 1000,
                version % 100
            );
            return if code == Some(0) {
                text
            } else {
                "unknown".to_owned()
            };
        }
        // SAFETY: the type is the C signature of `cublasLtGetVersion`.
        let function =
            unsafe { library.function::<unsafe extern "C" fn() -> usize>("cublasLtGetVersion") };
        // SAFETY: the function has no arguments.
        function.map_or_else(
            || "unknown".to_owned(),
            |function| cuda_version(unsafe { function() }),
        )
    }
}

/// A version of cuBLAS: major * 10000 + minor * 100 + patch since version 12, before that major *
/// 1000.
pub(crate) fn cuda_version(version: usize) -> String {
    let major = if version >= 100_000 { 10_000 } else { 1000 };
    format!(
        "{}.{}.{}",
        version / major,
        version % major / 100,
        version % 100
    )
}

/// `cudaDataType` and `hipDataType`, which have the same numbers up to the types of 8 bits without
/// infinities.
pub(crate) const fn data_type(number: NumberType) -> c_int {
    match number {
        NumberType::F32 => 0,
        NumberType::F16 => 2,
        NumberType::I8 => 3,
        NumberType::I32 => 10,
        NumberType::Bf16 => 14,
        NumberType::E4m3 => 28,
        NumberType::E5m2 => 29,
        NumberType::E4m3Fnuz => 1000,
        NumberType::E5m2Fnuz => 1001,
    }
}

#[cfg(test)]
mod tests {
    use super::cuda_version;

    #[test]
    fn versions_are_decoded() {
        assert_eq!(
            [
                cuda_version(130_100),
                cuda_version(120_804),
                cuda_version(11_804)
            ],
            ["13.1.0", "12.8.4", "11.8.4"]
        );
    }
}
