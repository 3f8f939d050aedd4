//! Every kernel of the rule for products, on sizes for which the rule may choose another one.

use super::{difference, tolerance};
use burn_flex::{Flex, FlexDevice};
use burn_tensor::{DType, Tensor, TensorData, TensorPrimitive, backend::Backend};
use testgen_gpu::{Gpu, GpuDevice, ProductKernel, product_by};

/// [rows, inner, columns]: whole tiles, odd sizes, and a single row.
const SIZES: &[[usize; 3]] = &[[32, 48, 64], [33, 17, 19], [1, 40, 24]];
const TYPES: &[DType] = &[DType::F32, DType::F16, DType::BF16];

/// The number of lines that [`agree`] prints with "agrees" on a device of `architecture`.
pub(super) fn count(architecture: &str) -> usize {
    // Without matrix units the third kernel is refused; with them it computes 16 bits only. The last one needs NVIDIA's copy engine. gfx1030 has none, but cubecl 0.10
    // says so, and the simulator computes what it is given; the rule does not choose the kernel there.
    let by_matrix_units = if matches!(architecture, "gfx1100" | "gfx1030") { 2 } else { 0 };
    SIZES.len() * (2 * TYPES.len() + by_matrix_units)
}

/// Compares every product with the host's and prints a line for each.
pub(super) fn agree(gpu: &GpuDevice, host: &FlexDevice) -> bool {
    let mut all = true;
    for &kernel in ProductKernel::ALL {
        for (&dtype, &size) in TYPES.iter().flat_map(|dtype| SIZES.iter().map(move |size| (dtype, size))) {
            let name = format!("{kernel:?} {size:?} {dtype:?}");
            let (left, right) = factors::<Gpu>(gpu, size, dtype);
            let product = product_by(kernel, primitive(left), primitive(right));
            let product = match product {
                Ok(product) => Tensor::<Gpu, 2>::from_primitive(TensorPrimitive::Float(product)),
                Err(error) => {
                    println!("refused {name}: {error}");
                    all &= matches!(kernel, ProductKernel::MatrixUnit | ProductKernel::LoadedMatrixUnit);
                    continue;
                }
            };
            let (left, right) = factors::<Flex>(host, size, dtype);
            let error = difference(&values(left.matmul(right)), &values(product));
            let agrees = error <= tolerance(dtype);
            all &= agrees;
            println!("{} {name}: {error:.2e}", if agrees { "agrees" } else { "DIFFERS" });
        }
    }
    all
}

fn factors<B: Backend>(
    device: &B::Device,
    [rows, inner, columns]: [usize; 3],
    dtype: DType,
) -> (Tensor<B, 2>, Tensor<B, 2>) {
    let matrix = |shape: [usize; 2], step: usize| {
        let values = (0..shape[0] * shape[1]).map(|index| (index * step % 101) as f32 / 50.0 - 1.0);
        Tensor::from_data(TensorData::new(values.collect(), shape), (device, dtype))
    };
    (matrix([rows, inner], 37), matrix([inner, columns], 53))
}

fn primitive(tensor: Tensor<Gpu, 2>) -> <Gpu as burn_tensor::backend::BackendTypes>::FloatTensorPrimitive {
    tensor.into_primitive().tensor()
}

fn values<B: Backend>(tensor: Tensor<B, 2>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}
