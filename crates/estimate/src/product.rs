//! Matrix products: their results and the memory that they need besides.

use crate::{
    gpu_product,
    ledger::MemoryUse,
    matrix_product::MatrixProduct,
    tensor::{AllocatedTensor, ElementType, empty, result, workspace},
};

/// The matrix of a linear projection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProjectionMatrix {
    pub(crate) inner: u64,
    pub(crate) out: u64,
    pub(crate) bias: bool,
    pub(crate) order: Order,
}

/// The order of a matrix in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// torch's `nn.Linear`: a view of the mapped file, or transposed while it was loaded.
    Linear,
    /// Always [in, out]: transformers' `Conv1D`, and matrices that are sorted while they are
    /// loaded.
    Turned,
    /// Always a view of a matrix [out, in]: a tied embedding, or the kernel of a convolution.
    View,
}

impl ProjectionMatrix {
    pub(crate) fn linear(inner: u64, out: u64, bias: bool) -> Self {
        Self {
            inner,
            out,
            bias,
            order: Order::Linear,
        }
    }

    /// [..., inner] to [..., out].
    pub(crate) fn forward(self, x: AllocatedTensor) -> AllocatedTensor {
        x.machine().products.add(MatrixProduct {
            batch: 1,
            rows: rows(&x),
            inner: self.inner,
            columns: self.out,
        });
        self.forward_uncounted(x)
    }

    /// As [`ProjectionMatrix::forward`], for windows of a convolution that overlap: only some
    /// backends compute them as a product.
    pub(crate) fn forward_uncounted(self, x: AllocatedTensor) -> AllocatedTensor {
        let (mut dims, rows) = (x.dims().to_vec(), rows(&x));
        let y = self.product(x.reshape(&[rows, self.inner]), rows);
        if let Some(last) = dims.last_mut() {
            *last = self.out;
        }
        y.reshape(&dims)
    }

    fn product(self, x: AllocatedTensor, rows: u64) -> AllocatedTensor {
        let (machine, element) = (x.machine().clone(), x.element);
        if machine.is_gpu() {
            // The bias is added in place.
            return empty(&machine, &[rows, self.out], element);
        }
        let product = match element {
            ElementType::F32 => {
                let _x = x.contiguous();
                let y = empty(&machine, &[rows, self.out], element);
                let by_columns =
                    self.order == Order::View || (self.order == Order::Linear && machine.mapped);
                // The kernel for matrices [out, in] sums by columns and adds its sums to the result
                // at the end.
                let _sums = (by_columns && self.pays(rows))
                    .then(|| workspace(&machine, &[rows, self.out], element));
                return y;
            }
            ElementType::F16 if rounds_partial_sums([rows, self.inner, self.out]) => {
                self.product_in_single(x, rows)
            }
            ElementType::F16 => {
                let y = result(&machine, &[rows, self.out], element, MemoryUse::Activations);
                drop(x);
                y
            }
            ElementType::Bf16 => self.product_of_converted(x, rows),
        };
        if self.bias {
            product.like(element)
        } else {
            product
        }
    }

    /// The product of bf16, whose factors Flex converts to f32, and the result back.
    fn product_of_converted(self, x: AllocatedTensor, rows: u64) -> AllocatedTensor {
        let (machine, element) = (x.machine().clone(), x.element);
        let weight = [self.inner, self.out];
        let _turned = (self.order == Order::View).then(|| workspace(&machine, &weight, element));
        let factors = [x.dims(), &weight].map(|dims| workspace(&machine, dims, ElementType::F32));
        let dims = [rows, self.out];
        let sum = result(&machine, &dims, ElementType::F32, MemoryUse::Workspace);
        drop(factors);
        let y = empty(&machine, &dims, element);
        drop((sum, x));
        y
    }

    /// The product of both factors in f32, which is then rounded.
    fn product_in_single(self, x: AllocatedTensor, rows: u64) -> AllocatedTensor {
        let (machine, element) = (x.machine().clone(), x.element);
        let single = |dims: &[u64]| {
            // burn's Flex converts through 64 bits.
            let _double = workspace(&machine, &[2, dims[0], dims[1]], ElementType::F32);
            workspace(&machine, dims, ElementType::F32)
        };
        let left = single(x.dims());
        drop(x);
        let weight = [self.inner, self.out];
        let turned = (self.order == Order::View).then(|| workspace(&machine, &weight, element));
        let factors = [left, single(&weight)];
        drop(turned);
        let dims = [rows, self.out];
        let sum = result(&machine, &dims, ElementType::F32, MemoryUse::Workspace);
        drop(factors);
        let double = workspace(&machine, &[2, dims[0], dims[1]], ElementType::F32);
        let y = empty(&machine, &dims, element);
        drop((sum, double));
        y
    }

    /// As `testgen_nn` decides between its own kernel and a library's product.
    fn pays(self, rows: u64) -> bool {
        // The constants of `testgen_nn`'s kernel `transposed`; nothing of it is computed here.
        const MANY_ROWS: u64 = 256;
        const SOME_ROWS: u64 = 32;
        const FEW_PRODUCTS: u64 = 1 << 20;
        match rows {
            1 => true,
            _ if rows.saturating_mul(self.inner).saturating_mul(self.out) < FEW_PRODUCTS => false,
            2..=SOME_ROWS => true,
            _ => rows <= MANY_ROWS && self.out <= self.inner,
        }
    }
}

/// [batch, heads, rows, inner] times [batch, heads, inner, columns].
pub(crate) fn matmul(left: AllocatedTensor, right: AllocatedTensor) -> AllocatedTensor {
    let (machine, element) = (left.machine().clone(), left.element);
    let mut dims = left.dims().to_vec();
    machine.products.add(MatrixProduct {
        batch: dims[0].saturating_mul(dims[1]),
        rows: dims[2],
        inner: dims[3],
        columns: right.dims()[3],
    });
    let sizes = [dims[2], dims[3], right.dims()[3]];
    dims[3] = right.dims()[3];
    if !machine.is_gpu() && element == ElementType::F16 && rounds_partial_sums(sizes) {
        let factors = [left, right].map(|factor| factor.cast(ElementType::F32));
        let sum = result(&machine, &dims, ElementType::F32, MemoryUse::Workspace);
        drop(factors);
        return sum.cast(element);
    }
    if machine.is_gpu() {
        let product = empty(&machine, &dims, element);
        drop(gpu_product::ordered(left, right));
        return product;
    }
    if element != ElementType::Bf16 {
        return result(&machine, &dims, element, MemoryUse::Activations);
    }
    // In a contiguous order only while they are converted.
    let ordered = [left.contiguous(), right.contiguous()];
    let converted = ordered
        .each_ref()
        .map(|factor| workspace(&machine, factor.dims(), ElementType::F32));
    let sum = result(&machine, &dims, ElementType::F32, MemoryUse::Workspace);
    drop(converted);
    let product = empty(&machine, &dims, element);
    drop((sum, ordered));
    product
}

fn rows(x: &AllocatedTensor) -> u64 {
    let dims = x.dims();
    dims[..dims.len() - 1]
        .iter()
        .fold(1, |rows, length| rows.saturating_mul(*length))
}

/// Whether a product [rows, inner] times [inner, columns] in f16 on the host is computed in f32
/// instead, as `testgen_nn` decides.
fn rounds_partial_sums([rows, inner, columns]: [u64; 3]) -> bool {
    // The terms that Flex sums before it rounds, as `testgen_nn` has it.
    const SUMMED_AT_ONCE: u64 = 512;
    rows == 1 || columns == 1 || inner > SUMMED_AT_ONCE
}
