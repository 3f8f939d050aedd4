//! A product that is exact in f32 and not in TF32.

/// Large enough that the rule chooses the kernel of large products.
pub(super) const SIDE: usize = 512;
/// A bit that f32 (23 bits of mantissa) has and TF32 (10 bits) lacks.
pub(super) const LOW_BIT: f32 = 1.0 / 4096.0;

/// Whether a product of rows of 1 + 2^-12 and columns of 1, which is exact in f32, is another one.
pub(super) fn loses_bits(values: &[f32]) -> bool {
    let exact = SIDE as f32 * (1.0 + LOW_BIT);
    // The limit is 2^-16 of the value: f32 computes this product exactly, and TF32 is off by 2^-12.
    !values
        .iter()
        .all(|value| (value - exact).abs() <= exact * f32::EPSILON * SIDE as f32 / 4.0)
}

#[cfg(test)]
mod tests {
    use super::{LOW_BIT, SIDE, loses_bits};

    #[test]
    fn a_product_in_tf32_loses_bits() {
        assert!(loses_bits(&vec![SIDE as f32; SIDE * SIDE]));
        assert!(!loses_bits(&vec![
            SIDE as f32 * (1.0 + LOW_BIT);
            SIDE * SIDE
        ]));
    }
}
