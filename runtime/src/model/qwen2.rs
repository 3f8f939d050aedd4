//! Qwen2 (Yang et al. 2024): `transformers.models.qwen2`. Llama with biases on query, key and value, and a sliding
//! window in some layers.

use super::{
    class::Head,
    family::Family,
    llama_decoder::{DECODER_HEADS, LlamaFields, LlamaShape},
    load::LoadError,
    network::Network,
};
use crate::{backend::Ops, config::Config, weights::Weights};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct Qwen2Config {
    #[serde(flatten)]
    fields: LlamaFields,
    #[serde(default)]
    use_sliding_window: bool,
    #[serde(default = "default_window")]
    sliding_window: Option<usize>,
    #[serde(default = "default_max_window_layers")]
    max_window_layers: usize,
    layer_types: Option<Vec<LayerType>>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// What a layer's queries see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LayerType {
    /// Every earlier token.
    FullAttention,
    /// The last `sliding_window` tokens.
    SlidingAttention,
}

fn default_window() -> Option<usize> {
    Some(4096)
}

fn default_max_window_layers() -> usize {
    28
}

impl Qwen2Config {
    /// The window of each layer: that of `layer_types`; in files older than it, from `max_window_layers` on.
    fn windows(&self) -> Vec<Option<usize>> {
        let window = self.sliding_window.filter(|_| self.use_sliding_window);
        match &self.layer_types {
            Some(types) => types.iter().map(|layer| window.filter(|_| *layer == LayerType::SlidingAttention)).collect(),
            None => {
                let layers = 0..self.fields.num_hidden_layers;
                layers.map(|layer| window.filter(|_| layer >= self.max_window_layers)).collect()
            }
        }
    }
}

impl Config for Qwen2Config {
    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()?;
        let layers = self.fields.num_hidden_layers;
        match &self.layer_types {
            Some(types) if types.len() != layers => {
                Err(format!("`layer_types` has {} entries for `num_hidden_layers` {layers}", types.len()))
            }
            Some(types)
                if types.contains(&LayerType::SlidingAttention) && self.windows().iter().all(Option::is_none) =>
            {
                Err("`layer_types` has sliding layers, but `sliding_window` or `use_sliding_window` is off".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = self.fields.without_effect(head);
        if self.windows().iter().all(Option::is_none) {
            fields.push(("sliding_window", "no layer has a window"));
            fields.push(("layer_types", "no layer has a window"));
        }
        if self.layer_types.is_some() {
            fields.push(("max_window_layers", "`layer_types` says which layers have a window"));
        } else if !self.use_sliding_window {
            fields.push(("max_window_layers", "`use_sliding_window` is off"));
        }
        fields
    }
}

/// `model_type` `qwen2`.
pub(crate) struct Qwen2;

impl Family for Qwen2 {
    type Config = Qwen2Config;
    const NAME: &'static str = "Qwen2";
    const HEADS: &'static [Head] = DECODER_HEADS;

    fn load<B: Ops>(
        config: &Qwen2Config,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let shape = LlamaShape {
            key_value_heads: config.fields.num_key_value_heads.unwrap_or(32),
            query_bias: true,
            output_bias: false,
            mlp_bias: false,
            windows: config.windows(),
        };
        shape.load(&config.fields, head, labels, w)
    }
}
