//! Most methods: integers, or small floats, in blocks that share a scale and a zero point.

use super::dense::DenseTensor;
use crate::recipe::FloatType;

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
    /// Columns of the grid.
    width: usize,
}

impl ScaleBlocks {
    /// A matrix of `shape` in equal blocks, one for each scale of `grid`; `size` is the size of a
    /// block where it is known, and the last blocks may be smaller then.
    pub(super) fn grid(
        shape: [usize; 2],
        grid: [usize; 2],
        size: Option<[usize; 2]>,
    ) -> Result<Self, String> {
        let fits = |size: [usize; 2]| {
            (0..2).all(|side| size[side] > 0 && shape[side].div_ceil(size[side]) == grid[side])
        };
        let equal = || {
            let divides =
                (0..2).all(|side| grid[side] > 0 && shape[side].is_multiple_of(grid[side]));
            divides.then(|| [shape[0] / grid[0], shape[1] / grid[1]])
        };
        let size = size
            .filter(|size| fits(*size))
            .or_else(equal)
            .ok_or_else(|| format!("a matrix of shape {shape:?} has a grid of {grid:?} scales"))?;
        Ok(Self {
            rows: size[0],
            columns: (0..shape[1]).map(|column| column / size[1]).collect(),
            width: grid[1],
        })
    }

    /// Each row has its own scales, one for each of `count` groups of columns.
    pub(super) fn groups(group_of_column: Vec<usize>, count: usize) -> Result<Self, String> {
        match group_of_column.iter().max() {
            Some(&largest) if largest >= count => Err(format!(
                "a column is in group {largest}, but there are {count}"
            )),
            _ => Ok(Self {
                rows: 1,
                columns: group_of_column,
                width: count,
            }),
        }
    }

    fn scale_of(&self, row: usize, column: usize) -> usize {
        row / self.rows * self.width + self.columns[column]
    }
}

impl AffineMatrix {
    pub(super) fn dequantize(&self) -> DenseTensor {
        let [rows, columns] = self.shape;
        let value = |index: usize| {
            let scale = self.blocks.scale_of(index / columns, index % columns);
            let zero = self.zeros.as_ref().map_or(0.0, |zeros| zeros[scale]);
            (self.codes[index] - zero) * self.scales[scale]
        };
        DenseTensor::rounded(
            self.dtype,
            vec![rows, columns],
            (0..rows * columns).map(value),
        )
    }
}
