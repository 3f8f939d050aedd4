//! PatchTST (Nie et al. 2022): `transformers.models.patchtst`.

mod encoder;
mod head;
mod scaler;

use crate::{
    class::Head,
    config::{Config, divides},
    family::{Family, Loaded},
    network::Network,
};
use encoder::PatchTstEncoder;
use head::{Output, SeriesHead};
use scaler::{Scaled, Scaler};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    weights::Weights,
};

/// The `config.json`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct PatchTstConfig {
    num_input_channels: usize,
    context_length: usize,
    patch_length: usize,
    patch_stride: usize,
    num_hidden_layers: usize,
    #[serde(alias = "hidden_size")]
    d_model: usize,
    num_attention_heads: usize,
    share_embedding: bool,
    channel_attention: bool,
    ffn_dim: usize,
    norm_type: NormType,
    norm_eps: f64,
    bias: bool,
    activation_function: Activation,
    pre_norm: bool,
    positional_encoding_type: PositionType,
    use_cls_token: bool,
    share_projection: bool,
    scaling: Scaler,
    pooling_type: Option<Pool>,
    loss: Loss,
    prediction_length: usize,
    num_targets: usize,
    output_range: Option<[f32; 2]>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// How the sublayers are normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NormType {
    BatchNorm,
    LayerNorm,
}

/// What the table of positions began as; its values are in the checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PositionType {
    SinCos,
    Random,
}

/// How patches become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Pool {
    Mean,
    Max,
}

/// What the outputs are: numbers. Distributions (`nll`) are not implemented, and are refused by serde.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Loss {
    Mse,
}

impl Default for PatchTstConfig {
    fn default() -> Self {
        Self {
            num_input_channels: 1,
            context_length: 32,
            patch_length: 1,
            patch_stride: 1,
            num_hidden_layers: 3,
            d_model: 128,
            num_attention_heads: 4,
            share_embedding: true,
            channel_attention: false,
            ffn_dim: 512,
            norm_type: NormType::BatchNorm,
            norm_eps: 1e-5,
            bias: true,
            activation_function: Activation::Gelu,
            pre_norm: true,
            positional_encoding_type: PositionType::SinCos,
            use_cls_token: false,
            share_projection: true,
            scaling: Scaler::Std,
            pooling_type: Some(Pool::Mean),
            loss: Loss::Mse,
            prediction_length: 24,
            num_targets: 1,
            output_range: None,
            rest: Map::new(),
        }
    }
}

impl PatchTstConfig {
    /// The number of patches; what does not fill one is cut off in front.
    fn patches(&self) -> usize {
        (self.context_length - self.patch_length) / self.patch_stride + 1
    }

    /// Whether a channel is one vector before the head reads it.
    fn pooled(&self) -> bool {
        self.use_cls_token || self.pooling_type.is_some()
    }
}

impl Config for PatchTstConfig {
    /// Masking is of the pretraining class, and the other heads turn it off; samples are drawn from distributions alone.
    const INERT: &'static [&'static str] = &[
        "channel_consistent_masking",
        "distribution_output",
        "do_mask_input",
        "init_std",
        "mask_type",
        "mask_value",
        "num_forecast_mask_patches",
        "num_parallel_samples",
        "random_mask_ratio",
        "unmasked_channel_indices",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides("d_model", self.d_model, "num_attention_heads", self.num_attention_heads)?;
        if self.patch_stride == 0 || self.patch_length == 0 || self.context_length <= self.patch_length {
            return Err("`patch_stride` and `patch_length` are at least 1, and `context_length` above it".to_owned());
        }
        match self.share_projection {
            true => Ok(()),
            false => Err("`share_projection` is false, which transformers 5 cannot compute either".to_owned()),
        }
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = vec![("positional_encoding_type", "the table is in the checkpoint")];
        let other = "another head reads it";
        match head {
            Head::Prediction => fields.extend([("num_targets", other), ("output_range", other)]),
            Head::Regression => fields.push(("prediction_length", other)),
            _ => fields.extend([("prediction_length", other), ("output_range", other)]),
        }
        if head != Head::Prediction {
            fields.push(("share_projection", "only the forecast's head has one projection for each channel"));
        }
        if self.use_cls_token {
            fields.push(("pooling_type", "the class token is read instead"));
        }
        fields
    }
}

/// `model_type` `patchtst`.
pub(crate) struct PatchTst;

impl Family for PatchTst {
    type Config = PatchTstConfig;
    const NAME: &'static str = "PatchTST";
    const HEADS: &'static [Head] = &[Head::Prediction, Head::Classification, Head::Regression];

    fn load<B: Ops>(config: &PatchTstConfig, head: Head, _: usize, w: &Weights<B>) -> Loaded<B> {
        Ok(Box::new(PatchTstModel {
            scaler: config.scaling,
            encoder: PatchTstEncoder::load(config, &w.module("model.encoder"))?,
            head: SeriesHead::load(config, head, &w.module("head"))?,
            shape: [config.context_length, config.num_input_channels],
        }))
    }
}

struct PatchTstModel<B: Ops> {
    scaler: Scaler,
    encoder: PatchTstEncoder<B>,
    head: SeriesHead<B>,
    /// The length of a series, and its channels.
    shape: [usize; 2],
}

impl<B: Ops> Network<B> for PatchTstModel<B> {
    /// `prediction_outputs` [batch, prediction_length, channels] in the unit of the input, with `loc` and `scale`
    /// [batch, 1, channels]; or `prediction_logits` or `regression_outputs` [batch, targets].
    fn forward(&self, inputs: &Inputs<'_, B>, context: &mut ForwardContext<'_, B>) -> Result<(), ForwardError> {
        let series = inputs.floats::<3>("past_values")?;
        if series.dims()[1..] != self.shape {
            return Err(ForwardError::WrongInput {
                name: "past_values".to_owned(),
                found: format!("a tensor of shape {:?}", series.dims()),
                expected: format!("floats of shape [batch, {}, {}]", self.shape[0], self.shape[1]),
            });
        }
        let Scaled { values, loc, scale } = self.scaler.apply(series, scaler::observed(inputs)?);
        let hidden = self.encoder.forward(values, context)?;
        match self.head.forward(hidden) {
            Output::Logits(logits) => context.output("prediction_logits", logits),
            Output::Regression(numbers) => context.output("regression_outputs", numbers),
            Output::Forecast(forecast) => {
                context.output("prediction_outputs", forecast * scale.clone() + loc.clone())?;
                context.output("loc", loc)?;
                context.output("scale", scale)
            }
        }
    }
}
