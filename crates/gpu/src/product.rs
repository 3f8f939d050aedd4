//! The kernel of a matrix product, where no library of the vendor computes it.
//!
//! The choice is a function of the sizes, the element type and the device's features, so that every
//! run on every machine with such a device tests the same kernels. burn's own choice goes by
//! measured time.

use crate::{
    device::GpuDevice,
    fused::{is_row_major_product, row_major_product},
    library_product,
    products::{self, Factor, Product, dtype},
    runtime::GpuRuntime,
    tf32,
};
use burn_backend::{DType, TensorMetadata};
use burn_cubecl::{kernel::matmul::init_matmul_output, tensor::CubeTensor};
use cubecl::{Runtime as _, client::ComputeClient, ir::StorageType};
use cubek::matmul::{
    components::tile::TileMatmulKind,
    definition::{MatmulElems, MatmulGlobalElems, MatmulSetupError},
    launch::{Strategy, launch_naive, launch_tiling},
    routines::{
        BlueprintStrategy, TileSizeSelection,
        simple::{SimpleAlgorithm, SimpleArgs},
        simple_unit::{SimpleUnitAlgorithm, SimpleUnitSelectionArgs},
        specialized::{SpecializedAlgorithm, SpecializedStrategy},
    },
};
use cubek::std::InputBinding;
use testgen_types::Precision;

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
struct ProductSizes {
    rows: usize,
    inner: usize,
    columns: usize,
}

