//! The kernel of a matrix product, where no library of the vendor computes it.
//!
//! The choice is a function of the sizes, the element type and the device's features, so that every
//! run on every machine with such a device tests the same kernels. burn's own choice goes by
//! measured time.

mod launch;
mod rule;
mod tma;

pub use rule::ProductKernel;

use crate::{
    device::GpuDevice,
    fused::{is_row_major_product, row_major_product},
    library_product,
    products::{self, Product, dtype},
    runtime::GpuRuntime,
    tf32,
};
use burn_cubecl::{kernel::matmul::init_matmul_output, tensor::CubeTensor};
use cubecl::{Runtime as _, client::ComputeClient, ir::StorageType};
use cubek::matmul::launch::Strategy;
use launch::{launch, matrix_unit_strategy, tma_strategy, unit_strategy};
use rule::{ProductSizes, Units, choose, matrix_type};
use testgen_types::Precision;

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
    if kernel == ProductKernel::TmaMatrixUnit && !(tma::can_load(&left) && tma::can_load(&right)) {
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
    // Before the choice: products of a library are recorded, too.
    products::record(&left, &right);
    // Before the rule: on the device of a library, every product of floats is the library's, as the
    // name of its column says.
    if let Some(output) = library_product::product(&left, &right) {
        return output;
    }
    let sizes = ProductSizes::new(&left, &right);
    let matrix = matrix_type(left.dtype, tf32::is_permitted())
        .is_some_and(|factor| has_matrix_units(&left.client, left.device, factor));
    let units = Units {
        matrix,
        tma: matrix && tma::can_load(&left) && tma::can_load(&right),
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
    // By the precision of the product and not by the permission of this thread, which lists kernels
    // and computes nothing.
    let factor = matrix_type(dtype, product.precision == Precision::Tf32);
    let matrix = factor.is_some_and(|factor| has_matrix_units(&client, device, factor));
    let units = Units {
        matrix,
        tma: tma::is_present(&client)
            && [&product.left, &product.right]
                .into_iter()
                .all(|factor| tma::can_load_rows(&factor.shape, &factor.strides, dtype)),
        // A recorded product has one type for both factors, so that the layout decides alone.
        rows: product.right.is_row_major(),
    };
    let sizes = ProductSizes {
        rows,
        inner,
        columns,
    };
    let strategy = match choose(sizes, dtype, units) {
        ProductKernel::RowMajor => return ROW_MAJOR.to_owned(),
        ProductKernel::Naive => Strategy::Naive,
        ProductKernel::Unit => Strategy::SimpleUnit(unit_strategy(&client, dtype)),
        ProductKernel::MatrixUnit => Strategy::SimpleCyclicCmma(matrix_unit_strategy()),
        ProductKernel::TmaMatrixUnit => Strategy::SpecializedTmaMma(tma_strategy()),
    };
    strategy.to_string()
}

fn has_matrix_units(
    client: &ComputeClient<GpuRuntime>,
    device: GpuDevice,
    factor: StorageType,
) -> bool {
    tf32::has_matrix_units(client, factor) && !device.lacks_matrix_units()
}
