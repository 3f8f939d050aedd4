//! The file of `--tune`: how many algorithms were measured, what they gain, and which are wrong.
//!
//! Does not own: the measurement, which the suite does.

use super::read::{ReportError, read_report};
use std::{fmt::Write, path::Path};
use testgen_base::{json_lines::JsonLines, text::Count};
use testgen_types::{TunedAlgorithm, TunedProduct, TunedProductKey};

/// Wrong algorithms that are listed; the file has all of them.
const LISTED: usize = 10;

/// The content of a file of `--tune`.
#[derive(Debug, Default)]
pub struct TuningSummary {
    products: usize,
    algorithms: usize,
    /// The geometric mean of the time of the fastest correct algorithm, divided by the time of the
    /// library's own choice.
    gain: Option<f64>,
    /// Wrong algorithms, a line each; the choices of a library itself first.
    wrong: Vec<String>,
    /// Products that the library computes wrongly by its own choice.
    own_choices_wrong: usize,
    problems: Vec<String>,
}

impl TuningSummary {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn read(path: &Path) -> Result<Self, ReportError> {
        let lines = JsonLines::parse(&read_report(path)?, TunedProduct::VERSION);
        Ok(Self::new(&lines))
    }

    fn new(lines: &JsonLines<TunedProduct>) -> Self {
        let products = &lines.entries;
        let own = wrong(products, true);
        Self {
            products: products.len(),
            algorithms: products
                .iter()
                .map(|product| product.algorithms.len())
                .sum(),
            gain: gain(products),
            own_choices_wrong: own.len(),
            wrong: [own, wrong(products, false)].concat(),
            problems: lines.problems.clone(),
        }
    }

    /// Whether the libraries compute every product correctly by their own choice.
    pub fn is_green(&self) -> bool {
        self.own_choices_wrong == 0 && self.problems.is_empty()
    }

    /// The summary for a terminal.
    pub fn render(&self) -> String {
        let mut text = format!(
            "tuning: {}, {}, {} wrong",
            Count(self.products, "product"),
            Count(self.algorithms, "algorithm"),
            self.wrong.len()
        );
        if let Some(gain) = self.gain {
            let _ = write!(
                text,
                "; the fastest correct ones take {gain:.2} of the time of the libraries' own choices"
            );
        }
        text.push('\n');
        for line in self.wrong.iter().take(LISTED) {
            let _ = writeln!(text, "  {line}");
        }
        if self.wrong.len() > LISTED {
            let _ = writeln!(text, "  and {} more in the file", self.wrong.len() - LISTED);
        }
        for problem in &self.problems {
            let _ = writeln!(text, "  problem: {problem}");
        }
        if self.own_choices_wrong > 0 {
            let count = Count(self.own_choices_wrong, "product");
            let _ = writeln!(
                text,
                "failed: the library's own choice is wrong for {count}"
            );
        }
        text
    }
}

/// The wrong algorithms: the libraries' own choices, which come first, or the others.
fn wrong(products: &[TunedProduct], own: bool) -> Vec<String> {
    let algorithms = products.iter().flat_map(|product| {
        let algorithms = product.algorithms.iter().enumerate();
        algorithms.map(move |(index, algorithm)| (&product.key, index, algorithm))
    });
    algorithms
        .filter(|(_, index, algorithm)| (*index == 0) == own && algorithm.problem.is_some())
        .map(|(key, _, algorithm)| line(key, algorithm))
        .collect()
}

fn line(key: &TunedProductKey, algorithm: &TunedAlgorithm) -> String {
    let TunedAlgorithm {
        library,
        id,
        problem,
        ..
    } = algorithm;
    let problem = problem.as_deref().unwrap_or_default();
    format!("{}: {library} {id}: {problem}", key.product)
}

/// `None` if no product has two times.
fn gain(products: &[TunedProduct]) -> Option<f64> {
    let ratios = products.iter().filter_map(|product| {
        let own = product.chosen_by_library()?.microseconds?;
        Some((product.fastest()?.microseconds? / own).ln())
    });
    let (sum, count) = ratios.fold((0.0, 0), |(sum, count), ratio| (sum + ratio, count + 1));
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

#[cfg(test)]
mod tests {
    use super::TuningSummary;
    use testgen_base::json_lines::JsonLines;
    use testgen_types::TunedProduct;

    fn summary(algorithms: &[&str]) -> TuningSummary {
        let lines = algorithms.iter().enumerate().map(|(index, algorithms)| {
            format!(
                r#"{{"version":1,"device":"AMD gfx942","libraries":["rocblas 4.4.0"],"product":"f16 NN 4x5x{index}","algorithms":[{algorithms}]}}"#
            )
        });
        let text: Vec<String> = lines.collect();
        TuningSummary::new(&JsonLines::parse(&text.join("\n"), TunedProduct::VERSION))
    }

    const OWN: &str = r#"{"library":"rocblas","id":"default","configuration":"","microseconds":4.0,"problem":null}"#;
    const FASTER: &str =
        r#"{"library":"hipblaslt","id":"7","configuration":"","microseconds":1.0,"problem":null}"#;
    const WRONG: &str = r#"{"library":"hipblaslt","id":"8","configuration":"","microseconds":null,"problem":"2 elements were not written"}"#;
    const OWN_WRONG: &str = r#"{"library":"rocblas","id":"default","configuration":"","microseconds":null,"problem":"NaN"}"#;

    #[test]
    fn a_wrong_algorithm_is_listed_and_a_wrong_own_choice_fails() {
        let listed = summary(&[OWN, &format!("{OWN},{FASTER},{WRONG}")]);
        assert!(listed.is_green());
        assert_eq!(
            listed.render(),
            "tuning: 2 products, 4 algorithms, 1 wrong; the fastest correct ones take 0.50 of the time of the libraries' own choices\n\
             \x20 f16 NN 4x5x1: hipblaslt 8: 2 elements were not written\n"
        );
        let failed = summary(&[&format!("{OWN_WRONG},{FASTER}")]);
        assert!(!failed.is_green());
        let text = failed.render();
        assert!(text.contains("own choice is wrong for 1 product"), "{text}");
        assert!(!summary(&["1"]).is_green());
    }
}
