//! The file of `--tune`: how many algorithms were measured, what they gain, and which are wrong.
//!
//! Does not own: the measurement, which the suite does.

use super::read::{ReportError, read_report};
use std::{fmt::Write, path::Path};
use testgen_base::{json_lines::JsonLines, text::Count};
use testgen_types::{
    ComputationDescription, TunedAlgorithm, TunedComputation, TunedComputationKey,
};

/// Wrong algorithms that are listed; the file has all of them.
const LISTED: usize = 10;

/// The content of a file of `--tune`.
#[derive(Debug, Default)]
pub struct TuningSummary {
    /// The products and convolutions: `2 products, 1 convolution`.
    computations: String,
    algorithms: usize,
    /// The geometric mean of the time of the fastest correct algorithm, divided by the time of the
    /// library's own choice.
    gain: Option<f64>,
    /// Wrong algorithms, a line each; the choices of a library itself first.
    wrong: Vec<String>,
    /// The products and convolutions that a library computes wrongly by its own choice, if any.
    own_choices_wrong: Option<String>,
    problems: Vec<String>,
}

impl TuningSummary {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn read(path: &Path) -> Result<Self, ReportError> {
        let lines = JsonLines::parse(&read_report(path)?, TunedComputation::VERSION);
        Ok(Self::new(&lines))
    }

    fn new(lines: &JsonLines<TunedComputation>) -> Self {
        let all = &lines.entries;
        let own_wrong: Vec<_> = all
            .iter()
            .filter(|computation| is_own_choice_wrong(computation))
            .collect();
        let algorithms = all.iter().map(|computation| computation.algorithms.len());
        Self {
            computations: counted(&all.iter().collect::<Vec<_>>()),
            algorithms: algorithms.sum(),
            gain: gain(all),
            own_choices_wrong: (!own_wrong.is_empty()).then(|| counted(&own_wrong)),
            wrong: [wrong(all, true), wrong(all, false)].concat(),
            problems: lines.problems.clone(),
        }
    }

    /// Whether the libraries compute everything correctly by their own choice.
    pub fn is_green(&self) -> bool {
        // Other wrong algorithms do not count: nothing uses them unless a file chooses them.
        self.own_choices_wrong.is_none() && self.problems.is_empty()
    }

    /// The summary for a terminal.
    pub fn render(&self) -> String {
        let mut text = format!(
            "tuning: {}, {}, {} wrong",
            self.computations,
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
        if let Some(computations) = &self.own_choices_wrong {
            let _ = writeln!(
                text,
                "failed: the library's own choice is wrong for {computations}"
            );
        }
        text
    }
}

/// Whether the algorithm that the library chooses itself is wrong.
fn is_own_choice_wrong(computation: &TunedComputation) -> bool {
    let own = computation.chosen_by_library();
    own.is_some_and(|own| own.problem.is_some())
}

fn is_product(computation: &TunedComputation) -> bool {
    match computation.key.computation {
        ComputationDescription::Product(_) => true,
        ComputationDescription::Convolution(_) => false,
    }
}

/// The number of products, and of convolutions if there are any.
fn counted(computations: &[&TunedComputation]) -> String {
    let products = computations
        .iter()
        .filter(|computation| is_product(computation))
        .count();
    let convolutions = Count(computations.len() - products, "convolution");
    match (products, convolutions.0) {
        (_, 0) => Count(products, "product").to_string(),
        (0, _) => convolutions.to_string(),
        _ => format!("{}, {convolutions}", Count(products, "product")),
    }
}

/// The wrong algorithms: the libraries' own choices, which come first, or the others.
fn wrong(computations: &[TunedComputation], own: bool) -> Vec<String> {
    let algorithms = computations.iter().flat_map(|computation| {
        let algorithms = computation.algorithms.iter().enumerate();
        algorithms.map(move |(index, algorithm)| (&computation.key, index, algorithm))
    });
    algorithms
        // The library's own choice is the first of each computation.
        .filter(|(_, index, algorithm)| (*index == 0) == own && algorithm.problem.is_some())
        .map(|(key, _, algorithm)| line(key, algorithm))
        .collect()
}

fn line(key: &TunedComputationKey, algorithm: &TunedAlgorithm) -> String {
    let TunedAlgorithm {
        library,
        id,
        problem,
        ..
    } = algorithm;
    let problem = problem.as_deref().unwrap_or_default();
    format!("{}: {library} {id}: {problem}", key.computation)
}

/// `None` if nothing has two times.
fn gain(computations: &[TunedComputation]) -> Option<f64> {
    let ratios = computations.iter().filter_map(|computation| {
        let own = computation.chosen_by_library()?.microseconds?;
        // Logarithms, because the mean of ratios is geometric.
        Some((computation.fastest()?.microseconds? / own).ln())
    });
    let (sum, count) = ratios.fold((0.0, 0), |(sum, count), ratio| (sum + ratio, count + 1));
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

#[cfg(test)]
mod tests {
    use super::TuningSummary;
    use testgen_base::json_lines::JsonLines;
    use testgen_types::TunedComputation;

    /// The summary of a product for each list of algorithms.
    fn summary(algorithms: &[&str]) -> TuningSummary {
        let lines = algorithms.iter().enumerate();
        let lines = lines
            .map(|(index, algorithms)| line("product", &format!("f16 NN 4x5x{index}"), algorithms));
        read(&lines.collect::<Vec<_>>())
    }

    fn line(kind: &str, description: &str, algorithms: &str) -> String {
        format!(
            r#"{{"version":1,"device":"AMD gfx942","libraries":["rocblas 4.4.0"],"{kind}":"{description}","algorithms":[{algorithms}]}}"#
        )
    }

    fn read(lines: &[String]) -> TuningSummary {
        let text = lines.join("\n");
        TuningSummary::new(&JsonLines::parse(&text, TunedComputation::VERSION))
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

    #[test]
    fn convolutions_are_counted_beside_products() {
        let product = line("product", "f16 NN 4x5x6", OWN);
        let right = line("convolution", "f16 conv2d a", OWN);
        let wrong = line("convolution", "f16 conv2d b", OWN_WRONG);
        let text = read(&[product, right.clone(), wrong.clone()]).render();
        assert!(
            text.starts_with("tuning: 1 product, 2 convolutions, 3 algorithms, 1 wrong"),
            "{text}"
        );
        assert!(
            text.contains("f16 conv2d b: rocblas default: NaN"),
            "{text}"
        );
        assert!(
            text.contains("own choice is wrong for 1 convolution\n"),
            "{text}"
        );
        let text = read(&[right]).render();
        assert!(
            text.starts_with("tuning: 1 convolution, 1 algorithm, 0 wrong"),
            "{text}"
        );
        assert!(!read(&[wrong]).is_green());
    }
}
