//! Tensors without elements: shape, strides and a counted block of memory, with the ownership of
//! the tensors that a model computes with.
//!
//! A block is freed when the last tensor that shares it is dropped, and an operation writes to its
//! operand if the backend does. So the code of layers determines the peak as it does in the model
//! itself.

use crate::{
    ledger::{Ledger, MemoryUse},
    matrix_product::ProductCounts,
};
use std::{cell::Cell, rc::Rc};

/// The type of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElementType {
    F32,
    F16,
    Bf16,
}

impl ElementType {
    pub(crate) const fn bytes(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }
}

/// The backend that computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// burn's Flex with the CPU kernels of `testgen-nn`.
    Host,
    /// burn-cubecl with the fused kernels of `testgen-gpu`.
    Gpu,
}

/// A device with its account of memory.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) backend: Backend,
    /// The type that the model computes in.
    pub(crate) element: ElementType,
    /// Whether weights stay in the mapped file, as [out, in].
    pub(crate) mapped: bool,
    pub(crate) ledger: Ledger,
    pub(crate) products: ProductCounts,
}

/// Memory that tensors share.
#[derive(Debug)]
struct MemoryBlock {
    machine: Rc<Machine>,
    bytes: u64,
    part: Cell<MemoryUse>,
}

impl Drop for MemoryBlock {
    fn drop(&mut self) {
        self.machine.ledger.shrink(self.part.get(), self.bytes);
    }
}

/// A tensor without elements.
#[derive(Debug, Clone)]
pub(crate) struct AllocatedTensor {
    block: Rc<MemoryBlock>,
    dims: Vec<u64>,
    strides: Vec<u64>,
    /// Whether it begins after the start of its block.
    shifted: bool,
    pub(crate) element: ElementType,
}

impl Machine {
    pub(crate) fn new(backend: Backend, element: ElementType, mapped: bool) -> Rc<Self> {
        Rc::new(Self {
            backend,
            element,
            mapped,
            ledger: Ledger::default(),
            products: ProductCounts::default(),
        })
    }

    pub(crate) fn is_gpu(&self) -> bool {
        self.backend == Backend::Gpu
    }
}

/// A new tensor for activations.
pub(crate) fn empty(machine: &Rc<Machine>, dims: &[u64], element: ElementType) -> AllocatedTensor {
    allocate(machine, dims, element, MemoryUse::Activations)
}

/// A tensor for the result of a product. Flex fills bytes with zeros and copies them to aligned
/// memory.
pub(crate) fn result(
    machine: &Rc<Machine>,
    dims: &[u64],
    element: ElementType,
    part: MemoryUse,
) -> AllocatedTensor {
    let result = allocate(machine, dims, element, part);
    if !machine.is_gpu() {
        drop(workspace(machine, dims, element));
    }
    result
}

/// A tensor of the model, which an operation reads and never writes over.
pub(crate) fn weight(machine: &Rc<Machine>, dims: &[u64], element: ElementType) -> AllocatedTensor {
    allocate(machine, dims, element, MemoryUse::Weights)
}

/// Memory of one operation.
pub(crate) fn workspace(
    machine: &Rc<Machine>,
    dims: &[u64],
    element: ElementType,
) -> AllocatedTensor {
    allocate(machine, dims, element, MemoryUse::Workspace)
}

fn allocate(
    machine: &Rc<Machine>,
    dims: &[u64],
    element: ElementType,
    part: MemoryUse,
) -> AllocatedTensor {
    let bytes = product(dims).saturating_mul(element.bytes());
    machine.ledger.grow(part, bytes);
    let block = Rc::new(MemoryBlock {
        machine: Rc::clone(machine),
        bytes,
        part: Cell::new(part),
    });
    AllocatedTensor {
        block,
        dims: dims.to_vec(),
        strides: strides(dims),
        shifted: false,
        element,
    }
}

fn product(dims: &[u64]) -> u64 {
    dims.iter()
        .fold(1, |product, length| product.saturating_mul(*length))
}

fn strides(dims: &[u64]) -> Vec<u64> {
    (0..dims.len())
        .map(|dimension| product(&dims[dimension + 1..]))
        .collect()
}

impl AllocatedTensor {
    pub(crate) fn machine(&self) -> &Rc<Machine> {
        &self.block.machine
    }

    pub(crate) fn dims(&self) -> &[u64] {
        &self.dims
    }

    pub(crate) fn is_unique(&self) -> bool {
        // The model holds its weights, too.
        Rc::strong_count(&self.block) == 1 && self.block.part.get() != MemoryUse::Weights
    }

    /// Whether the elements follow each other; dimensions of length one have any stride.
    pub(crate) fn is_contiguous(&self) -> bool {
        let expected = strides(&self.dims);
        let mut pairs = self.dims.iter().zip(self.strides.iter().zip(&expected));
        pairs.all(|(length, (own, expected))| *length == 1 || own == expected)
    }

    /// Whether an operation may write its result here.
    pub(crate) fn is_writable(&self) -> bool {
        self.is_unique() && !self.shifted && self.is_contiguous()
    }

    /// A new tensor of the same shape.
    pub(crate) fn like(&self, element: ElementType) -> Self {
        empty(self.machine(), &self.dims, element)
    }

    /// The same elements one after the other; copied where they are not.
    pub(crate) fn contiguous(self) -> Self {
        // Flex copies parts of a block: its kernels read the whole one.
        let covers = product(&self.dims).saturating_mul(self.element.bytes()) == self.block.bytes;
        let whole = !self.shifted && covers;
        if self.is_contiguous() && (whole || self.machine().is_gpu()) {
            self
        } else {
            self.like(self.element)
        }
    }

    /// Another shape of as many elements; copied if the backend cannot view it so.
    pub(crate) fn reshape(mut self, dims: &[u64]) -> Self {
        // Flex views only elements that begin with their block.
        let viewable = self.is_contiguous() && (!self.shifted || self.machine().is_gpu());
        if !viewable {
            return empty(self.machine(), dims, self.element);
        }
        (self.dims, self.strides) = (dims.to_vec(), strides(dims));
        self
    }

    /// A view with two dimensions exchanged.
    pub(crate) fn swap(mut self, one: usize, other: usize) -> Self {
        self.dims.swap(one, other);
        self.strides.swap(one, other);
        self
    }

    /// A view with its dimensions in another order.
    pub(crate) fn permute(mut self, order: &[usize]) -> Self {
        let pick =
            |values: &[u64]| -> Vec<u64> { order.iter().map(|index| values[*index]).collect() };
        (self.dims, self.strides) = (pick(&self.dims), pick(&self.strides));
        self
    }

    /// A view of `length` elements of a dimension.
    pub(crate) fn narrow(mut self, dimension: usize, start: u64, length: u64) -> Self {
        self.dims[dimension] = length;
        self.shifted |= start > 0;
        self
    }

    /// Counts the block as cache from now on.
    pub(crate) fn keep(&self) {
        let MemoryBlock {
            machine,
            bytes,
            part,
        } = &*self.block;
        machine
            .ledger
            .shrink(part.replace(MemoryUse::Cache), *bytes);
        machine.ledger.grow(MemoryUse::Cache, *bytes);
    }
}
