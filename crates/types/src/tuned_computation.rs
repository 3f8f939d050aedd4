//! One line of the file of `--tune`: the algorithms of a vendor's libraries for one matrix product
//! or one convolution.
//!
//! A suite writes these lines and reads them again, the CLI counts them. Adding a field is
//! compatible; changing one requires a new [`TunedComputation::VERSION`].

use serde::{Deserialize, Serialize};
use std::fmt;

/// The variable of a suite with the file to which measured computations are added.
pub const TUNE_VARIABLE: &str = "TESTGEN_TUNE";

/// The variable of a suite with the file that says how products and convolutions are computed.
pub const TUNED_VARIABLE: &str = "TESTGEN_TUNED";

/// A computation with the measurements of its algorithms, one line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TunedComputation {
    /// [`TunedComputation::VERSION`] of the writer.
    pub version: u32,
    /// The computation.
    #[serde(flatten)]
    pub key: TunedComputationKey,
    /// The algorithms; the first one is the choice of the libraries themselves.
    pub algorithms: Vec<TunedAlgorithm>,
}

/// A computation on a device. Another version of a library may have other algorithms.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TunedComputationKey {
    /// The name of the device.
    pub device: String,
    /// The libraries with their versions: `cublas 13.1.0`.
    pub libraries: Vec<String>,
    /// The computation itself.
    #[serde(flatten)]
    pub computation: ComputationDescription,
}

/// A computation of a vendor's library by its kind: types, sizes and layout.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComputationDescription {
    /// A matrix product.
    Product(String),
    /// A convolution.
    Convolution(String),
}

/// An algorithm of a library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TunedAlgorithm {
    /// The library's name.
    pub library: String,
    /// The number or the name by which the library's documentation names it, or `default` for its
    /// own choice.
    pub id: String,
    /// Its configuration (tile, split of the inner dimension, stages; workspace), if the library
    /// reports it.
    pub configuration: String,
    /// The time of a computation, the median of several measurements; `None` if it was not timed,
    /// because it is not correct, or because its bounds are too wide to say so.
    pub microseconds: Option<f64>,
    /// Why it is not correct.
    pub problem: Option<String>,
}

impl TunedComputation {
    /// The version of the format.
    pub const VERSION: u32 = 1;

    /// The fastest correct algorithm.
    pub fn fastest(&self) -> Option<&TunedAlgorithm> {
        let timed = |algorithm: &TunedAlgorithm| algorithm.microseconds.unwrap_or(f64::INFINITY);
        // A correct one has a time, so that the infinity is never compared.
        let correct = self.algorithms.iter().filter(|one| one.is_correct());
        // The first of equal ones: the libraries' own choice.
        correct.min_by(|first, second| timed(first).total_cmp(&timed(second)))
    }

    /// The algorithm to compute with: the fastest correct one, or if no algorithm could be compared
    /// the libraries' own choice.
    pub fn best(&self) -> Option<&TunedAlgorithm> {
        // Bounds of an algorithm that transforms can be too wide for a comparison. Without a tuned
        // file the suite would compute with this choice, too.
        let own = self.chosen_by_library();
        self.fastest()
            .or_else(|| own.filter(|own| own.problem.is_none()))
    }

    /// The algorithm that the libraries choose themselves.
    pub fn chosen_by_library(&self) -> Option<&TunedAlgorithm> {
        self.algorithms.first()
    }
}

impl TunedAlgorithm {
    /// Whether its result was within its bounds, and it was timed.
    pub fn is_correct(&self) -> bool {
        self.problem.is_none() && self.microseconds.is_some()
    }

    /// Whether both are the same algorithm, whatever was measured.
    pub fn is_same(&self, other: &Self) -> bool {
        self.library == other.library
            && self.id == other.id
            && self.configuration == other.configuration
    }
}

impl fmt::Display for ComputationDescription {
    /// Types, sizes and layout.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Product(text) | Self::Convolution(text)) = self;
        f.write_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::{ComputationDescription, TunedAlgorithm, TunedComputation, TunedComputationKey};

    fn algorithm(id: &str, microseconds: Option<f64>, problem: Option<&str>) -> TunedAlgorithm {
        TunedAlgorithm {
            library: "rocblas".to_owned(),
            id: id.to_owned(),
            configuration: String::new(),
            microseconds,
            problem: problem.map(str::to_owned),
        }
    }

    fn computation(algorithms: Vec<TunedAlgorithm>) -> TunedComputation {
        TunedComputation {
            version: TunedComputation::VERSION,
            key: TunedComputationKey {
                device: "AMD gfx942".to_owned(),
                libraries: vec!["rocblas 4.4.0".to_owned()],
                computation: ComputationDescription::Product("f16 NN 4x5x6".to_owned()),
            },
            algorithms,
        }
    }

    #[test]
    fn the_fastest_correct_algorithm_is_taken() {
        let fastest = |algorithms| computation(algorithms).fastest().map(|one| one.id.clone());
        let own = algorithm("default", Some(4.0), None);
        let wrong = algorithm("1", Some(1.0), Some("NaN"));
        let equal = algorithm("2", Some(4.0), None);
        let faster = algorithm("3", Some(3.5), None);
        let all = vec![own.clone(), wrong.clone(), equal.clone(), faster];
        assert_eq!(fastest(all).as_deref(), Some("3"));
        assert_eq!(fastest(vec![own, equal]).as_deref(), Some("default"));
        assert_eq!(fastest(vec![wrong, algorithm("4", None, None)]), None);
    }

    #[test]
    fn an_own_choice_that_could_not_be_compared_is_taken_last() {
        let best = |algorithms| computation(algorithms).best().map(|one| one.id.clone());
        let own = algorithm("winograd", None, None);
        let slow = algorithm("gemm", Some(9.0), None);
        let wrong = algorithm("direct", None, Some("NaN"));
        let all = vec![own.clone(), wrong.clone(), slow];
        assert_eq!(best(all).as_deref(), Some("gemm"));
        let undecided = vec![own.clone(), wrong.clone()];
        assert_eq!(best(undecided).as_deref(), Some("winograd"));
        assert_eq!(best(vec![wrong, own]), None);
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let line = |kind: &str, description: &str| {
            format!(
                r#"{{"version":1,"device":"AMD gfx942","libraries":["rocblas 4.4.0"],"{kind}":"{description}","algorithms":[{{"library":"rocblas","id":"default","configuration":"","microseconds":4.25,"problem":null}}]}}"#
            )
        };
        let product = "f16 NN 4x5x6".to_owned();
        let convolution = "f32 conv2d [1, 3, 8, 8] [4, 3, 3, 3]".to_owned();
        for (line, computation) in [
            (
                line("product", &product),
                ComputationDescription::Product(product),
            ),
            (
                line("convolution", &convolution),
                ComputationDescription::Convolution(convolution),
            ),
        ] {
            let read: TunedComputation = serde_json::from_str(&line).expect("it is a line");
            assert_eq!(read.key.computation, computation);
            assert_eq!(serde_json::to_string(&read).expect("has string keys"), line);
        }
    }
}
