//! Every kernel of the rule for products, on sizes for which the rule may choose another one.

use super::{difference, filled, primitive, tolerance, typed, values};
use burn_flex::{Flex, FlexDevice};
use burn_tensor::{DType, Tensor, backend::Backend};
use testgen_gpu::{Gpu, GpuDevice, ProductKernel, product_by};

/// [rows, inner, columns]: whole tiles, odd sizes, and a single row.
const SIZES: &[[usize; 3]] = &[[32, 48, 64], [33, 17, 19], [1, 40, 24]];
const TYPES: &[DType] = &[DType::F32, DType::F16, DType::BF16];

/// The number of lines that [`agree`] prints with "agrees" on a device of `architecture`.
pub(super) fn count(architecture: &str) -> usize {
    // Without matrix units the fourth kernel is refused; with them it computes 16 bits only. gfx1030
    // has none, but cubecl 0.10 says so, and the simulator computes what it is given; the rule does
    // not choose the kernel there. The last kernel needs NVIDIA's Tensor Memory Accelerator.
    let by_matrix_units = if matches!(architecture, "gfx1100" | "gfx1030") {
        2
    } else {
        0
    };
    SIZES.len() * (3 * TYPES.len() + by_matrix_units)
}

/// Compares every product with the host's and prints a line for each.
pub(super) fn agree(gpu: &GpuDevice, host: &FlexDevice) -> bool {
    let mut all = true;
    for &kernel in ProductKernel::ALL {
        for (&dtype, &size) in TYPES
            .iter()
            .flat_map(|dtype| SIZES.iter().map(move |size| (dtype, size)))
        {
            let name = format!("{kernel:?} {size:?} {dtype:?}");
            let (left, right) = factors::<Gpu>(gpu, size, dtype);
            let product = product_by(kernel, primitive(left), primitive(right));
            let product = match product {
                Ok(product) => typed::<2>(product),
                Err(error) => {
                    println!("refused {name}: {error}");
                    all &= matches!(
                        kernel,
                        ProductKernel::MatrixUnit | ProductKernel::TmaMatrixUnit
                    );
                    continue;
                }
            };
            let (left, right) = factors::<Flex>(host, size, dtype);
            let error = difference(&values(left.matmul(right)), &values(product));
            let agrees = error <= tolerance(dtype);
            all &= agrees;
            println!(
                "{} {name}: {error:.2e}",
                if agrees { "agrees" } else { "DIFFERS" }
            );
        }
    }
    all
}

fn factors<B: Backend>(
    device: &B::Device,
    [rows, inner, columns]: [usize; 3],
    dtype: DType,
) -> (Tensor<B, 2>, Tensor<B, 2>) {
    (
        filled(device, [rows, inner], 37, dtype),
        filled(device, [inner, columns], 53, dtype),
    )
}
