//! The tokens before a token that reach it, in a model all of whose layers have a sliding window.

use super::super::comparison::outputs_by_position::OutputsByPosition;
use serde_json::Value;

/// The types of which every layer has the window if the configuration names no types of layers, as
/// in transformers.
const IN_EVERY_LAYER: [&str; 3] = ["mistral", "phi3", "starcoder2"];

/// How far a token sees through all layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    /// The tokens before it.
    pub(super) reach: usize,
}

impl Window {
    /// The window of a configuration, or `None` if a layer sees the whole text, or a text of
    /// `tokens` has no token outside of it.
    ///
    /// A token sees the `sliding_window - 1` before it, and through each further layer as many
    /// more.
    pub(super) fn of_model(config: &Value, tokens: usize) -> Option<Self> {
        let number = |name: &str| usize::try_from(config.get(name)?.as_u64()?).ok();
        let (window, layers) = (number("sliding_window")?, number("num_hidden_layers")?);
        let is_used = config.get("use_sliding_window") != Some(&Value::Bool(false));
        let slides = match config.get("layer_types").and_then(Value::as_array) {
            Some(types) => types.iter().all(|layer| layer == "sliding_attention"),
            None => {
                let model_type = config.get("model_type").and_then(Value::as_str);
                model_type.is_some_and(|model_type| IN_EVERY_LAYER.contains(&model_type))
            }
        };
        let reach = layers * window.checked_sub(1)?;
        (is_used && slides && reach + 2 < tokens).then_some(Self { reach })
    }
}

/// Whether an output at `position` differs in the two calls. A hidden token gets the attention
/// weight 0, so not even rounding may differ.
pub(super) fn differ(one: &OutputsByPosition, other: &OutputsByPosition, position: usize) -> bool {
    let pairs = one.positions.iter().zip(&other.positions);
    pairs
        .into_iter()
        .any(|((_, one), (_, other))| one.narrow(1, position, 1) != other.narrow(1, position, 1))
}

#[cfg(test)]
mod tests {
    use super::Window;
    use serde_json::json;

    #[test]
    fn every_layer_sees_further() {
        let config =
            json!({ "model_type": "mistral", "sliding_window": 5, "num_hidden_layers": 3 });
        assert_eq!(Window::of_model(&config, 15), Some(Window { reach: 12 }));
        assert_eq!(Window::of_model(&config, 14), None);
    }

    #[test]
    fn a_layer_without_a_window_sees_everything() {
        let with = |name: &str, value| {
            let mut config =
                json!({ "model_type": "mistral", "sliding_window": 5, "num_hidden_layers": 2 });
            config[name] = value;
            Window::of_model(&config, 100)
        };
        let reach = Some(Window { reach: 8 });
        let (sliding, full) = ("sliding_attention", "full_attention");
        assert_eq!(with("layer_types", json!([sliding, sliding])), reach);
        assert_eq!(with("layer_types", json!([sliding, full])), None);
        assert_eq!(with("use_sliding_window", json!(true)), reach);
        assert_eq!(with("use_sliding_window", json!(false)), None);
        assert_eq!(with("sliding_window", json!(null)), None);
        assert_eq!(with("model_type", json!("gemma2")), None);
    }
}
