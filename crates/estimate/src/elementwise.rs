//! Operations on single elements and on rows: what each allocates on each backend.

use crate::tensor::{AllocatedTensor, ElementType, empty, workspace};

/// The activations by the f32 tensors that their composition of burn's operators holds besides its
/// input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ActivationMemory {
    /// Whether the backends compute it in one pass.
    fused: bool,
    temporaries: u64,
}

impl ActivationMemory {
    /// By its name in `config.json`.
    pub(crate) fn named(name: &str) -> Self {
        let (fused, temporaries) = match name {
            "linear" | "tanh" => (false, 0),
            "gelu" | "gelu_python" => (true, 0),
            "relu" | "silu" | "swish" | "quick_gelu" => (true, 1),
            "gelu_new" | "gelu_fast" | "gelu_pytorch_tanh" | "gelu_python_tanh"
            | "gelu_accurate" => (true, 2),
            // Unknown names are composed of as many operators as the largest known one.
            _ => (false, 2),
        };
        Self { fused, temporaries }
    }
}

impl AllocatedTensor {
    /// The same values as `element`.
    pub(crate) fn cast(self, element: ElementType) -> Self {
        if element == self.element {
            return self;
        }
        if self.machine().is_gpu() {
            return self.like(element);
        }
        let x = self.contiguous();
        // burn's Flex converts through 64 bits.
        let _double = workspace(x.machine(), &[2, elements(&x)], ElementType::F32);
        x.like(element)
    }

    /// A function of each element, written over the operand where that is possible.
    pub(crate) fn map(self) -> Self {
        if self.is_writable() {
            self
        } else {
            self.like(self.element)
        }
    }

    /// The sum or product with `other`, whose dimensions are the same or one.
    pub(crate) fn combine(self, other: Self) -> Self {
        let dims: Vec<u64> = self
            .dims()
            .iter()
            .zip(other.dims())
            .map(|(one, two)| *one.max(two))
            .collect();
        let same = self.dims() == other.dims();
        if self.machine().is_gpu() {
            // burn-cubecl writes over the first operand that nothing else holds and that has the
            // shape of the result.
            let fits = |x: &Self| x.is_unique() && x.dims() == dims;
            return match (fits(&self), fits(&other)) {
                (true, _) => self,
                (false, true) => other,
                (false, false) => empty(self.machine(), &dims, self.element),
            };
        }
        let broadcast = !same && self.element == ElementType::F32;
        // Flex copies a permuted or repeated operand first, so that it can use vector instructions.
        let repeats = self.dims() != dims;
        let copies = self.element == ElementType::F32 && other.dims() != dims;
        let left = if copies && (repeats || !self.is_contiguous()) {
            let copy = empty(self.machine(), &dims, self.element);
            drop(self);
            copy
        } else {
            self
        };
        let row = broadcast && other.dims().iter().rev().skip(1).all(|length| *length == 1);
        let scalars = broadcast && is_scalar_of_each_row(&other, &dims);
        let reads_in_order = (same && other.is_contiguous()) || row || scalars;
        if left.is_writable() && left.dims() == dims && reads_in_order {
            return left;
        }
        empty(left.machine(), &dims, left.element)
    }

    /// The activation of each element.
    pub(crate) fn activate(self, activation: ActivationMemory) -> Self {
        let element = self.element;
        if self.machine().is_gpu() && activation.fused {
            return self.contiguous().dense_like(element);
        }
        if activation.fused && element == ElementType::F32 {
            return self.overwritten();
        }
        let x = self.cast(ElementType::F32);
        // Freed at once: they only raise the peak.
        drop(empty(
            x.machine(),
            &[activation.temporaries, elements(&x)],
            ElementType::F32,
        ));
        x.map().cast(element)
    }

    /// softmax(self * scale + bias) over the last dimension.
    pub(crate) fn softmax(self, bias: Option<Self>) -> Self {
        let element = self.element;
        match (self.machine().is_gpu(), element) {
            (true, _) => {
                let weights = self.dense_like(element);
                // The kernel reads a bias without gaps.
                let _bias = bias.map(Self::contiguous);
                drop(self.in_rows());
                weights
            }
            (false, ElementType::F32) => self.overwritten(),
            (false, _) => {
                let scores = self.cast(ElementType::F32).map();
                let biased = match bias {
                    Some(bias) => scores.combine(bias),
                    None => scores,
                };
                let weights = biased.like(ElementType::F32);
                drop(biased);
                weights.cast(element)
            }
        }
    }

