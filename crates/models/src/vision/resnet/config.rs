//! The configuration of ResNet, as a model and as the backbone of a detector.

use crate::config::ModelConfig;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::backend::Activation;
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct ResNetConfig {
    pub(super) num_channels: usize,
    pub(super) embedding_size: usize,
    pub(super) hidden_sizes: Vec<usize>,
    pub(super) depths: Vec<usize>,
    pub(super) layer_type: ResnetBlockType,
    pub(super) hidden_act: Activation,
    pub(super) downsample_in_first_stage: bool,
    pub(super) downsample_in_bottleneck: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The block of which the stages are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ResnetBlockType {
    /// Two 3x3 convolutions.
    Basic,
    /// 1x1, 3x3, 1x1, narrow in the middle.
    Bottleneck,
}

impl ModelConfig for ResNetConfig {
    const NESTED_TYPE: &'static str = "resnet";

    /// The outputs of a backbone for detection.
    const INERT: &'static [&'static str] = &["out_features", "out_indices", "stage_names"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        if self.hidden_sizes.is_empty() || self.hidden_sizes.len() != self.depths.len() {
            let (sizes, depths) = (self.hidden_sizes.len(), self.depths.len());
            return Err(format!(
                "`hidden_sizes` has {sizes} entries and `depths` {depths}; both have one for each stage"
            ));
        }
        Ok(())
    }

    fn inert_fields(&self, _: Head) -> Vec<(&'static str, &'static str)> {
        match self.layer_type {
            ResnetBlockType::Basic => vec![("downsample_in_bottleneck", "the blocks are basic")],
            ResnetBlockType::Bottleneck
                if self.hidden_sizes.len() == 1 && !self.downsample_in_first_stage =>
            {
                vec![(
                    "downsample_in_bottleneck",
                    "no stage makes the image smaller",
                )]
            }
            ResnetBlockType::Bottleneck => Vec::new(),
        }
    }
}

impl ResNetConfig {
    /// The channels after the last stage.
    pub(crate) fn channels(&self) -> usize {
        // Never the default: `validate` refuses a model without stages.
        *self.hidden_sizes.last().unwrap_or(&self.embedding_size)
    }

    /// The requirements of a detector for its backbone: that it is a ResNet, and returns its last
    /// stage.
    pub(crate) fn validate_backbone(&self) -> Result<(), String> {
        let last = format!("stage{}", self.hidden_sizes.len());
        // `DetrModel` reads the last map that the backbone returns.
        let given = self
            .rest
            .get("out_features")
            .and_then(Value::as_array)
            .and_then(|features| features.last());
        match self.rest.get("model_type").and_then(Value::as_str) {
            Some("resnet") => {}
            other => {
                return Err(format!(
                    "the backbone is {other:?}; supported is a \"resnet\""
                ));
            }
        }
        match given.and_then(Value::as_str) {
            Some(given) if given != last => Err(format!(
                "`out_features` ends with {given:?}, supported is {last:?}"
            )),
            _ => Ok(()),
        }
    }
}
