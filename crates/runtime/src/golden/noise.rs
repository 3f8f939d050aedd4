//! The error of the reference itself in each precision, from which thresholds are derived.

use super::error::Unreadable;
use std::collections::{BTreeMap, HashMap};
use testgen_types::Precision;

/// The error of transformers in each precision against its own float64 run, for each tensor.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Noise {
    by_precision: BTreeMap<Precision, BTreeMap<String, NoiseLevel>>,
}

/// The error of one tensor, in both measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NoiseLevel {
    /// |d| / |ref| over the tensor.
    pub(crate) rel_l2: f64,
    /// max |d| / max |ref|.
    pub(crate) max_rel: f64,
}

impl NoiseLevel {
    /// The smaller noise in each measure.
    pub(crate) const fn min(self, other: Self) -> Self {
        Self {
            rel_l2: self.rel_l2.min(other.rel_l2),
            max_rel: self.max_rel.min(other.max_rel),
        }
    }
}

impl Noise {
    /// The noise of a tensor; `name` is the name of an output, or `trace.embed`, `trace.layer.<i>`.
    pub(crate) fn level(&self, precision: Precision, name: &str) -> Option<NoiseLevel> {
        self.by_precision.get(&precision)?.get(name).copied()
    }

    /// The noise of every tensor in a precision, or `None` if none was recorded.
    pub(super) fn levels(&self, precision: Precision) -> Option<&BTreeMap<String, NoiseLevel>> {
        self.by_precision.get(&precision)
    }

    /// Reads the noise of a recorded answer, given as the metadata of a golden.
    pub(crate) fn of_answer(metadata: &HashMap<String, String>) -> Result<Self, String> {
        Self::read(metadata)
            .map_err(|unreadable| format!("`{}`: {}", unreadable.part, unreadable.why))
    }

    /// Reads the metadata `noise.f32`, `noise.f16` and `noise.bf16`.
    pub(super) fn read(metadata: &HashMap<String, String>) -> Result<Self, Unreadable> {
        // Goldens of models that do not run in float64 have float32 as the reference. Against
        // itself, f32 has no error, and zero noise would allow no error at all.
        let against_f32 = metadata
            .get("noise.reference")
            .is_some_and(|reference| reference == "float32");
        let about = ["reference", "samples", "noise_samples"];
        let known =
            |name: &str| about.contains(&name) || recorded().any(|known| known.as_str() == name);
        let mut names = metadata.keys().filter_map(|key| key.strip_prefix("noise."));
        // An unknown name is refused: a misspelled precision would have no noise and wider
        // thresholds.
        if let Some(name) = names.find(|name| !known(name)) {
            let why = "it is not the noise of a precision; those are f32, f16 and bf16".to_owned();
            return Err(Unreadable {
                part: format!("noise.{name}"),
                why,
            });
        }
        let mut by_precision = BTreeMap::new();
        for precision in recorded() {
            let key = format!("noise.{precision}");
            if against_f32 && precision == Precision::F32 {
                continue;
            }
            if let Some(text) = metadata.get(&key) {
                let levels = levels(text).map_err(|why| Unreadable { part: key, why })?;
                by_precision.insert(precision, levels);
            }
        }
        Ok(Self { by_precision })
    }
}

/// The precisions that have noise.
fn recorded() -> impl Iterator<Item = Precision> {
    Precision::ALL
        .iter()
        .copied()
        // The reference does not compute in tf32, whose thresholds are derived from the noise of
        // f16.
        .filter(|precision| *precision == precision.storage())
}

// Rounding is far below the tensor itself, except for a tensor near zero. Larger noise is a damaged
// golden.
const LARGEST: f64 = 1000.0;

/// JSON: an object of `[rel_l2, max_rel]` by the name of the tensor.
fn levels(text: &str) -> Result<BTreeMap<String, NoiseLevel>, String> {
    let pairs: BTreeMap<String, [f64; 2]> =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    pairs
        .into_iter()
        .map(|(name, pair)| match pair {
            [rel_l2, max_rel] if is_noise(rel_l2) && is_noise(max_rel) => {
                Ok((name, NoiseLevel { rel_l2, max_rel }))
            }
            _ => Err(format!(
                "`{name}` is {pair:?}, expected two numbers from 0 to {LARGEST}"
            )),
        })
        .collect()
}

fn is_noise(value: f64) -> bool {
    (0.0..=LARGEST).contains(&value)
}

#[cfg(test)]
impl Noise {
    /// The noise in `metadata`, for tests of thresholds.
    pub(crate) fn for_tests(metadata: &HashMap<String, String>) -> Self {
        match Self::read(metadata) {
            Ok(noise) => noise,
            Err(unreadable) => panic!("`{}`: {}", unreadable.part, unreadable.why),
        }
    }
}
