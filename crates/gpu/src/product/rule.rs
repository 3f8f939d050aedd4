//! The rule that chooses the kernel of a matrix product. No device is asked: the rule is a function
//! of sizes, types and features.

use crate::{runtime::GpuRuntime, tf32};
use burn_backend::{DType, TensorMetadata};
use burn_cubecl::tensor::CubeTensor;
use cubecl::ir::StorageType;

/// A kernel of cubek-matmul.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProductKernel {
    /// One thread for each element of the result; runs in every shape on every device. A right
    /// factor whose rows follow each other is copied into columns first.
    Naive,
    /// Threads for neighbouring columns, which read the right factor row by row.
    RowMajor,
    /// Tiles in registers, without matrix units.
    Unit,
    /// Tiles of the matrix units; they round f32 to TF32.
    MatrixUnit,
    /// The same, with tiles that the Tensor Memory Accelerator (TMA) of recent NVIDIA GPUs loads
    /// while others are multiplied.
    TmaMatrixUnit,
}

impl ProductKernel {
    /// All kernels that the rule may choose.
    pub const ALL: &[Self] = &[
        Self::Naive,
        Self::RowMajor,
        Self::Unit,
        Self::MatrixUnit,
        Self::TmaMatrixUnit,
    ];
}

/// Below this many multiplications the tiles of a faster kernel would be mostly empty.
const SMALL: usize = 1 << 25;
/// From this many multiplications on, faster loads are worth a kernel that takes five times as long
/// to compile.
const LARGE: usize = 1 << 26;
/// The side of a matrix unit's tile.
const TILE: usize = 16;

/// The sizes of a product: [..., rows, inner] times [..., inner, columns].
#[derive(Debug, Clone, Copy)]
pub(super) struct ProductSizes {
    pub(super) rows: usize,
    pub(super) inner: usize,
    pub(super) columns: usize,
}

impl ProductSizes {
    pub(super) fn new(left: &CubeTensor<GpuRuntime>, right: &CubeTensor<GpuRuntime>) -> Self {
        let (left, right) = (left.shape(), right.shape());
        let dimensions = left.num_dims();
        Self {
            rows: left[dimensions - 2],
            inner: left[dimensions - 1],
            columns: right[dimensions - 1],
        }
    }
}

/// The type in which matrix units may multiply factors of `dtype`; `tf32`: whether TF32 is
/// permitted.
pub(super) fn matrix_type(dtype: DType, tf32: bool) -> Option<StorageType> {
    match dtype {
        DType::F16 | DType::BF16 => Some(dtype.into()),
        // Without the permission f32 stays f32, because the matrix units would round it to TF32.
        DType::F32 if tf32 => Some(tf32::storage_type()),
        _ => None,
    }
}

/// The parts of a device that may compute a product.
#[derive(Debug, Clone, Copy)]
pub(super) struct Units {
    /// Matrix units for the element type.
    pub(super) matrix: bool,
    /// A Tensor Memory Accelerator that can load these factors.
    pub(super) tma: bool,
    /// Threads that can read the right factor row by row.
    pub(super) rows: bool,
}

/// The rule.
pub(super) fn choose(sizes: ProductSizes, dtype: DType, units: Units) -> ProductKernel {
    let ProductSizes {
        rows,
        inner,
        columns,
    } = sizes;
    let fills_a_tile = rows.min(inner).min(columns) >= TILE;
    let multiplications = rows * inner * columns;
    // The order is the rule: matrix units if they have the type, rows for few rows, tiles for large
    // products, one thread for each element otherwise.
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 if units.matrix && fills_a_tile => match units.tma {
            // Smaller products do not repay the longer compilation.
            true if multiplications >= LARGE => ProductKernel::TmaMatrixUnit,
            _ => ProductKernel::MatrixUnit,
        },
        // Tiles of a few rows would be mostly empty.
        _ if units.rows && (rows < TILE || multiplications < SMALL) => ProductKernel::RowMajor,
        DType::F16 | DType::BF16 | DType::F32 if multiplications >= SMALL => ProductKernel::Unit,
        _ => ProductKernel::Naive,
    }
}

#[cfg(test)]
mod tests {
    use super::{DType, ProductKernel, ProductSizes, Units, choose, matrix_type, tf32};

    fn kernel(
        rows: usize,
        inner: usize,
        columns: usize,
        dtype: DType,
        matrix: bool,
    ) -> ProductKernel {
        choose(
            ProductSizes {
                rows,
                inner,
                columns,
            },
            dtype,
            Units {
                matrix,
                tma: false,
                rows: false,
            },
        )
    }

    #[test]
    fn matrix_units_round_f32_only_where_tf32_is_permitted() {
        assert_eq!(matrix_type(DType::F32, false), None);
        assert_eq!(matrix_type(DType::F32, true), Some(tf32::storage_type()));
        assert_eq!(
            matrix_type(DType::F16, true),
            matrix_type(DType::F16, false)
        );
        for size in [1, 16, 512, 4096] {
            assert_ne!(
                kernel(size, size, size, DType::F32, false),
                ProductKernel::MatrixUnit
            );
        }
        assert_eq!(
            kernel(512, 512, 512, DType::F32, true),
            ProductKernel::MatrixUnit
        );
        assert_eq!(kernel(512, 15, 512, DType::F32, true), ProductKernel::Naive);
    }

    #[test]
    fn large_products_use_tiles_and_small_ones_do_not() {
        assert_eq!(
            kernel(128, 768, 768, DType::F32, false),
            ProductKernel::Unit
        );
        assert_eq!(
            kernel(128, 64, 128, DType::F32, false),
            ProductKernel::Naive
        );
        assert_eq!(
            kernel(128, 768, 768, DType::BF16, false),
            ProductKernel::Unit
        );
    }

    #[test]
    fn matrix_units_compute_16_bits_from_one_tile_on() {
        assert_eq!(
            kernel(16, 16, 16, DType::F16, true),
            ProductKernel::MatrixUnit
        );
        assert_eq!(kernel(16, 15, 16, DType::F16, true), ProductKernel::Naive);
        assert_eq!(kernel(16, 16, 16, DType::F16, false), ProductKernel::Naive);
    }

    #[test]
    fn tma_loads_large_products_for_matrix_units() {
        let kernel = |rows, matrix| {
            choose(
                ProductSizes {
                    rows,
                    inner: 768,
                    columns: 768,
                },
                DType::F16,
                Units {
                    matrix,
                    tma: true,
                    rows: true,
                },
            )
        };
        assert_eq!(kernel(128, true), ProductKernel::TmaMatrixUnit);
        assert_eq!(kernel(64, true), ProductKernel::MatrixUnit);
        assert_eq!(kernel(128, false), ProductKernel::Unit);
    }

    #[test]
    fn few_rows_and_small_sizes_read_the_rows_of_a_weight() {
        let kernel = |rows, inner, columns, dtype, matrix| {
            let sizes = ProductSizes {
                rows,
                inner,
                columns,
            };
            let units = Units {
                matrix,
                tma: true,
                rows: true,
            };
            choose(sizes, dtype, units)
        };
        let row_major = ProductKernel::RowMajor;
        assert_eq!(kernel(1, 2048, 128_256, DType::BF16, true), row_major);
        assert_eq!(kernel(37, 256, 1024, DType::F32, false), row_major);
        assert_eq!(
            kernel(37, 256, 1024, DType::F16, true),
            ProductKernel::MatrixUnit
        );
        assert_eq!(
            kernel(128, 768, 768, DType::F32, false),
            ProductKernel::Unit
        );
    }
}
