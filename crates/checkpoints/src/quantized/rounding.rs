//! Dense values rounded to the nearest codes, in groups and blocks that share a scale.

use crate::float_type::FloatType;

/// Codes without a sign, of which the value is (code - zero point) * scale.
pub(super) struct RoundedGroups {
    /// [outputs, inputs].
    pub(super) codes: Vec<u32>,
    /// [outputs, groups].
    pub(super) scales: Vec<f32>,
    /// [outputs, groups].
    pub(super) zeros: Vec<u32>,
}

impl RoundedGroups {
    /// Codes of `bits` with scales of the type `dtype`; each output has a scale and a zero point for
    /// every `group` inputs, which divides them.
    pub(super) fn new(values: &[f32], dtype: FloatType, bits: usize, group: usize) -> Self {
        let most = ((1u32 << bits) - 1) as f32;
        let mut rounded = Self {
            codes: Vec::with_capacity(values.len()),
            scales: Vec::new(),
            zeros: Vec::new(),
        };
        for values in values.chunks(group) {
            // Zero has a code, also among values of one sign.
            let low = values.iter().copied().fold(0.0, f32::min);
            let high = values.iter().copied().fold(0.0, f32::max);
            // Rounded before the codes are computed, because readers multiply by the stored scale.
            let scale = usable(dtype.round((high - low) / most));
            // Not 0: the first format of GPTQ stores zero points minus one.
            let zero = (-low / scale).round_ties_even().clamp(1.0, most);
            let codes = values.iter().map(|value| {
                let code = (value / scale + zero).round_ties_even();
                code.clamp(0.0, most) as u32
            });
            rounded.codes.extend(codes);
            rounded.scales.push(scale);
            rounded.zeros.push(zero as u32);
        }
        rounded
    }
}

/// Blocks of a matrix that share a scale: a grid, by rows.
#[derive(Clone, Copy)]
pub(super) struct BlockGrid {
    inputs: usize,
    /// Outputs and inputs of a block.
    size: [usize; 2],
    /// Rows and columns of the grid.
    pub(super) grid: [usize; 2],
}

impl BlockGrid {
    /// Blocks of `size`, which divides the outputs and inputs of `shape`.
    pub(super) fn new([outputs, inputs]: [usize; 2], size: [usize; 2]) -> Self {
        Self {
            inputs,
            size,
            grid: [outputs / size[0], inputs / size[1]],
        }
    }

    /// The block of a value.
    pub(super) fn block(&self, index: usize) -> usize {
        let (output, input) = (index / self.inputs, index % self.inputs);
        output / self.size[0] * self.grid[1] + input / self.size[1]
    }

    /// The largest magnitude of each block divided by `largest`, the largest that has a code.
    pub(super) fn scales(&self, values: &[f32], largest: f32) -> Vec<f32> {
        let mut magnitudes = vec![0.0f32; self.grid.iter().product()];
        for (index, value) in values.iter().enumerate() {
            let block = self.block(index);
            magnitudes[block] = magnitudes[block].max(value.abs());
        }
        let scales = magnitudes.iter().map(|magnitude| magnitude / largest);
        scales.map(usable).collect()
    }
}

/// A block of zeros, or of values that the type of the scale does not reach, has a scale of one.
fn usable(scale: f32) -> f32 {
    if scale == 0.0 { 1.0 } else { scale }
}

/// The index of the number in `ascending` that is nearest to `value`; of two equally near ones the
/// even index.
pub(super) fn nearest(ascending: &[f32], value: f32) -> usize {
    let after = ascending.partition_point(|number| *number < value);
    let above = after.min(ascending.len() - 1);
    let below = above.saturating_sub(1);
    let distances = [value - ascending[below], ascending[above] - value];
    if distances[0] == distances[1] {
        // As IEEE 754 rounds ties: the even code has an even last bit.
        return below.next_multiple_of(2);
    }
    if distances[0] < distances[1] {
        below
    } else {
        above
    }
}

/// A matrix with `columns` columns by columns.
pub(super) fn transposed<T: Copy>(values: &[T], columns: usize) -> Vec<T> {
    (0..columns)
        .flat_map(|column| values.iter().skip(column).step_by(columns).copied())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{BlockGrid, nearest};

    #[test]
    fn the_nearest_number_is_found_and_of_two_the_even_one() {
        let numbers = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
        for (value, expected) in [
            (0.0, 0),
            (0.2, 0),
            (0.25, 0),
            (0.75, 2),
            (2.5, 4),
            (2.6, 5),
            (3.5, 6),
            (5.1, 7),
            (9.0, 7),
        ] {
            assert_eq!(nearest(&numbers, value), expected, "{value}");
        }
    }

    #[test]
    fn blocks_are_counted_by_rows() {
        let grid = BlockGrid::new([4, 6], [2, 3]);
        let blocks: Vec<usize> = [0, 2, 3, 11, 12, 23].map(|index| grid.block(index)).into();
        assert_eq!(blocks, [0, 0, 1, 1, 2, 3]);
        let values: Vec<f32> = (0..24).map(|index| index as f32).collect();
        assert_eq!(grid.scales(&values, 2.0), [4.0, 5.5, 10.0, 11.5]);
    }
}
