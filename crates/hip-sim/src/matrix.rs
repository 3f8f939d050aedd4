//! Matrices and tensors in the memory of a device, as libraries address them.

use half::{bf16, f16};
use std::ffi::c_void;

/// The type of the elements of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixType {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16.
    Bf16,
}

/// A tensor with its strides.
#[derive(Debug, Clone)]
pub struct SimulatedTensor {
    /// The first element.
    pub data: *mut c_void,
    /// The type of the elements.
    pub number: MatrixType,
    /// The length of every dimension.
    pub lengths: Vec<usize>,
    /// Elements from an index of a dimension to the next.
    pub strides: Vec<usize>,
}

/// A batch of matrices stored by columns.
#[derive(Debug, Clone, Copy)]
pub struct MatrixBatch {
    /// The first element.
    pub data: *mut c_void,
    /// The type of the elements.
    pub number: MatrixType,
    /// Elements from a column to the next.
    pub leading: usize,
    /// Elements from a matrix to the next.
    pub stride: usize,
}

impl MatrixType {
    /// The smallest positive normal number.
    pub(crate) fn smallest_normal(self) -> f64 {
        match self {
            Self::F32 | Self::Bf16 => 2_f64.powi(-126),
            Self::F16 => 2_f64.powi(-14),
        }
    }

    /// The nearest number of this type to `value`, which may be rounded to f32 first.
    pub(crate) fn round(self, value: f64) -> f64 {
        match self {
            Self::F32 => f64::from(value as f32),
            Self::F16 => f16::from_f64(value).to_f64(),
            Self::Bf16 => bf16::from_f64(value).to_f64(),
        }
    }

    /// The bytes of an element.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// The element `index` elements after `data`.
    ///
    /// # Safety
    ///
    /// The element can be read.
    unsafe fn read(self, data: *const c_void, index: usize) -> f64 {
        // SAFETY: as the caller promises; elements may have any alignment.
        unsafe {
            match self {
                Self::F32 => f64::from(data.cast::<f32>().add(index).read_unaligned()),
                Self::F16 => {
                    f16::from_bits(data.cast::<u16>().add(index).read_unaligned()).to_f64()
                }
                Self::Bf16 => {
                    bf16::from_bits(data.cast::<u16>().add(index).read_unaligned()).to_f64()
                }
            }
        }
    }

    /// Writes the element `index` elements after `data`, rounded to the type.
    ///
    /// # Safety
    ///
    /// The element can be written.
    unsafe fn write(self, data: *mut c_void, index: usize, value: f64) {
        let half = |bits: u16| {
            // SAFETY: as the caller promises; elements may have any alignment.
            unsafe { data.cast::<u16>().add(index).write_unaligned(bits) };
        };
        match self {
            // SAFETY: as above.
            Self::F32 => unsafe {
                data.cast::<f32>().add(index).write_unaligned(value as f32);
            },
            Self::F16 => half(f16::from_f64(value).to_bits()),
            Self::Bf16 => half(bf16::from_f64(value).to_bits()),
        }
    }
}

impl SimulatedTensor {
    /// The index of the element at a position.
    pub(crate) fn index(&self, position: impl IntoIterator<Item = usize>) -> usize {
        position
            .into_iter()
            .zip(&self.strides)
            .map(|(index, stride)| index * stride)
            .sum()
    }

    /// The index of the last element; 0 for a tensor without elements.
    pub(crate) fn last(&self) -> usize {
        self.index(self.lengths.iter().map(|length| length.saturating_sub(1)))
    }

    /// The element `index` elements after the first one.
    ///
    /// # Safety
    ///
    /// The element can be read.
    pub(crate) unsafe fn read(&self, index: usize) -> f64 {
        // SAFETY: as the caller promises.
        unsafe { self.number.read(self.data, index) }
    }

    /// Writes the element `index` elements after the first one, rounded to the type.
    ///
    /// # Safety
    ///
    /// The element can be written.
    pub(crate) unsafe fn write(&self, index: usize, value: f64) {
        // SAFETY: as the caller promises.
        unsafe { self.number.write(self.data, index, value) };
    }
}

impl MatrixBatch {
    /// The element `index` elements after the first one.
    ///
    /// # Safety
    ///
    /// The element can be read.
    pub(crate) unsafe fn read(&self, index: usize) -> f64 {
        // SAFETY: as the caller promises.
        unsafe { self.number.read(self.data, index) }
    }

    /// Writes the element `index` elements after the first one, rounded to the type.
    ///
    /// # Safety
    ///
    /// The element can be written.
    pub(crate) unsafe fn write(&self, index: usize, value: f64) {
        // SAFETY: as the caller promises.
        unsafe { self.number.write(self.data, index, value) };
    }
}
