//! How the positions of a configuration are computed, as far as the relations of long texts depend
//! on it.

use crate::tolerance::Threshold;
use serde_json::Value;

/// Whether queries and keys are rotated by their positions in every layer, by frequencies that do
/// not depend on the length of the text.
pub(super) fn are_relative(config: &Value) -> bool {
    let kind = config
        .get("rope_parameters")
        .and_then(|parameters| parameters.get("rope_type")?.as_str());
    // Then only differences of positions have an effect.
    kind.is_some_and(|kind| ["default", "linear", "llama3", "yarn"].contains(&kind))
}

/// Whether a slope times the position is added to scores (ALiBi): the configuration says so, or it
/// has heads of attention, and neither rotations nor a number of positions. A score of a late
/// position is large then, and what f32 rounds of it is in the outputs.
pub(super) fn are_added_to_scores(config: &Value) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| config.get(*name).is_some());
    let heads = has(&["num_attention_heads", "n_head"]);
    let others = has(&["rope_parameters", "max_position_embeddings", "n_positions"]);
    config.get("alibi") == Some(&Value::Bool(true)) || (heads && !others)
}

/// The threshold for outputs that depend on positions up to `last` times a factor up to 1, an angle
/// or a term of a score.
pub(super) fn threshold(equal: Threshold, last: usize) -> Threshold {
    // In f32 such a factor has an error of half a unit in the last place of `last`.
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
    fn alibi_is_a_field_or_what_remains() {
        assert!(are_added_to_scores(
            &json!({ "alibi": true, "max_position_embeddings": 64 })
        ));
        assert!(are_added_to_scores(&json!({ "n_head": 4 })));
        assert!(!are_added_to_scores(
            &json!({ "n_head": 4, "n_positions": 64 })
        ));
        assert!(
            !are_added_to_scores(&json!({ "state_size": 16 })),
            "no attention"
        );
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
