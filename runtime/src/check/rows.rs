//! Rows of recorded inputs in another order or number, and the part of an output that belongs to them.
//!
//! Where images and texts have batches of their own, each is counted again from its first row when it has fewer.

use crate::{Array, Arrays};

/// The outputs that have the other batch as their second dimension.
const CROSSED: [&str; 2] = ["logits_per_image", "logits_per_text"];

/// The rows of the largest batch.
pub(super) fn count(inputs: &Arrays) -> usize {
    inputs.values().map(|array| array.shape()[0]).max().unwrap_or(0)
}

/// The rows `order` of every input.
pub(super) fn of_inputs(inputs: &Arrays, order: &[usize]) -> Arrays {
    inputs.iter().map(|(name, array)| (name.clone(), select(array, order))).collect()
}

/// What the output `name` of a call with `count` rows is for the rows `order`; where there are several for each, they stay
/// together.
pub(super) fn of_output(name: &str, whole: &Array, order: &[usize], count: usize) -> Array {
    let several = (whole.shape()[0] / count.max(1)).max(1);
    let order: Vec<usize> = order.iter().flat_map(|row| row * several..(row + 1) * several).collect();
    let (rows, order) = (select(whole, &order), order.as_slice());
    if CROSSED.contains(&name) { transposed(&select(&transposed(&rows), order)) } else { rows }
}

fn select(array: &Array, order: &[usize]) -> Array {
    let rows = array.shape()[0].max(1);
    array.select_rows(&order.iter().map(|row| row % rows).collect::<Vec<_>>())
}

fn transposed(array: &Array) -> Array {
    let (rows, columns) = (array.shape()[0], array.shape()[1]);
    let values = array.as_floats().unwrap_or_default();
    let flipped = (0..columns).flat_map(|column| (0..rows).map(move |row| values[row * columns + column]));
    Array::floats([columns, rows], flipped.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossed_outputs_lose_rows_and_columns() {
        let logits = Array::floats([3, 2], vec![0.0, 1.0, 10.0, 11.0, 20.0, 21.0]);
        let got = of_output("logits_per_image", &logits, &[2, 1], 3);
        assert_eq!(got, Array::floats([2, 2], vec![20.0, 21.0, 10.0, 11.0]));
        let got = of_output("logits_per_image", &logits, &[1], 3);
        assert_eq!(got, Array::floats([1, 1], vec![11.0]));
        assert_eq!(of_output("image_embeds", &logits, &[1], 3), Array::floats([1, 2], vec![10.0, 11.0]));
    }

    #[test]
    fn several_rows_for_each_stay_together() {
        let logits = Array::floats([4, 1], vec![0.0, 1.0, 10.0, 11.0]);
        assert_eq!(of_output("logits", &logits, &[1, 0], 2), Array::floats([4, 1], vec![10.0, 11.0, 0.0, 1.0]));
    }
}
