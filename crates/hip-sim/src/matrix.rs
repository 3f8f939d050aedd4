//! Matrices in the memory of a device, as libraries of matrix products address them.

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
}

impl MatrixBatch {
    /// The element `index` elements after the first one.
    ///
    /// # Safety
    ///
    /// The element can be read.
    pub(crate) unsafe fn read(&self, index: usize) -> f64 {
        // SAFETY: as the caller promises; elements may have any alignment.
        unsafe {
            match self.number {
                MatrixType::F32 => f64::from(self.data.cast::<f32>().add(index).read_unaligned()),
                MatrixType::F16 => {
                    f16::from_bits(self.data.cast::<u16>().add(index).read_unaligned()).to_f64()
                }
                MatrixType::Bf16 => {
                    bf16::from_bits(self.data.cast::<u16>().add(index).read_unaligned()).to_f64()
                }
            }
        }
    }

    /// Writes the element `index` elements after the first one, rounded to the type.
    ///
    /// # Safety
    ///
    /// The element can be written.
    pub(crate) unsafe fn write(&self, index: usize, value: f64) {
        // SAFETY: as the caller promises; elements may have any alignment.
        unsafe {
            match self.number {
                MatrixType::F32 => self
                    .data
                    .cast::<f32>()
                    .add(index)
                    .write_unaligned(value as f32),
                MatrixType::F16 => self
                    .data
                    .cast::<u16>()
                    .add(index)
                    .write_unaligned(f16::from_f64(value).to_bits()),
                MatrixType::Bf16 => self
                    .data
                    .cast::<u16>()
                    .add(index)
                    .write_unaligned(bf16::from_f64(value).to_bits()),
            }
        }
    }
}