    /// Layer normalisation over the last dimension.
    pub(crate) fn layer_norm(self) -> Self {
        let element = self.element;
        match (self.machine().is_gpu(), element) {
            (true, _) => self.row_by_row(),
            (false, ElementType::F32) => self.overwritten(),
            // The CPU's kernel computes only f32, so other types are converted and rounded again.
            (false, _) => {
                let x = self.cast(ElementType::F32);
                let normal = x.like(ElementType::F32);
                drop(x);
                normal.cast(element)
            }
        }
    }

    /// Layer normalisation of `self` + `residual`.
    pub(crate) fn add_layer_norm(self, residual: Self) -> Self {
        match (self.machine().is_gpu(), self.element) {
            (true, element) => {
                let normal = self.dense_like(element);
                drop([self.in_rows(), residual.in_rows()]);
                normal
            }
            (false, ElementType::F32) => {
                let _residual = residual.contiguous();
                self.overwritten()
            }
            (false, _) => self.combine(residual).layer_norm(),
        }
    }

    /// Root-mean-square normalisation over the last dimension, with a weight in the type `weight`.
    pub(crate) fn rms_norm(self, weight: ElementType) -> Self {
        let element = self.element;
        let x = self.cast(weight);
        let normal = match (x.machine().is_gpu(), weight) {
            (true, _) => x.row_by_row(),
            (false, ElementType::F32) => x.overwritten(),
            (false, _) => {
                let x = x.cast(ElementType::F32);
                // The squares, until they are averaged.
                drop(x.like(ElementType::F32));
                let normal = x.cast(weight);
                // The weight is broadcast, so its product is a separate tensor.
                normal.like(weight)
            }
        };
        normal.cast(element)
    }

    /// The result of a GPU's kernel that reads rows, which are copied if they have different
    /// distances.
    fn row_by_row(self) -> Self {
        let result = self.dense_like(self.element);
        drop(self.in_rows());
        result
    }

    /// Written over by a kernel of `testgen-nn`.
    fn overwritten(self) -> Self {
        let x = self.contiguous();
        // Copied only where other tensors share the block.
        if x.is_unique() { x } else { x.like(x.element) }
    }

    /// A value that the host keeps, in f32.
    pub(crate) fn read(self) -> Option<Self> {
        // The host's memory is not the memory of the GPU, which copies rows in order.
        if self.machine().is_gpu() {
            drop(self.in_order());
            return None;
        }
        let data = self.contiguous();
        Some(if data.element == ElementType::F32 {
            data
        } else {
            data.like(ElementType::F32)
        })
    }
}

/// Whether `other` has one number for all last dimensions of `dims` together.
fn is_scalar_of_each_row(other: &AllocatedTensor, dims: &[u64]) -> bool {
    let pairs = dims.iter().zip(other.dims()).rev();
    let repeated = pairs
        .take_while(|(all, own)| **own == 1 && **all > 1)
        .count();
    let outer = dims.len() - repeated;
    repeated > 0 && dims[..outer] == other.dims()[..outer] && other.is_contiguous()
}

/// The concatenation of at least one tensor along a dimension; of one, itself.
pub(crate) fn cat(mut parts: Vec<AllocatedTensor>, dimension: usize) -> AllocatedTensor {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let first = &parts[0];
    let mut dims = first.dims().to_vec();
    dims[dimension] = parts
        .iter()
        .map(|part| part.dims()[dimension])
        .fold(0, u64::saturating_add);
    let (machine, element) = (first.machine().clone(), first.element);
    let joined = empty(&machine, &dims, element);
    // Flex copies every part that is not contiguous, beside the result.
    let parts = if machine.is_gpu() {
        parts
    } else {
        parts.into_iter().map(AllocatedTensor::contiguous).collect()
    };
    drop(parts);
    joined
}

pub(crate) fn elements(x: &AllocatedTensor) -> u64 {
    x.dims()
        .iter()
        .fold(1, |product, length| product.saturating_mul(*length))
}
