//! Rows of recorded inputs in another order or number, and the part of an output that belongs to them.
//!
//! Where images and texts have batches of their own, each is counted again from its first row when it has fewer.

use crate::{Array, Arrays, tolerance::Threshold};

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

/// What the output `name` is for the rows `order`.
pub(super) fn of_output(name: &str, whole: &Array, order: &[usize]) -> Array {
    let rows = select(whole, order);
    if CROSSED.contains(&name) { transposed(&select(&transposed(&rows), order)) } else { rows }
}

/// The threshold for the part of an output. A crossed one can be a single logit near zero, whose error is that of the sum
/// behind it: it is held to the size that the elements of the whole have, as the recorded noise is.
pub(super) fn threshold(name: &str, whole: &Array, part: &Array, threshold: Threshold) -> Threshold {
    let smaller = mean_square(whole) / mean_square(part);
    let factor = if CROSSED.contains(&name) && smaller > 1.0 && smaller.is_finite() { smaller.sqrt() } else { 1.0 };
    Threshold { rel_l2: threshold.rel_l2 * factor, max_rel: threshold.max_rel * factor }
}

fn mean_square(array: &Array) -> f64 {
    let values = array.as_floats().unwrap_or_default();
    values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>() / values.len().max(1) as f64
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
        let got = of_output("logits_per_image", &logits, &[2, 1]);
        assert_eq!(got, Array::floats([2, 2], vec![20.0, 21.0, 10.0, 11.0]));
        let got = of_output("logits_per_image", &logits, &[1]);
        assert_eq!(got, Array::floats([1, 1], vec![11.0]));
        let exact = Threshold { rel_l2: 1.0, max_rel: 1.0 };
        let whole = Array::floats([1, 2], vec![1.0, 7.0]);
        let part = Array::floats([1, 1], vec![1.0]);
        assert_eq!(threshold("logits_per_text", &whole, &part, exact).rel_l2, 5.0);
        assert_eq!(threshold("image_embeds", &whole, &part, exact).rel_l2, 1.0);
        assert_eq!(of_output("image_embeds", &logits, &[1]), Array::floats([1, 2], vec![10.0, 11.0]));
    }
}
