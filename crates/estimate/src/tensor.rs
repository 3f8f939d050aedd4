//! Tensors without elements: shape, strides and a counted block of memory, with the ownership of
//! the tensors that a model computes with.
//!
//! A block is freed when the last tensor that shares it is dropped, and an operation writes to its
//! operand if the backend does. So the code of layers determines the peak as it does in the model
//! itself.

use crate::{
    gpu_layout::{self, product},
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
    /// The most bytes of copies while weights are loaded.
    pub(crate) load: Cell<u64>,
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
            load: Cell::default(),
        })
    }

    /// Counts copies that are freed before others are made.
    pub(crate) fn copy_while_loading(&self, bytes: u64) {
        self.load.set(bytes.max(self.load.get()));
    }

    pub(crate) fn is_gpu(&self) -> bool {
        self.backend == Backend::Gpu
    }
}

/// A new tensor for activations; on a GPU its rows are aligned.
pub(crate) fn empty(machine: &Rc<Machine>, dims: &[u64], element: ElementType) -> AllocatedTensor {
    allocate(machine, dims, element, MemoryUse::Activations)
}

/// A new tensor for activations whose elements follow each other, as the fused kernels and
/// reductions of a GPU write them.
pub(crate) fn dense(machine: &Rc<Machine>, dims: &[u64], element: ElementType) -> AllocatedTensor {
    allocate_dense(machine, dims, element, MemoryUse::Activations)
}

/// A tensor for the result of a product.
pub(crate) fn result(
    machine: &Rc<Machine>,
    dims: &[u64],
    element: ElementType,
    part: MemoryUse,
) -> AllocatedTensor {
    let result = allocate(machine, dims, element, part);
    // Flex fills bytes with zeros and copies them to aligned memory.
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
    if !machine.is_gpu() {
        return allocate_dense(machine, dims, element, part);
    }
    let (bytes, strides) = gpu_layout::aligned(dims, element.bytes());
    AllocatedTensor {
        block: block(machine, bytes, part),
        dims: dims.to_vec(),
        strides,
        shifted: false,
        element,
    }
}

fn allocate_dense(
    machine: &Rc<Machine>,
    dims: &[u64],
    element: ElementType,
    part: MemoryUse,
) -> AllocatedTensor {
    let bytes = product(dims).saturating_mul(element.bytes());
    AllocatedTensor {
        block: block(machine, bytes, part),
        dims: dims.to_vec(),
        strides: gpu_layout::contiguous(dims),
        shifted: false,
        element,
    }
}

fn block(machine: &Rc<Machine>, bytes: u64, part: MemoryUse) -> Rc<MemoryBlock> {
    machine.ledger.grow(part, bytes);
    Rc::new(MemoryBlock {
        machine: Rc::clone(machine),
        bytes,
        part: Cell::new(part),
    })
}

impl AllocatedTensor {
    pub(crate) fn machine(&self) -> &Rc<Machine> {
        &self.block.machine
    }

    pub(crate) fn dims(&self) -> &[u64] {
        &self.dims
    }

    pub(crate) fn strides(&self) -> &[u64] {
        &self.strides
    }

    pub(crate) fn is_unique(&self) -> bool {
        // The model holds its weights, too.
        Rc::strong_count(&self.block) == 1 && self.block.part.get() != MemoryUse::Weights
    }

    /// A tensor that the host holds until a function ends.
    pub(crate) fn held_on_host(self) -> Option<Self> {
        // On a GPU it is free as soon as the device's thread, which works later than the host, has
        // launched the last kernel that reads it.
        (!self.machine().is_gpu()).then_some(self)
    }

    /// Whether the elements follow each other.
    pub(crate) fn is_contiguous(&self) -> bool {
        let expected = gpu_layout::contiguous(&self.dims);
        let mut pairs = self.dims.iter().zip(self.strides.iter().zip(&expected));
        // Dimensions of length one have any stride.
        pairs.all(|(length, (own, expected))| *length == 1 || own == expected)
    }

    /// Whether an operation may write its result here: on a GPU in any order of dimensions.
    pub(crate) fn is_writable(&self) -> bool {
        let in_order = self.machine().is_gpu() || (!self.shifted && self.is_contiguous());
        self.is_unique() && in_order
    }

    /// A new tensor of the same shape; on a GPU its rows are aligned.
    pub(crate) fn like(&self, element: ElementType) -> Self {
        empty(self.machine(), &self.dims, element)
    }

    /// As [`AllocatedTensor::like`], with elements that follow each other.
    pub(crate) fn dense_like(&self, element: ElementType) -> Self {
        dense(self.machine(), &self.dims, element)
    }

    /// The same elements one after the other; copied where they are not.
    pub(crate) fn contiguous(self) -> Self {
        if self.machine().is_gpu() {
            // Dimensions of length one count, too.
            let follows = self.strides == gpu_layout::contiguous(&self.dims);
            return if follows {
                self
            } else {
                self.dense_like(self.element)
            };
        }
        // Flex copies parts of a block: its kernels read the whole one.
        let covers = product(&self.dims).saturating_mul(self.element.bytes()) == self.block.bytes;
        let whole = !self.shifted && covers;
        if self.is_contiguous() && whole {
            self
        } else {
            self.like(self.element)
        }
    }

    /// On a GPU as [`AllocatedTensor::contiguous`], unless its rows have one distance from each
    /// other.
    pub(crate) fn in_rows(self) -> Self {
        if gpu_layout::has_rows(&self.dims, &self.strides) {
            self
        } else {
            self.contiguous()
        }
    }

    /// On a GPU with its dimensions in the order of memory, as kernels of images read them; their
    /// rows may have gaps.
    pub(crate) fn in_order(self) -> Self {
        if gpu_layout::is_aligned(&self.dims, &self.strides) {
            self
        } else {
            self.like(self.element)
        }
    }

    /// Another shape of as many elements; copied if the backend cannot view it so.
    pub(crate) fn reshape(mut self, dims: &[u64]) -> Self {
        let viewed = if self.machine().is_gpu() {
            gpu_layout::viewed(&self.dims, &self.strides, dims)
        } else {
            // Flex views only elements that begin with their block.
            let viewable = self.is_contiguous() && !self.shifted;
            viewable.then(|| gpu_layout::contiguous(dims))
        };
        let Some(strides) = viewed else {
            return empty(self.machine(), dims, self.element);
        };
        (self.dims, self.strides) = (dims.to_vec(), strides);
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

    /// `length` elements of a dimension: a view, unless a GPU could not begin or end there.
    pub(crate) fn narrow(mut self, dimension: usize, start: u64, length: u64) -> Self {
        let (whole, size) = (
            [self.dims[dimension], self.strides[dimension]],
            self.element.bytes(),
        );
        self.dims[dimension] = length;
        if self.machine().is_gpu() && !gpu_layout::is_view(whole, [start, length], size) {
            return self.like(self.element);
        }
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
