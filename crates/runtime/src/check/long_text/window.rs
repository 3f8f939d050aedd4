//! The tokens that a token reaches, in a model whose layers have a sliding window.

use super::super::comparison::outputs_by_position::OutputsByPosition;
use serde_json::Value;

/// The sliding windows of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlidingWindows {
    /// How far a token is seen through all layers, if each has the window.
    reach: usize,
    layers: usize,
    /// Whether the configuration says that each has it. Without `layer_types` that depends on the
    /// model type.
    is_certain: bool,
}

/// How far a replaced token was seen.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// As far as the windows of all layers reach.
    Reach(usize),
    /// Further than a wrong window explains: a layer has none.
    Everywhere,
}

impl SlidingWindows {
    /// The windows, or `None` if a layer says that it has none, or a text of `tokens` is too short
    /// to see their end.
    pub(super) fn of_model(config: &Value, tokens: usize) -> Option<Self> {
        let number = |name: &str| usize::try_from(config.get(name)?.as_u64()?).ok();
        let (window, layers) = (number("sliding_window")?, number("num_hidden_layers")?);
        let is_used = config.get("use_sliding_window") != Some(&Value::Bool(false));
        let types = config.get("layer_types").and_then(Value::as_array);
        let slides =
            types.is_none_or(|types| types.iter().all(|layer| layer == "sliding_attention"));
        // A token sees the `sliding_window - 1` before it, and through each further layer as many
        // more.
        let reach = layers * window.checked_sub(1)?;
        (is_used && slides && reach + 4 * layers + 2 < tokens).then_some(Self {
            reach,
            layers,
            is_certain: types.is_some(),
        })
    }

    /// The token of a text of `tokens` that is replaced: its reach ends in the middle of the rest.
    pub(super) fn replaced(self, tokens: usize) -> usize {
        (tokens - self.reach) / 2
    }

    /// How far the last output that differs is from the replaced token.
    ///
    /// # Errors
    ///
    /// The distance is not the reach.
    pub(super) fn compare(self, distance: usize) -> Result<Seen, String> {
        let Self { reach, layers, .. } = self;
        if distance == reach {
            return Ok(Seen::Reach(reach));
        }
        // A window that is one too large reaches one further in each layer.
        if !self.is_certain && distance > reach + layers {
            return Ok(Seen::Everywhere);
        }
        Err(format!(
            "a replaced token is seen {distance} tokens after it, the windows of {layers} layers reach {reach}"
        ))
    }
}

/// The last position at which an output differs in the two calls.
pub(super) fn last_difference(
    one: &OutputsByPosition,
    other: &OutputsByPosition,
    tokens: usize,
) -> Option<usize> {
    (0..tokens).rev().find(|position| {
        let mut pairs = one.positions.iter().zip(&other.positions);
        pairs.any(|((_, one), (_, other))| {
            // A hidden token gets the attention weight 0, so not even rounding may differ.
            one.narrow(1, *position, 1) != other.narrow(1, *position, 1)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{OutputsByPosition, Seen, SlidingWindows, last_difference};
    use serde_json::json;
    use testgen_nn::array::Array;

    #[test]
    fn every_layer_sees_further() {
        let config = json!({ "sliding_window": 5, "num_hidden_layers": 3 });
        let windows = SlidingWindows::of_model(&config, 27).expect("the text is long enough");
        assert_eq!(windows.compare(12), Ok(Seen::Reach(12)));
        assert_eq!(windows.replaced(27), 7);
        assert_eq!(SlidingWindows::of_model(&config, 26), None);
    }

    #[test]
    fn a_window_that_is_one_too_large_or_too_small_is_an_error() {
        let mut config = json!({ "sliding_window": 5, "num_hidden_layers": 3 });
        let outcome = |config: &_, distance| {
            let windows = SlidingWindows::of_model(config, 100).expect("the text is long enough");
            windows.compare(distance)
        };
        assert!(outcome(&config, 9).is_err() && outcome(&config, 15).is_err());
        assert_eq!(outcome(&config, 60), Ok(Seen::Everywhere));
        config["layer_types"] = json!([
            "sliding_attention",
            "sliding_attention",
            "sliding_attention"
        ]);
        assert!(outcome(&config, 60).is_err(), "each layer has a window");
    }

    #[test]
    fn a_layer_without_a_window_sees_everything() {
        let with = |name: &str, value| {
            let mut config = json!({ "sliding_window": 5, "num_hidden_layers": 2 });
            config[name] = value;
            SlidingWindows::of_model(&config, 100)
        };
        let full = json!(["sliding_attention", "full_attention"]);
        assert_eq!(with("layer_types", full), None);
        assert!(with("use_sliding_window", json!(true)).is_some());
        assert_eq!(with("use_sliding_window", json!(false)), None);
        assert_eq!(with("sliding_window", json!(null)), None);
    }

    #[test]
    fn the_last_difference_is_found() {
        let outputs = |values: [f32; 4]| OutputsByPosition {
            positions: vec![(
                "logits".to_owned(),
                Array::floats([1, 4, 1], values.to_vec()),
            )],
            pooled: Vec::new(),
        };
        let one = outputs([1.0, 2.0, 3.0, 4.0]);
        let other = outputs([1.0, 2.5, 3.5, 4.0]);
        assert_eq!(last_difference(&one, &other, 4), Some(2));
        assert_eq!(last_difference(&one, &one, 4), None);
    }
}
