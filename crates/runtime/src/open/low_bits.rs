//! A product that is exact in f32 and not in TF32.

/// Large enough that the rule chooses the kernel of large products.
pub(super) const SIDE: usize = 512;
/// A bit that f32 (23 bits of mantissa) has and TF32 (10 bits) lacks.
pub(super) const LOW_BIT: f32 = 1.0 / 4096.0;

/// Whether a product of rows of 1 + 2^-12 and columns of 1, which is exact in f32, is another one.
///
/// # Errors
///
/// The product has not [`SIDE`] rows and columns.
pub(super) fn loses_bits(values: &[f32]) -> Result<bool, String> {
    // Neither answer: products in f32 must keep bits, products in TF32 must lose them.
    if values.len() != SIDE * SIDE {
        return Err(format!(
            "a product of {SIDE} rows and columns has {} elements",
            values.len()
        ));
    }
    let exact = SIDE as f32 * (1.0 + LOW_BIT);
    // The limit is 2^-16 of the value: f32 computes this product exactly, and TF32 is off by 2^-12.
    Ok(!values
        .iter()
        .all(|value| (value - exact).abs() <= exact * f32::EPSILON * SIDE as f32 / 4.0))
}

#[cfg(test)]
mod tests {
    use super::{LOW_BIT, SIDE, loses_bits};

    #[test]
    fn a_product_in_tf32_loses_bits() {
        let product = |value: f32| loses_bits(&vec![value; SIDE * SIDE]);
        assert_eq!(product(SIDE as f32), Ok(true));
        assert_eq!(product(SIDE as f32 * (1.0 + LOW_BIT)), Ok(false));
    }

    #[test]
    fn a_product_without_elements_is_an_error() {
        assert!(loses_bits(&[]).is_err_and(|message| message.contains("has 0 elements")));
    }
}
