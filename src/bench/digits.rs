//! Numbers of a table.

/// Four significant digits, all before the point, and at most six after it.
pub(super) fn digits(number: f64) -> String {
    // Zero has no logarithm.
    let leading = number.abs().max(1e-3).log10().floor() as i32;
    format!("{number:.*}", usize::try_from(3 - leading).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn numbers_have_four_digits() {
        let rounded = [0.0, 0.000_012, 0.001_234_6, 0.012_345, 1.234_56].map(digits);
        assert_eq!(
            rounded,
            ["0.000000", "0.000012", "0.001235", "0.01235", "1.235"]
        );
        let rounded = [12.345_6, 123.456, 12_345.6].map(digits);
        assert_eq!(rounded, ["12.35", "123.5", "12346"]);
    }
}
