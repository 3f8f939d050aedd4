//! How the positions of a configuration are computed, as far as the relations of long texts depend
//! on it.

use crate::tolerance::Threshold;
use serde_json::Value;

/// The types whose attention adds a slope times the position to its scores (ALiBi) without a field
/// that says so.
const ALIBI: [&str; 2] = ["bloom", "mpt"];

/// Whether queries and keys are rotated by their positions in every layer, by frequencies that do
/// not depend on the length of the text: then only differences of positions have an effect.
pub(super) fn are_relative(config: &Value) -> bool {
    let kind = config
        .get("rope_parameters")
        .and_then(|parameters| parameters.get("rope_type")?.as_str());
    kind.is_some_and(|kind| ["default", "linear", "llama3", "yarn"].contains(&kind))
}

/// Whether positions are added to scores. A score of a late position is large then, and what f32
/// rounds of it is in the outputs.
pub(super) fn are_added_to_scores(config: &Value) -> bool {
    let model_type = config.get("model_type").and_then(Value::as_str);
    config.get("alibi") == Some(&Value::Bool(true))
        || model_type.is_some_and(|model_type| ALIBI.contains(&model_type))
}

/// The threshold for outputs that depend on positions up to `last` times a factor up to 1, an angle
/// or a term of a score: in f32 it has an error of half a unit in the last place of `last`.
pub(super) fn threshold(equal: Threshold, last: usize) -> Threshold {
    let error = last as f64 * f64::from(f32::EPSILON);
    Threshold {
        rel_l2: equal.rel_l2 + error,
        max_rel: equal.max_rel + error,
    }
}

#[cfg(test)]
mod tests {
    use super::{are_added_to_scores, are_relative, threshold};
    use crate::tolerance::Threshold;
    use serde_json::json;

    #[test]
    fn frequencies_that_depend_on_the_length_are_not_relative() {
        let of_type = |kind| are_relative(&json!({ "rope_parameters": { "rope_type": kind } }));
        assert!(of_type("default") && of_type("llama3"));
        assert!(!of_type("dynamic") && !of_type("longrope"));
        assert!(!are_relative(&json!({ "max_position_embeddings": 64 })));
        let by_layer = json!({ "full_attention": { "rope_type": "default" } });
        assert!(!are_relative(&json!({ "rope_parameters": by_layer })));
    }

    #[test]
    fn alibi_is_a_field_or_a_type() {
        assert!(are_added_to_scores(&json!({ "alibi": true })));
        assert!(are_added_to_scores(&json!({ "model_type": "bloom" })));
        let falcon = json!({ "model_type": "falcon", "alibi": false });
        assert!(!are_added_to_scores(&falcon));
    }

    #[test]
    fn late_positions_have_a_larger_error() {
        let equal = Threshold {
            rel_l2: 1e-6,
            max_rel: 1e-5,
        };
        let late = threshold(equal, 16384);
        assert!(late.rel_l2 > 1.9e-3 && late.max_rel < 2e-3);
    }
}
