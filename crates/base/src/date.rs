//! Expiry dates in specs and testgen.toml.

use jiff::civil::Date;

/// A date of the form `2027-01-31`. Other forms of ISO 8601 are rejected, so that every file uses
/// the same one.
pub fn parse_date(text: &str) -> Option<Date> {
    text.parse::<Date>()
        .ok()
        .filter(|date| date.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_form_is_a_date() {
        assert!(parse_date("2027-01-31").is_some());
        for text in [
            "2027-1-31",
            "2027-02-30",
            "20270131",
            "2027-01-31T00:00",
            "soon",
            "",
        ] {
            assert!(parse_date(text).is_none(), "{text}");
        }
    }
}
