//! The arguments of a product, validated as rocBLAS does.

use crate::handle::handle_at;
use crate::numbers::{
    ALGO_SOLUTION_INDEX, ALGO_STANDARD, F32, RocblasStatus, is_transposed, matrix_type,
};
use hip_sim::{MatrixBatch, SimulatedEpilogue, SimulatedProduct, SumOrder};
use std::ffi::{c_int, c_void};

/// A matrix as the arguments describe it: data, type, leading dimension and stride.
pub(crate) type GemmMatrix = (*const c_void, c_int, c_int, i64);

/// The arguments that all functions of products have.
pub(crate) struct GemmArguments {
    pub(crate) handle: *mut c_void,
    pub(crate) operations: [c_int; 2],
    pub(crate) sizes: [c_int; 3],
    pub(crate) scalars: [*const c_void; 2],
    pub(crate) a: GemmMatrix,
    pub(crate) b: GemmMatrix,
    pub(crate) c: GemmMatrix,
    pub(crate) d: GemmMatrix,
    pub(crate) batch: c_int,
    pub(crate) compute: c_int,
    pub(crate) algo: c_int,
}

/// The solutions that are listed: an index for each order of sums.
pub(crate) const SOLUTIONS: [i32; 3] = [2101, 2102, 4093];

impl GemmArguments {
    /// The product, with the algorithm of a solution index.
    ///
    /// # Safety
    ///
    /// The handle came from this library; alpha and beta can be read.
    pub(crate) unsafe fn product(&self, solution: i32) -> Result<SimulatedProduct, RocblasStatus> {
        // SAFETY: as the caller promises.
        let xf32 = unsafe { handle_at(self.handle)? }.xf32.get();
        let [op_a, op_b] = self.operations;
        let transposed = [is_transposed(op_a)?, is_transposed(op_b)?];
        let sizes @ [rows, columns, inner] = [
            size(self.sizes[0])?,
            size(self.sizes[1])?,
            size(self.sizes[2])?,
        ];
        let [rows_of_a, rows_of_b] = [
            if transposed[0] { inner } else { rows },
            if transposed[1] { columns } else { inner },
        ];
        if self.compute != F32 {
            return Err(RocblasStatus::NotImplemented);
        }
        let [alpha, beta] = self.scalars;
        if alpha.is_null() || beta.is_null() {
            return Err(RocblasStatus::InvalidPointer);
        }
        Ok(SimulatedProduct {
            sizes,
            batch: size(self.batch)?,
            transposed,
            // SAFETY: as the caller promises; they have the compute type, f32.
            alpha: unsafe { alpha.cast::<f32>().read() },
            // SAFETY: as above.
            beta: unsafe { beta.cast::<f32>().read() },
            a: matrix(self.a, rows_of_a)?,
            b: matrix(self.b, rows_of_b)?,
            c: matrix(self.c, rows)?,
            d: matrix(self.d, rows)?,
            xf32: xf32 && self.a.1 == F32,
            order: self.order(solution)?,
            scales: [1.0; 2],
            epilogue: SimulatedEpilogue::default(),
        })
    }

    fn order(&self, solution: i32) -> Result<SumOrder, RocblasStatus> {
        match self.algo {
            ALGO_STANDARD => Ok(SumOrder::Forward),
            // 0 is the solution that the library chooses.
            ALGO_SOLUTION_INDEX if solution == 0 => Ok(SumOrder::Forward),
            ALGO_SOLUTION_INDEX => {
                let listed = SOLUTIONS
                    .iter()
                    .zip(SumOrder::ALL)
                    .find(|(index, _)| **index == solution);
                listed
                    .map(|(_, order)| order)
                    .ok_or(RocblasStatus::InvalidValue)
            }
            _ => Err(RocblasStatus::InvalidValue),
        }
    }
}

fn size(size: c_int) -> Result<usize, RocblasStatus> {
    usize::try_from(size).map_err(|_| RocblasStatus::InvalidSize)
}

fn matrix(
    (data, number, leading, stride): GemmMatrix,
    rows: usize,
) -> Result<MatrixBatch, RocblasStatus> {
    let number = matrix_type(number)?;
    let leading = usize::try_from(leading)
        .ok()
        .filter(|leading| *leading >= rows.max(1));
    let stride = usize::try_from(stride).map_err(|_| RocblasStatus::InvalidSize)?;
    match (leading, data.is_null()) {
        (None, _) => Err(RocblasStatus::InvalidSize),
        (_, true) => Err(RocblasStatus::InvalidPointer),
        (Some(leading), false) => Ok(MatrixBatch {
            data: data.cast_mut(),
            number,
            leading,
            stride,
        }),
    }
}
