//! A product in the numbers of rocBLAS.

use super::rocblas_numbers::RocblasNumbers as Numbers;
use crate::{
    blas::Buffers,
    gpu::DeviceAddress,
    product::{GemmCall, MatrixStorage, Operand},
};
use std::ffi::{c_int, c_void};

/// A product in the numbers of rocBLAS.
pub(super) struct RocblasCall {
    pub(super) operations: [c_int; 2],
    pub(super) sizes: [c_int; 3],
    pub(super) alpha: f32,
    pub(super) beta: f32,
    pub(super) a: RocblasMatrix,
    pub(super) b: RocblasMatrix,
    pub(super) c: RocblasMatrix,
    pub(super) d: RocblasMatrix,
    pub(super) batch: c_int,
}

/// A matrix in the numbers of rocBLAS.
pub(super) struct RocblasMatrix {
    pub(super) data: *mut c_void,
    pub(super) number: c_int,
    pub(super) leading: c_int,
    pub(super) stride: i64,
}

impl RocblasCall {
    /// `None` when rocBLAS does not have a type, a scale or an epilogue.
    pub(super) fn new(product: &GemmCall, buffers: Buffers) -> Option<Self> {
        if !product.is_plain() {
            return None;
        }
        let matrix = |operand, address: DeviceAddress| {
            let MatrixStorage {
                number,
                leading,
                stride,
                ..
            } = product.stored(operand);
            let (leading, stride) = (leading as c_int, stride as i64);
            Numbers::number(number).map(|number| RocblasMatrix {
                data: address.pointer(),
                number,
                leading,
                stride,
            })
        };
        Some(Self {
            operations: product
                .transposed
                .map(|transposed| Numbers::OPERATIONS[usize::from(transposed)]),
            sizes: [product.rows, product.columns, product.inner].map(|size| size as c_int),
            // rocBLAS reads the scales in the compute type, which is f32 for every product here.
            alpha: product.alpha as f32,
            beta: product.beta as f32,
            a: matrix(Operand::A, buffers.a)?,
            b: matrix(Operand::B, buffers.b)?,
            c: matrix(Operand::C, buffers.c)?,
            d: matrix(Operand::D, buffers.d)?,
            batch: product.batch as c_int,
        })
    }
}
