//! The reference's own error in each type: what a tolerance is made of.

use std::collections::{BTreeMap, HashMap};
use testgen_contract::Precision;

/// For each type and tensor, the error of transformers in that type against its float64 run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Noise {
    by_precision: BTreeMap<Precision, BTreeMap<String, [f64; 2]>>,
}

impl Noise {
    /// `[rel-L2, max]` of a tensor in a type; the name is that of an output, or `trace.embed`, `trace.layer.<i>`.
    pub(crate) fn of(&self, precision: Precision, name: &str) -> Option<[f64; 2]> {
        self.by_precision.get(&precision)?.get(name).copied()
    }

    /// Reads `noise.f32`, `noise.f16`, `noise.bf16`. f32 noise against a float32 reference is no noise.
    pub(super) fn read(metadata: &HashMap<String, String>) -> Result<Self, (String, String)> {
        let against_f32 = metadata.get("noise.reference").is_some_and(|reference| reference == "float32");
        let mut by_precision = BTreeMap::new();
        for &precision in Precision::ALL {
            let key = format!("noise.{precision}");
            let Some(text) = metadata.get(&key).filter(|_| !(against_f32 && precision == Precision::F32)) else {
                continue;
            };
            let named: BTreeMap<String, [f64; 2]> =
                serde_json::from_str(text).map_err(|error| (key.clone(), error.to_string()))?;
            if let Some((name, pair)) = named.iter().find(|(_, pair)| pair.iter().any(|value| !is_noise(*value))) {
                return Err((key, format!("`{name}` is {pair:?}, expected two numbers from 0 on")));
            }
            by_precision.insert(precision, named);
        }
        Ok(Self { by_precision })
    }
}

fn is_noise(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

#[cfg(test)]
impl Noise {
    /// The noise that `metadata` says, for tests of what is made of it.
    pub(crate) fn for_tests(metadata: &HashMap<String, String>) -> Self {
        Self::read(metadata).expect("a test writes noise that can be read")
    }
}
