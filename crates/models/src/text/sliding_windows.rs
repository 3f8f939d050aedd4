//! The layers of a decoder that have a sliding window, from Qwen configurations.

use serde::Deserialize;

/// The tokens that the queries of a layer see, among the tokens that masks permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LayerType {
    /// Every token.
    FullAttention,
    /// Tokens within the window.
    SlidingAttention,
}

/// The fields about windows.
#[derive(Debug, Deserialize)]
pub(crate) struct SlidingWindowFields {
    use_sliding_window: bool,
    sliding_window: Option<usize>,
    max_window_layers: usize,
    layer_types: Option<Vec<LayerType>>,
}

impl SlidingWindowFields {
    /// The window of each of `layers`: by `layer_types`; in files older than this field, a window
    /// from layer `max_window_layers` on.
    pub(crate) fn windows(&self, layers: usize) -> Vec<Option<usize>> {
        self.windows_of(
            layers,
            self.sliding_window.filter(|_| self.use_sliding_window),
        )
    }

    fn windows_of(&self, layers: usize, window: Option<usize>) -> Vec<Option<usize>> {
        match &self.layer_types {
            Some(types) => types
                .iter()
                .map(|layer| window.filter(|_| *layer == LayerType::SlidingAttention))
                .collect(),
            // The configuration class derives `layer_types` like this.
            None => (0..layers)
                .map(|layer| window.filter(|_| layer >= self.max_window_layers))
                .collect(),
        }
    }

    pub(crate) fn validate(&self, layers: usize) -> Result<(), String> {
        let Some(types) = &self.layer_types else {
            return Ok(());
        };
        validate_layer_types(types, layers)?;
        // `create_sliding_window_causal_mask` fails without a window, too.
        if types.contains(&LayerType::SlidingAttention) && self.has_none(layers) {
            return Err(
                "`layer_types` has sliding layers, but `sliding_window` or `use_sliding_window` is off".to_owned()
            );
        }
        Ok(())
    }

    /// See [`Config::inert_fields`](crate::config::ModelConfig::inert_fields).
    pub(crate) fn inert_fields(&self, layers: usize) -> Vec<(&'static str, &'static str)> {
        let mut fields = Vec::new();
        if self.has_none(layers) {
            fields.push(("sliding_window", "no layer has a window"));
            fields.push(("layer_types", "no layer has a window"));
        }
        if self
            // As if it were on: the field has an effect if a layer would then get a window.
            .windows_of(layers, self.sliding_window)
            .iter()
            .all(Option::is_none)
        {
            fields.push(("use_sliding_window", "no layer would have a window"));
        }
        if self.layer_types.is_some() {
            fields.push((
                "max_window_layers",
                "`layer_types` says which layers have a window",
            ));
        } else if !self.use_sliding_window {
            fields.push(("max_window_layers", "`use_sliding_window` is off"));
        }
        fields
    }

    fn has_none(&self, layers: usize) -> bool {
        self.windows(layers).iter().all(Option::is_none)
    }
}

/// One entry for each layer.
pub(crate) fn validate_layer_types(types: &[LayerType], layers: usize) -> Result<(), String> {
    if types.len() == layers {
        return Ok(());
    }
    Err(format!(
        "`layer_types` has {} entries for `num_hidden_layers` {layers}",
        types.len()
    ))
}