impl ProductSizes {
    fn new(left: &CubeTensor<GpuRuntime>, right: &CubeTensor<GpuRuntime>) -> Self {
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
/// permitted. Without it, f32 stays f32: the matrix units would round it to TF32.
fn matrix_type(dtype: DType, tf32: bool) -> Option<StorageType> {
    match dtype {
        DType::F16 | DType::BF16 => Some(dtype.into()),
        DType::F32 if tf32 => Some(tf32::storage_type()),
        _ => None,
    }
}

/// The parts of a device that may compute a product.
#[derive(Debug, Clone, Copy)]
struct Units {
    /// Matrix units for the element type.
    matrix: bool,
    /// A Tensor Memory Accelerator that can load these factors.
    tma: bool,
    /// Threads that can read the right factor row by row.
    rows: bool,
}

/// The rule.
fn choose(sizes: ProductSizes, dtype: DType, units: Units) -> ProductKernel {
    let ProductSizes {
        rows,
        inner,
        columns,
    } = sizes;
    let fills_a_tile = rows.min(inner).min(columns) >= TILE;
    let multiplications = rows * inner * columns;
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 if units.matrix && fills_a_tile => match units.tma {
            true if multiplications >= LARGE => ProductKernel::TmaMatrixUnit,
            _ => ProductKernel::MatrixUnit,
        },
        // Tiles of a few rows would be mostly empty.
        _ if units.rows && (rows < TILE || multiplications < SMALL) => ProductKernel::RowMajor,
        DType::F16 | DType::BF16 | DType::F32 if multiplications >= SMALL => ProductKernel::Unit,
        _ => ProductKernel::Naive,
    }
}

/// `left` [..., rows, inner] times `right` [..., inner, columns], in the type of `left`, by
/// `kernel` whatever the sizes.
///
/// # Errors
///
/// The device, the type or the layout is not one that the kernel computes.
pub fn product_by(
    kernel: ProductKernel,
    left: CubeTensor<GpuRuntime>,
    right: CubeTensor<GpuRuntime>,
) -> Result<CubeTensor<GpuRuntime>, String> {
    // cubek-matmul 0.2 does not refuse it: the result would not be written.
    if kernel == ProductKernel::TmaMatrixUnit && !(tma_can_load(&left) && tma_can_load(&right)) {
        return Err(
            "the device has no Tensor Memory Accelerator that can load these factors".to_owned(),
        );
    }
    let output = init_matmul_output(&left, &right, left.dtype);
    if kernel == ProductKernel::RowMajor {
        row_major_product(&left, &right, &output)?;
        return Ok(output);
    }
    launch(kernel, left, right, output.clone()).map_err(|error| format!("{error:?}"))?;
    Ok(output)
}

/// The same product by the kernel that the rule chooses.
pub(crate) fn product(
    left: CubeTensor<GpuRuntime>,
    right: CubeTensor<GpuRuntime>,
) -> CubeTensor<GpuRuntime> {
    products::record(&left, &right);
    if let Some(output) = library_product::product(&left, &right) {
        return output;
    }
    let sizes = ProductSizes::new(&left, &right);
    let matrix = matrix_type(left.dtype, tf32::is_permitted())
        .is_some_and(|factor| has_matrix_units(&left.client, left.device, factor));
    let units = Units {
        matrix,
        tma: matrix && tma_can_load(&left) && tma_can_load(&right),
        rows: is_row_major_product(&left, &right),
    };
    let kernel = choose(sizes, left.dtype, units);
    // A kernel may refuse a layout; it does so before it launches, and by rule as well.
    product_by(kernel, left.clone(), right.clone())
        .or_else(|_| product_by(ProductKernel::Naive, left, right))
        .unwrap_or_else(|error| panic!("the matrix product was not launched: {error}"))
}

/// The name of [`ProductKernel::RowMajor`], which is not one of cubek's kernels.
pub const ROW_MAJOR: &str = "matmul_row_major";

/// cubek's name of the kernel that the rule chooses for `product` on `device`, with its options.
/// Where that kernel refuses the layout, the naive one computes the product.
pub fn kernel_by_rule(product: &Product, device: GpuDevice) -> String {
    let [rows, inner, columns] = product.sizes();
    let (dtype, client) = (dtype(product.precision), GpuRuntime::client(&device));
    let factor = matrix_type(dtype, product.precision == Precision::Tf32);
    let matrix = factor.is_some_and(|factor| has_matrix_units(&client, device, factor));
    let can_load = |factor: &Factor| tma_can_load_rows(&factor.shape, &factor.strides, dtype);
    let tma = has_tma(&client) && can_load(&product.left) && can_load(&product.right);
    let reads_rows = product.right.is_row_major();
    let strategy = match choose(
        ProductSizes {
            rows,
            inner,
            columns,
        },
        dtype,
        Units {
            matrix,
            tma,
            rows: reads_rows,
        },
    ) {
        ProductKernel::RowMajor => return ROW_MAJOR.to_owned(),
        ProductKernel::Naive => Strategy::Naive,
        ProductKernel::Unit => Strategy::SimpleUnit(unit_strategy(&client, dtype)),
        ProductKernel::MatrixUnit => Strategy::SimpleCyclicCmma(matrix_unit_strategy()),
        ProductKernel::TmaMatrixUnit => Strategy::SpecializedTmaMma(tma_strategy()),
    };
    strategy.to_string()
}

fn launch(
    kernel: ProductKernel,
    left: CubeTensor<GpuRuntime>,
    right: CubeTensor<GpuRuntime>,
    output: CubeTensor<GpuRuntime>,
) -> Result<(), MatmulSetupError> {
    let client = output.client.clone();
    let mut types = MatmulElems::from_globals(&MatmulGlobalElems {
        lhs: left.dtype.into(),
        rhs: right.dtype.into(),
        out: output.dtype.into(),
    });
    let (left_type, right_type) = (left.dtype, right.dtype);
    let left = InputBinding::new(left.binding(), left_type.into());
    let right = InputBinding::new(right.binding(), right_type.into());
    let output = output.binding();
    match kernel {
        ProductKernel::Naive => launch_naive::launch_ref(&client, left, right, output, &types),
        ProductKernel::Unit => {
            let strategy = unit_strategy(&client, left_type);
            launch_tiling::launch_ref(&client, left, right, output, &strategy, &mut types)
        }
        ProductKernel::MatrixUnit => launch_tiling::launch_ref(
            &client,
            left,
            right,
            output,
            &matrix_unit_strategy(),
            &mut types,
        ),
        ProductKernel::RowMajor => Err(MatmulSetupError::InvalidConfig(Box::new(
            "it is not a kernel of cubek",
        ))),
        ProductKernel::TmaMatrixUnit => {
            launch_tiling::launch_ref_tma(&client, left, right, output, &tma_strategy(), &mut types)
        }
    }
}

/// Whether the device has a Tensor Memory Accelerator and it can load the factor.
fn tma_can_load(factor: &CubeTensor<GpuRuntime>) -> bool {
    let (shape, strides) = (factor.meta.shape().as_slice(), factor.meta.strides());
    has_tma(&factor.client)
        && factor.handle.offset_start.is_none()
        && tma_can_load_rows(shape, strides, factor.dtype)
}

fn has_tma(client: &ComputeClient<GpuRuntime>) -> bool {
    !client.properties().features.tma.is_empty()
}

/// The Tensor Memory Accelerator requires rows that begin at multiples of 16 bytes. Batches are
/// left to the other kernel: cubek-matmul 0.2 (`launch/args.rs`) takes the last batch dimension's
/// stride for the stride of all batches together.
fn tma_can_load_rows(shape: &[usize], strides: &[usize], dtype: DType) -> bool {
    let [_, columns] = shape else { return false };
    strides == [*columns, 1] && (columns * dtype.size()).is_multiple_of(16)
}

fn unit_strategy(
    client: &ComputeClient<GpuRuntime>,
    dtype: DType,
) -> BlueprintStrategy<(), SimpleUnitAlgorithm> {
    BlueprintStrategy::Inferred(SimpleUnitSelectionArgs {
        tile_size: unit_tile(client, dtype),
    })
}

fn matrix_unit_strategy() -> BlueprintStrategy<(), SimpleAlgorithm> {
    BlueprintStrategy::Inferred(SimpleArgs {
        multi_rows: false,
        tile_matmul: TileMatmulKind::Cmma,
    })
}

fn tma_strategy() -> BlueprintStrategy<(), SpecializedAlgorithm> {
    BlueprintStrategy::Inferred(SpecializedStrategy {
        tile_matmul: TileMatmulKind::Mma,
    })
}

/// The largest tile that fits into shared memory: with waves of 64, large tiles of 16 bits ask for
/// 128 KiB, and a block of AMD's has 64 (cubek-matmul 0.2 does not check it before the launch).
fn unit_tile(client: &ComputeClient<GpuRuntime>, dtype: DType) -> TileSizeSelection {
    match (client.properties().hardware.plane_size_max, dtype) {
        (64.., DType::F16 | DType::BF16) => TileSizeSelection::MinTileSize,
        _ => TileSizeSelection::MaxTileSize,
    }
}

fn has_matrix_units(
    client: &ComputeClient<GpuRuntime>,
    device: GpuDevice,
    factor: StorageType,
) -> bool {
    tf32::has_matrix_units(client, factor) && !device.lacks_matrix_units()
}

#[cfg(test)]
mod tests {
    use super::{
        DType, ProductKernel, ProductSizes, Units, choose, matrix_type, tf32, tma_can_load_rows,
    };

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

    #[test]
    fn the_copy_engine_loads_contiguous_matrices_with_aligned_rows() {
        assert!(tma_can_load_rows(&[128, 768], &[768, 1], DType::F16));
        assert!(!tma_can_load_rows(&[128, 770], &[770, 1], DType::F16));
        assert!(!tma_can_load_rows(&[128, 768], &[1, 128], DType::F16));
        assert!(!tma_can_load_rows(
            &[2, 128, 768],
            &[98_304, 768, 1],
            DType::F16
        ));
    }
}
