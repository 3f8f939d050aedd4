//! Matrix products by the vendor's library, launched in the place of a kernel; the server of the
//! device calls the library.

use crate::{
    device::ProductSource,
    fused::{contiguous, swapped},
    library_call,
    library_launch::{LibraryCall, LibraryComputation},
    library_queue,
    products::{self, Factor, Product, dtype, precision},
    runtime::GpuTensor,
};
use burn_backend::TensorMetadata;
use burn_cubecl::kernel::{into_contiguous, matmul::init_matmul_output};

/// A factor is copied before a product is more calls than this.
const MOST_CALLS: usize = 4;

/// The product by the library; `None` if kernels compute it: on another device, for a type that is
/// not a floating-point number, and if there is nothing to add.
pub(crate) fn product(left: &GpuTensor, right: &GpuTensor) -> Option<GpuTensor> {
    Some(LibraryProduct::new(left, right)?.launch(None))
}

/// `x` [rows, in] times `weight` [in, out], plus `bias` `[out]`, by the library in one computation;
/// `None` where kernels compute products, and if there is nothing to add.
pub fn affine_by_library(x: &GpuTensor, weight: &GpuTensor, bias: &GpuTensor) -> Option<GpuTensor> {
    let product = LibraryProduct::new(x, weight)?;
    // Here and not in `new`, which `product` also calls: it has already recorded the product.
    products::record(x, weight);
    Some(product.launch(Some(into_contiguous(bias.clone()))))
}

/// `tensor`, copied if its matrices do not follow each other.
fn adjacent_matrices(tensor: GpuTensor) -> GpuTensor {
    let strides = tensor.meta.strides();
    let last = strides.len() - 1;
    // The transpose is made contiguous and turned back, so that the columns stay adjacent and
    // nothing is transposed in memory.
    // Matrices whose columns are adjacent stay so, because the library reads them as well.
    if last > 0 && strides[last] != 1 && strides[last - 1] == 1 {
        let rows = contiguous(swapped(tensor, last - 1, last));
        return swapped(rows, last - 1, last);
    }
    contiguous(tensor)
}

/// A product that the library computes.
struct LibraryProduct {
    left: GpuTensor,
    right: GpuTensor,
    output: GpuTensor,
    calls: Vec<LibraryCall>,
}

impl LibraryProduct {
    fn new(left: &GpuTensor, right: &GpuTensor) -> Option<Self> {
        if left.device.products() != ProductSource::Library {
            return None;
        }
        let precision = precision(left.dtype)?;
        let described = |left: &GpuTensor, right: &GpuTensor| Product {
            left: Factor::from_tensor(left),
            right: Factor::from_tensor(right),
            precision,
        };
        let (mut left, mut right) = (left.clone(), right.clone());
        if left.shape().num_elements() == 0 || right.shape().num_elements() == 0 {
            return None;
        }
        let output = init_matmul_output(&left, &right, dtype(precision));
        let place = Factor::from_tensor(&output);
        // Without a copy first: a transposed weight is a layout that the library reads as it is.
        let mut calls = library_call::calls(&described(&left, &right), &place, MOST_CALLS);
        if calls.is_none() {
            (left, right) = (adjacent_matrices(left), adjacent_matrices(right));
            // A contiguous factor can still take several calls, if the other one is repeated.
            calls = library_call::calls(&described(&left, &right), &place, usize::MAX);
        }
        Some(Self {
            left,
            right,
            output,
            calls: calls.expect("a contiguous factor needs no copy"),
        })
    }

    /// Queues it; the library adds `bias` to each row of the result.
    fn launch(self, bias: Option<GpuTensor>) -> GpuTensor {
        let Self {
            left,
            right,
            output,
            mut calls,
        } = self;
        for call in &mut calls {
            call.gemm.epilogue.bias = bias.is_some();
        }
        let computation = LibraryComputation::Product {
            calls,
            element: output.dtype.size(),
        };
        let library = left.device.opened_libraries().products;
        // In this order: a computation takes the first two buffers as inputs, the third as its
        // result.
        let tensors: Vec<_> = [&left, &right, &output].into_iter().chain(&bias).collect();
        library_queue::launch(library, computation, &tensors);
        output
    }
}
