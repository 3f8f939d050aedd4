//! The headrooms of a cell in the tables of models and operators.

use testgen_types::Precision;

/// Headrooms in the order of the precisions, each with the neighbouring precisions that have it.
#[derive(Debug, Default)]
pub(super) struct Headrooms(Vec<(String, Vec<String>)>);

impl Headrooms {
    /// Adds the least headroom of a precision, if its numbers have one.
    pub(super) fn push(&mut self, precision: Precision, headroom: Option<f64>) {
        // The largest headroom means that every element is exact.
        let text = match headroom {
            Some(headroom) if headroom < 1e6 => format!(" {headroom:.1}"),
            Some(_) => " exact".to_owned(),
            None => String::new(),
        };
        // Only with the one before, so that the precisions keep their order.
        match self.0.last_mut() {
            Some((last, precisions)) if *last == text => precisions.push(precision.to_string()),
            _ => self.0.push((text, vec![precision.to_string()])),
        }
    }

    /// `f32 5.1, f16/bf16 exact`.
    pub(super) fn text(&self) -> String {
        let parts = self.0.iter();
        let texts =
            parts.map(|(headroom, precisions)| format!("{}{headroom}", precisions.join("/")));
        texts.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_precisions_share_a_headroom() {
        let mut headrooms = Headrooms::default();
        headrooms.push(Precision::F32, Some(5.14));
        headrooms.push(Precision::F16, Some(f64::MAX));
        headrooms.push(Precision::Bf16, Some(f64::MAX));
        assert_eq!(headrooms.text(), "f32 5.1, f16/bf16 exact");
    }
}
