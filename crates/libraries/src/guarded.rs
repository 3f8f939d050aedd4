//! Memory of a device with guards: bytes around a matrix, a tensor or a workspace that no
//! computation may change.

use crate::{
    gpu::{DeviceAddress, GpuError, LibraryGpu},
    number_type::NumberType,
    product::MatrixStorage,
};
use std::fmt;

/// Bytes of a guard. A multiple of 256, so that the matrix keeps the alignment of the allocation.
const GUARD: usize = 4096;

/// A matrix of a product in the memory of a device, between two guards of NaN.
pub(crate) struct Guarded<'gpu> {
    gpu: &'gpu dyn LibraryGpu,
    allocation: DeviceAddress,
    stored: MatrixStorage,
    bytes: Vec<u8>,
}

/// A byte outside of the elements that was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overwritten {
    /// Bytes before the first element: their distance to it.
    Before(usize),
    /// Bytes after the last element: the distance to its end.
    After(usize),
    /// An element between two columns, or between two matrices: its index.
    Between(usize),
    /// Bytes after the workspace: the distance to its end.
    AfterWorkspace(usize),
}

impl fmt::Display for Overwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before(bytes) => {
                write!(f, "memory {bytes} bytes before the result was overwritten")
            }
            Self::After(bytes) => {
                write!(f, "memory {bytes} bytes after the result was overwritten")
            }
            Self::AfterWorkspace(bytes) => write!(
                f,
                "memory {bytes} bytes after the workspace was overwritten"
            ),
            Self::Between(element) => write!(
                f,
                "element {element}, between columns of the result, was overwritten"
            ),
        }
    }
}

impl<'gpu> Guarded<'gpu> {
    /// Allocates a matrix; its elements, the padding between them and the guards are NaN.
    pub(crate) fn new(gpu: &'gpu dyn LibraryGpu, stored: MatrixStorage) -> Result<Self, GpuError> {
        let bytes = vec![stored.number.nan_byte(); stored.bytes() + 2 * GUARD];
        let allocation = gpu.allocate(bytes.len())?;
        let buffer = Self {
            gpu,
            allocation,
            stored,
            bytes,
        };
        gpu.upload(allocation, &buffer.bytes)?;
        Ok(buffer)
    }

    /// Allocates a dense tensor, which is stored as one column.
    pub(crate) fn tensor(
        gpu: &'gpu dyn LibraryGpu,
        number: NumberType,
        elements: usize,
    ) -> Result<Self, GpuError> {
        Self::new(gpu, MatrixStorage::vector(number, elements))
    }

    /// The address of the first element.
    pub(crate) fn address(&self) -> DeviceAddress {
        self.allocation.offset(GUARD)
    }

    /// Writes the elements: `value` returns the element of a matrix, row and column as stored.
    pub(crate) fn write(
        &mut self,
        value: impl Fn(usize, usize, usize) -> f64,
    ) -> Result<(), GpuError> {
        let (number, size) = (self.stored.number, self.stored.number.bytes());
        for (matrix, row, column) in positions(self.stored) {
            let start = GUARD + self.stored.index(matrix, row, column) * size;
            number.encode(
                value(matrix, row, column),
                &mut self.bytes[start..start + size],
            );
        }
        self.gpu.upload(self.allocation, &self.bytes)
    }

    /// Writes all bytes again as they were written last.
    pub(crate) fn restore(&self) -> Result<(), GpuError> {
        self.gpu.upload(self.allocation, &self.bytes)
    }

    /// Writes the bytes of another matrix of the same size, elements and guards.
    pub(crate) fn fill_from(&self, other: &Self) -> Result<(), GpuError> {
        self.gpu.upload(self.allocation, &other.bytes)
    }

    /// Reads the elements, row-major for each matrix, and the first byte outside of them that
    /// differs from what was written.
    pub(crate) fn read(&self) -> Result<(Vec<f64>, Option<Overwritten>), GpuError> {
        let mut bytes = vec![0; self.bytes.len()];
        self.gpu.download(self.allocation, &mut bytes)?;
        let size = self.stored.number.bytes();
        let values = row_major_positions(self.stored)
            .map(|(matrix, row, column)| {
                let start = GUARD + self.stored.index(matrix, row, column) * size;
                self.stored.number.decode(&bytes[start..])
            })
            .collect();
        Ok((values, self.overwritten(&bytes)))
    }

