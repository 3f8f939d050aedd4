//! Most methods: integers, or small floats, in blocks that share a scale and a zero point.

use super::dense::DenseTensor;
use crate::float_type::FloatType;

/// A matrix whose values are (code - zero point) * scale.
pub(super) struct AffineMatrix {
    /// Rows and columns.
    pub(super) shape: [usize; 2],
    /// By rows.
    pub(super) codes: Vec<f32>,
    pub(super) scales: Vec<f32>,
    /// As many as scales; all are zero if there are none.
    pub(super) zeros: Option<Vec<f32>>,
    pub(super) blocks: ScaleBlocks,
    /// The type that the product is rounded to. The difference is exact in each of them: codes have
    /// 8 bits.
    pub(super) dtype: FloatType,
}

/// The scale of each value of a matrix: scales are a grid, by rows.
pub(super) struct ScaleBlocks {
    /// The rows that share a row of scales.
    rows: usize,
    /// The column of the grid, for each column of the matrix.
    columns: Vec<usize>,
    /// The sizes of the grid.
    grid: [usize; 2],
}

impl ScaleBlocks {
    /// A matrix of `shape` in equal blocks, one for each scale of `grid`; `size` is the size of a
    /// block if it is known, and the last blocks may be smaller then.
    pub(super) fn grid(
        shape: [usize; 2],
        grid: [usize; 2],
        size: Option<[usize; 2]>,
    ) -> Result<Self, String> {
        let fits = |size: [usize; 2]| {
            (0..2).all(|side| size[side] > 0 && shape[side].div_ceil(size[side]) == grid[side])
        };
        // A size that does not divide the matrix into this grid is not the size of this tensor.
        let size = size
            .filter(|size| fits(*size))
            .or_else(|| {
                let divides =
                    (0..2).all(|side| grid[side] > 0 && shape[side].is_multiple_of(grid[side]));
                divides.then(|| [shape[0] / grid[0], shape[1] / grid[1]])
            })
            .ok_or_else(|| format!("a matrix of shape {shape:?} has a grid of {grid:?} scales"))?;
        Ok(Self {
            rows: size[0],
            columns: (0..shape[1]).map(|column| column / size[1]).collect(),
            grid,
        })
    }

    /// Each of `rows` rows has its own scales, one for each of `count` groups of columns.
    pub(super) fn groups(
        group_of_column: Vec<usize>,
        rows: usize,
        count: usize,
    ) -> Result<Self, String> {
        match group_of_column.iter().max() {
            Some(&largest) if largest >= count => Err(format!(
                "a column is in group {largest}, but there are {count}"
            )),
            _ => Ok(Self {
                rows: 1,
                columns: group_of_column,
                grid: [rows, count],
            }),
        }
    }

    fn scale_of(&self, row: usize, column: usize) -> usize {
        row / self.rows * self.grid[1] + self.columns[column]
    }
}

impl AffineMatrix {
    /// # Errors
    ///
    /// If the numbers of codes, scales and zero points do not follow from the sizes.
    pub(super) fn dequantize(&self) -> Result<DenseTensor, String> {
        let [rows, columns] = self.shape;
        let scales = self.blocks.grid.iter().product::<usize>();
        // All sizes come from files, and the indices below must not panic.
        let is_complete = self.codes.len() == rows * columns
            && self.blocks.columns.len() == columns
            && self.blocks.grid[0] == rows.div_ceil(self.blocks.rows)
            && self.scales.len() == scales
            && self
                .zeros
                .as_ref()
                .is_none_or(|zeros| zeros.len() == scales);
        if !is_complete {
            return Err(format!(
                "a matrix of shape {:?} with a grid of {:?} scales has {} codes, {} scales, {} zero points and {} columns in groups",
                self.shape,
                self.blocks.grid,
                self.codes.len(),
                self.scales.len(),
                self.zeros.as_ref().map_or(0, Vec::len),
                self.blocks.columns.len()
            ));
        }
        Ok(DenseTensor::rounded(
            self.dtype,
            vec![rows, columns],
            (0..rows * columns).map(|index| {
                let scale = self.blocks.scale_of(index / columns, index % columns);
                let zero = self.zeros.as_ref().map_or(0.0, |zeros| zeros[scale]);
                // The difference has at most 9 bits and a 16-bit scale at most 11, so that f32 has
                // their product exactly. The type's rounding is then the only one, as in the
                // libraries.
                (self.codes[index] - zero) * self.scales[scale]
            }),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::{AffineMatrix, FloatType, ScaleBlocks};

    /// Two rows of four columns in two groups.
    fn matrix() -> AffineMatrix {
        AffineMatrix {
            shape: [2, 4],
            codes: vec![1.0; 8],
            scales: vec![0.5; 4],
            zeros: Some(vec![0.0; 4]),
            blocks: ScaleBlocks::groups(vec![0, 0, 1, 1], 2, 2).expect("has two groups"),
            dtype: FloatType::F32,
        }
    }

    #[test]
    fn parts_that_do_not_fill_the_matrix_are_an_error() {
        assert!(matrix().dequantize().is_ok());
        for change in [
            (|matrix| matrix.codes.truncate(7)) as fn(&mut AffineMatrix),
            |matrix| matrix.scales.truncate(3),
            |matrix| matrix.zeros = Some(vec![0.0; 3]),
            |matrix| matrix.blocks.columns.truncate(3),
            |matrix| matrix.blocks.grid[0] = 1,
        ] {
            let mut matrix = matrix();
            change(&mut matrix);
            let error = matrix.dequantize().expect_err("is incomplete");
            assert!(error.contains("a matrix of shape [2, 4]"), "{error}");
        }
    }
}
