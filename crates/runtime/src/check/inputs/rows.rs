//! Rows of recorded inputs in another order or number, and the rows of an output that belong to
//! them.
//!
//! Images and texts of one call may have batches of different sizes; a row number beyond the
//! smaller batch wraps around.

use testgen_nn::array::{Array, Arrays};

/// The outputs with a score for each pair, whose second dimension is the other batch.
const PAIRWISE: [&str; 2] = ["logits_per_image", "logits_per_text"];

/// The number of rows of the largest batch.
pub(in crate::check) fn count(inputs: &Arrays) -> usize {
    inputs
        .values()
        .map(|array| array.shape()[0])
        .max()
        .unwrap_or(0)
}

/// The rows `order` of every input.
pub(in crate::check) fn of_inputs(inputs: &Arrays, order: &[usize]) -> Arrays {
    inputs
        .iter()
        .map(|(name, array)| (name.clone(), select(array, order)))
        .collect()
}

/// The part of the output `name` that a call with the rows `order` must return; `whole` is from a
/// call with `count` rows.
pub(in crate::check) fn of_output(
    name: &str,
    whole: &Array,
    order: &[usize],
    count: usize,
) -> Array {
    // A model with retrieval has as many rows for each input as it found passages.
    let rows_per_input = (whole.shape()[0] / count.max(1)).max(1);
    let order: Vec<usize> = order
        .iter()
        .flat_map(|row| row * rows_per_input..(row + 1) * rows_per_input)
        .collect();
    let (rows, order) = (select(whole, &order), order.as_slice());
    if PAIRWISE.contains(&name) {
        // The other batch is in the new order as well, and it is the second dimension.
        transposed(&select(&transposed(&rows), order))
    } else {
        rows
    }
}

fn select(array: &Array, order: &[usize]) -> Array {
    let rows = array.shape()[0].max(1);
    array.select_rows(&order.iter().map(|row| row % rows).collect::<Vec<_>>())
}

fn transposed(array: &Array) -> Array {
    let (rows, columns) = (array.shape()[0], array.shape()[1]);
    let values = array.as_floats().unwrap_or_default();
    let flipped =
        (0..columns).flat_map(|column| (0..rows).map(move |row| values[row * columns + column]));
    Array::floats([columns, rows], flipped.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairwise_outputs_lose_rows_and_columns() {
        let logits = Array::floats([3, 2], vec![0.0, 1.0, 10.0, 11.0, 20.0, 21.0]);
        let got = of_output("logits_per_image", &logits, &[2, 1], 3);
        assert_eq!(got, Array::floats([2, 2], vec![20.0, 21.0, 10.0, 11.0]));
        let got = of_output("logits_per_image", &logits, &[1], 3);
        assert_eq!(got, Array::floats([1, 1], vec![11.0]));
        assert_eq!(
            of_output("image_embeds", &logits, &[1], 3),
            Array::floats([1, 2], vec![10.0, 11.0])
        );
    }

    #[test]
    fn the_rows_of_one_input_stay_together() {
        let logits = Array::floats([4, 1], vec![0.0, 1.0, 10.0, 11.0]);
        assert_eq!(
            of_output("logits", &logits, &[1, 0], 2),
            Array::floats([4, 1], vec![10.0, 11.0, 0.0, 1.0])
        );
    }
}
