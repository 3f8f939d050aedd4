//! The number of rows that are compared.

/// The failure if there is another number than the expected one, of which some would not be
/// compared.
pub(super) fn other_count(what: &str, expected: usize, got: usize) -> Option<String> {
    (expected != got).then(|| format!("{got} {what} instead of {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_number_of_answers_is_a_failure() {
        assert_eq!(other_count("answers", 2, 2), None);
        assert_eq!(
            other_count("answers", 2, 1).as_deref(),
            Some("1 answers instead of 2")
        );
    }
}