    /// Whether any byte differs from what was written.
    pub(crate) fn is_changed(&self) -> Result<bool, GpuError> {
        let mut bytes = vec![0; self.bytes.len()];
        self.gpu.download(self.allocation, &mut bytes)?;
        Ok(bytes != self.bytes)
    }

    fn overwritten(&self, bytes: &[u8]) -> Option<Overwritten> {
        let end = bytes.len() - GUARD;
        let differs = |index: &usize| bytes[*index] != self.bytes[*index];
        let before = (0..GUARD)
            // Away from the elements, so that the byte nearest to them is reported.
            .rev()
            .find(differs)
            .map(|index| Overwritten::Before(GUARD - index));
        let between = || {
            let size = self.stored.number.bytes();
            let elements =
                (0..self.stored.elements()).filter(|element: &usize| !self.is_element(*element));
            elements
                .flat_map(|element| {
                    (0..size).map(move |byte| (element, GUARD + element * size + byte))
                })
                .find_map(|(element, index)| {
                    differs(&index).then_some(Overwritten::Between(element))
                })
        };
        before
            .or_else(|| {
                (end..bytes.len())
                    .find(differs)
                    .map(|index| Overwritten::After(index - end))
            })
            .or_else(between)
    }

    /// Whether an index belongs to an element, and not to the padding between elements.
    fn is_element(&self, index: usize) -> bool {
        let within = if self.stored.batch > 1 {
            index % self.stored.stride
        } else {
            index
        };
        // The gap after a matrix counts as columns beyond its last one.
        within / self.stored.leading < self.stored.columns
            && within % self.stored.leading < self.stored.rows
    }
}

impl Drop for Guarded<'_> {
    fn drop(&mut self) {
        // An error here would have been returned by the copy before; a destructor cannot return it.
        let _ = self.gpu.release(self.allocation, self.bytes.len());
    }
}

/// The workspace of an algorithm, with a guard after it; all of it is NaN in f32, f16 and bf16, the
/// types of what algorithms keep there.
pub(crate) struct GuardedWorkspace<'gpu> {
    gpu: &'gpu dyn LibraryGpu,
    allocation: DeviceAddress,
    bytes: usize,
}

/// The byte of a workspace and its guard.
const WORKSPACE_FILL: u8 = 0xff;

impl<'gpu> GuardedWorkspace<'gpu> {
    pub(crate) fn new(gpu: &'gpu dyn LibraryGpu, bytes: usize) -> Result<Self, GpuError> {
        let allocation = gpu.allocate(bytes + GUARD)?;
        let workspace = Self {
            gpu,
            allocation,
            bytes,
        };
        gpu.upload(allocation, &vec![WORKSPACE_FILL; bytes + GUARD])?;
        Ok(workspace)
    }

    pub(crate) fn address(&self) -> DeviceAddress {
        self.allocation
    }

    /// The numbers at its start.
    pub(crate) fn read(&self, number: NumberType, count: usize) -> Result<Vec<f64>, GpuError> {
        let mut bytes = vec![0; count * number.bytes()];
        self.gpu.download(self.allocation, &mut bytes)?;
        let numbers = bytes.chunks(number.bytes());
        Ok(numbers.map(|bytes| number.decode(bytes)).collect())
    }

    /// The first byte after the workspace that was changed.
    pub(crate) fn overwritten(&self) -> Result<Option<Overwritten>, GpuError> {
        let mut guard = vec![0; GUARD];
        self.gpu
            .download(self.allocation.offset(self.bytes), &mut guard)?;
        Ok(guard
            .iter()
            .position(|byte| *byte != WORKSPACE_FILL)
            .map(Overwritten::AfterWorkspace))
    }
}

impl Drop for GuardedWorkspace<'_> {
    fn drop(&mut self) {
        // As for a matrix.
        let _ = self.gpu.release(self.allocation, self.bytes + GUARD);
    }
}

/// Matrix, row and column of every element, in the order of memory.
fn positions(stored: MatrixStorage) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..stored.batch).flat_map(move |matrix| {
        (0..stored.columns)
            .flat_map(move |column| (0..stored.rows).map(move |row| (matrix, row, column)))
    })
}

/// Matrix, row and column of every element, row-major.
fn row_major_positions(stored: MatrixStorage) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..stored.batch).flat_map(move |matrix| {
        (0..stored.rows)
            .flat_map(move |row| (0..stored.columns).map(move |column| (matrix, row, column)))
    })
}
