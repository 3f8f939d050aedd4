//! One line of the file of `--tune`: the algorithms of a vendor's libraries for one matrix product.
//!
//! A suite writes these lines and reads them again, the CLI counts them. Adding a field is
//! compatible; changing one requires a new [`TunedProduct::VERSION`].

use serde::{Deserialize, Serialize};

/// The variable of a suite with the file to which measured products are added.
pub const TUNE_VARIABLE: &str = "TESTGEN_TUNE";

/// The variable of a suite with the file that says how products are computed.
pub const TUNED_VARIABLE: &str = "TESTGEN_TUNED";

/// A product with the measurements of its algorithms, one line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TunedProduct {
    /// [`TunedProduct::VERSION`] of the writer.
    pub version: u32,
    /// The product.
    #[serde(flatten)]
    pub key: TunedProductKey,
    /// The algorithms; the first one is the choice of the first library itself.
    pub algorithms: Vec<TunedAlgorithm>,
}

/// A product on a device. Another version of a library may have other algorithms.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TunedProductKey {
    /// The name of the device.
    pub device: String,
    /// The libraries with their versions: `cublas 13.1.0`.
    pub libraries: Vec<String>,
    /// Types, sizes and layout of the product.
    pub product: String,
}

/// An algorithm of a library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TunedAlgorithm {
    /// The library's name.
    pub library: String,
    /// The number by which the library's documentation names it, or `default` for its own choice.
    pub id: String,
    /// Its configuration (tile, split of the inner dimension, stages), if the library reports it.
    pub configuration: String,
    /// The time of a product, the median of several measurements; `None` if it was not timed,
    /// because it is not correct.
    pub microseconds: Option<f64>,
    /// Why it is not correct.
    pub problem: Option<String>,
}

impl TunedProduct {
    /// The version of the format.
    pub const VERSION: u32 = 1;

    /// The fastest correct algorithm.
    pub fn fastest(&self) -> Option<&TunedAlgorithm> {
        let timed = |algorithm: &TunedAlgorithm| algorithm.microseconds.unwrap_or(f64::INFINITY);
        let correct = self.algorithms.iter().filter(|one| one.is_correct());
        // The first of equal ones: the library's own choice.
        correct.min_by(|first, second| timed(first).total_cmp(&timed(second)))
    }

    /// The algorithm that the first library chooses itself.
    pub fn chosen_by_library(&self) -> Option<&TunedAlgorithm> {
        self.algorithms.first()
    }
}

impl TunedAlgorithm {
    /// Whether its result was within its bounds, and it was timed.
    pub fn is_correct(&self) -> bool {
        self.problem.is_none() && self.microseconds.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::{TunedAlgorithm, TunedProduct, TunedProductKey};

    fn algorithm(id: &str, microseconds: Option<f64>, problem: Option<&str>) -> TunedAlgorithm {
        TunedAlgorithm {
            library: "rocblas".to_owned(),
            id: id.to_owned(),
            configuration: String::new(),
            microseconds,
            problem: problem.map(str::to_owned),
        }
    }

    #[test]
    fn the_fastest_correct_algorithm_is_taken() {
        let product = |algorithms| TunedProduct {
            version: TunedProduct::VERSION,
            key: TunedProductKey {
                device: "AMD gfx942".to_owned(),
                libraries: vec!["rocblas 4.4.0".to_owned()],
                product: "f16 NN 4x5x6".to_owned(),
            },
            algorithms,
        };
        let fastest = |algorithms| product(algorithms).fastest().map(|one| one.id.clone());
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
    fn a_line_is_read_as_it_was_written() {
        let line = r#"{"version":1,"device":"AMD gfx942","libraries":["rocblas 4.4.0"],"product":"f16 NN 4x5x6","algorithms":[{"library":"rocblas","id":"default","configuration":"","microseconds":4.25,"problem":null}]}"#;
        let read: TunedProduct = serde_json::from_str(line).expect("it is a line");
        assert_eq!(read.key.product, "f16 NN 4x5x6");
        assert_eq!(serde_json::to_string(&read).expect("has string keys"), line);
    }
}
