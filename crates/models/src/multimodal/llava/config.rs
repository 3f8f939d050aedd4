//! The configuration of LLaVA: two nested ones, and which features of an image the decoder reads.

use crate::{
    config::{ModelConfig, Nested, NestedConfig},
    decoder_only::llama::Llama,
    vision_text::clip::ClipVisionConfig,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::backend::Activation;
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct LlavaConfig {
    pub(super) vision_config: Option<Nested<ClipVisionConfig>>,
    pub(super) text_config: Option<Nested<Llama>>,
    pub(super) image_token_index: i64,
    pub(super) projector_hidden_act: Activation,
    pub(super) vision_feature_select_strategy: Strategy,
    pub(super) vision_feature_layer: FeatureLayers,
    pub(super) multimodal_projector_bias: bool,
    pub(super) tie_word_embeddings: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The tokens of the image encoder that the decoder receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Strategy {
    /// The patches without the class token.
    Default,
    /// All.
    Full,
}

/// The hidden states of the image encoder that are used, counted from the embeddings or, below
/// zero, from the end.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum FeatureLayers {
    One(i64),
    Many(Vec<i64>),
}

impl FeatureLayers {
    /// As indices among `states` hidden states, or `None` if one is out of range.
    pub(super) fn indices(&self, states: usize) -> Option<Vec<usize>> {
        let layers = match self {
            Self::One(layer) => std::slice::from_ref(layer),
            Self::Many(layers) => layers,
        };
        layers
            .iter()
            .map(|layer| {
                // As Python indexes the tuple of hidden states.
                let index = if *layer < 0 {
                    *layer + states as i64
                } else {
                    *layer
                };
                usize::try_from(index).ok().filter(|index| *index < states)
            })
            .collect::<Option<Vec<_>>>()
            .filter(|indices| !indices.is_empty())
    }
}

impl LlavaConfig {
    pub(super) fn tokens_per_image(&self) -> usize {
        let patches = self
            .vision_config
            .as_ref()
            .map_or(0, |vision| vision.image.patches());
        match self.vision_feature_select_strategy {
            Strategy::Default => patches,
            Strategy::Full => patches + 1, // the class token
        }
    }
}

impl ModelConfig for LlavaConfig {
    /// The first is what labels hide from the loss; the second is the processor's; the third
    /// repeats the decoder's.
    const INERT: &'static [&'static str] = &["ignore_index", "image_seq_length", "vocab_size"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn nested(&self) -> Vec<(&'static str, &dyn NestedConfig)> {
        let vision = self
            .vision_config
            .as_ref()
            .map(|nested| ("vision_config", nested as &dyn NestedConfig));
        let text = self
            .text_config
            .as_ref()
            .map(|nested| ("text_config", nested as &dyn NestedConfig));
        vision.into_iter().chain(text).collect()
    }

    fn validate(&self) -> Result<(), String> {
        let (Some(vision), Some(text)) = (&self.vision_config, &self.text_config) else {
            return Err("`vision_config` or `text_config` is missing".to_owned());
        };
        of_type("vision_config", vision.rest(), "clip_vision_model")?;
        of_type("text_config", text.rest(), "llama")?;
        match self
            .vision_feature_layer
            // The embeddings are the first hidden state.
            .indices(vision.encoder.num_hidden_layers + 1)
        {
            Some(_) => Ok(()),
            None => Err(
                "`vision_feature_layer` names a layer that the image encoder does not have"
                    .to_owned(),
            ),
        }
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let text = self
            .text_config
            .as_ref()
            .map(|text| text.inert_fields(head))
            .unwrap_or_default();
        let mut fields: Vec<_> = text
            .into_iter()
            .filter_map(|(field, why)| Some((in_text(field)?, why)))
            .collect();
        let text_ties = self
            .text_config
            .as_ref()
            .is_some_and(|text| text.fields.tie_word_embeddings);
        if text_ties {
            fields.push(("tie_word_embeddings", "`text_config` ties them already"));
        }
        if self.tie_word_embeddings {
            fields.push((
                "text_config.tie_word_embeddings",
                "the whole model ties them already",
            ));
        }
        fields.push(("text_config.pad_token_id", "only a classifier reads it"));
        fields
    }
}

/// The name of a field of `text_config` that may be without effect.
fn in_text(field: &str) -> Option<&'static str> {
    match field {
        "max_position_embeddings" => Some("text_config.max_position_embeddings"),
        "tie_word_embeddings" => Some("text_config.tie_word_embeddings"),
        _ => None,
    }
}

/// The encoders that are implemented; a file that names none has the first.
fn of_type(place: &str, rest: &Map<String, Value>, expected: &str) -> Result<(), String> {
    match rest.get("model_type").and_then(Value::as_str) {
        None => Ok(()),
        Some(found) if found == expected => Ok(()),
        Some(found) => Err(format!(
            "`{place}` is a `{found}`; supported is `{expected}`"
        )),
    }
}
