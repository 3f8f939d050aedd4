//! Numbers of a table.

/// Four digits, at least those before the point.
pub(super) fn digits(number: f64) -> String {
    let before = number.abs().max(1.0).log10().floor() as usize + 1;
    format!("{number:.*}", 4_usize.saturating_sub(before))
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn numbers_have_four_digits() {
        let rounded = [0.012_345, 1.234_56, 12.345_6, 123.456, 12_345.6].map(digits);
        assert_eq!(rounded, ["0.012", "1.235", "12.35", "123.5", "12346"]);
    }
}
