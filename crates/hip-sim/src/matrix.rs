//! Matrices and tensors in the memory of a device, as libraries address them.

use crate::float8::Float8Fnuz;
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
    /// 8 bits with 4 bits of exponent, as gfx942 has it. Only read.
    E4m3Fnuz,
    /// 8 bits with 5 bits of exponent, as gfx942 has it. Only read.
    E5m2Fnuz,
    /// A whole number of 8 bits. Only read.
    I8,
    /// A whole number of 32 bits.
    I32,
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
            Self::E4m3Fnuz => 2_f64.powi(-7),
            Self::E5m2Fnuz => 2_f64.powi(-15),
            Self::I8 | Self::I32 => 1.0,
        }
    }

    /// Whether it has 8 bits and a floating point.
    pub(crate) fn float8(self) -> Option<Float8Fnuz> {
        match self {
            Self::E4m3Fnuz => Some(Float8Fnuz::E4M3),
            Self::E5m2Fnuz => Some(Float8Fnuz::E5M2),
            _ => None,
        }
    }

    /// The nearest number of this type to `value`, which may be rounded to f32 first.
    pub(crate) fn round(self, value: f64) -> f64 {
        match self {
            // No result has 8 bits.
            Self::E4m3Fnuz | Self::E5m2Fnuz | Self::I8 | Self::I32 => value.round_ties_even(),
            Self::F32 => f64::from(value as f32),
            Self::F16 => f16::from_f64(value).to_f64(),
            Self::Bf16 => bf16::from_f64(value).to_f64(),
        }
    }

    /// The bytes of an element.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::E4m3Fnuz | Self::E5m2Fnuz | Self::I8 => 1,
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
                Self::I32 => f64::from(data.cast::<i32>().add(index).read_unaligned()),
                Self::I8 => f64::from(data.cast::<i8>().add(index).read()),
                Self::E4m3Fnuz => Float8Fnuz::E4M3.decode(data.cast::<u8>().add(index).read()),
                Self::E5m2Fnuz => Float8Fnuz::E5M2.decode(data.cast::<u8>().add(index).read()),
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
            // SAFETY: as above.
            Self::I32 => unsafe {
                data.cast::<i32>().add(index).write_unaligned(value as i32);
            },
            // The libraries refuse such results.
            Self::E4m3Fnuz | Self::E5m2Fnuz | Self::I8 => {}
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

    /// The numbers of all elements, the last dimension fastest.
    ///
    /// # Safety
    ///
    /// The elements can be read.
    pub unsafe fn numbers(&self) -> Vec<f64> {
        positions(&self.lengths)
            .into_iter()
            // SAFETY: as the caller promises.
            .map(|position| unsafe { self.read(self.index(position)) })
            .collect()
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

/// Every position of a shape, the last dimension fastest.
pub(crate) fn positions(lengths: &[usize]) -> Vec<Vec<usize>> {
    (0..lengths.iter().product())
        .map(|flat| position(flat, lengths))
        .collect()
}

/// The position of the element `flat` in a shape.
fn position(flat: usize, lengths: &[usize]) -> Vec<usize> {
    let mut rest = flat;
    let mut position = vec![0; lengths.len()];
    for (index, length) in position.iter_mut().zip(lengths).rev() {
        *index = rest % length;
        rest /= length;
    }
    position
}
