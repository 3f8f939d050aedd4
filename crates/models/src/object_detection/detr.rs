//! DETR (Carion et al. 2020): `transformers.models.detr`, over a ResNet of transformers.

use super::{
    detr_layer::{DetrDecoderLayer, DetrEncoderLayer, DetrLayerShape, EncodedImage},
    detr_positions::DetrPositions,
};
use crate::{
    config::{ModelConfig, Nested, NestedConfig, divides},
    model_def::{LoadedNetwork, ModelDef},
    network::Network,
    vision::resnet::{self, ResNetConfig},
    vision_blocks::detection_head::{DetectionHead, DetectionMlp, Labels},
};
use burn_tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{Conv2d, Conv2dShape, LayerNorm, Linear, key_bias},
    stack::LayerStack,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct DetrConfig {
    backbone_config: Option<Nested<ResNetConfig>>,
    num_queries: usize,
    d_model: usize,
    encoder_layers: usize,
    encoder_ffn_dim: usize,
    encoder_attention_heads: usize,
    decoder_layers: usize,
    decoder_ffn_dim: usize,
    decoder_attention_heads: usize,
    activation_function: Activation,
    position_embedding_type: ImagePositionType,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The encoding of positions in the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ImagePositionType {
    Sine,
    Learned,
}

/// `nn.LayerNorm`'s own, which DETR keeps.
const EPS: f64 = 1e-5;

const TIMM: &str = "`backbone_config` is missing, which means a backbone of timm, and only those of transformers are \
                    supported; take the revision of the checkpoint that has one (`no_timm`)";

impl ModelConfig for DetrConfig {
    /// Training; what follows from other fields or is the backbone's to say; that there is a
    /// decoder. Without a `backbone_config`, which is rejected, `use_timm_backbone` would choose.
    const INERT: &'static [&'static str] = &[
        "bbox_cost",
        "bbox_loss_coefficient",
        "class_cost",
        "decoder_layerdrop",
        "dice_loss_coefficient",
        "encoder_layerdrop",
        "eos_coefficient",
        "giou_cost",
        "giou_loss_coefficient",
        "init_std",
        "init_xavier_std",
        "is_encoder_decoder",
        "mask_loss_coefficient",
        "max_position_embeddings",
        "num_channels",
        "use_pretrained_backbone",
        "use_timm_backbone",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn nested(&self) -> Vec<(&'static str, &dyn NestedConfig)> {
        self.backbone_config
            .iter()
            .map(|backbone| ("backbone_config", backbone as &dyn NestedConfig))
            .collect()
    }

    fn validate(&self) -> Result<(), String> {
        for (name, heads) in [
            ("encoder_attention_heads", self.encoder_attention_heads),
            ("decoder_attention_heads", self.decoder_attention_heads),
        ] {
            divides("d_model", self.d_model, name, heads)?;
        }
        // Rows and columns have a half each, and each half has pairs of a sine and a cosine.
        divides("d_model", self.d_model, "4 parts of sines and cosines", 4)?;
        let Some(backbone) = &self.backbone_config else {
            return Err(TIMM.to_owned());
        };
        backbone.validate_backbone()
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let inner = self
            .backbone_config
            .as_ref()
            .map(|backbone| backbone.inert_fields(head))
            .unwrap_or_default();
        inner
            .into_iter()
            .map(|(field, why)| match field {
                // Written out, because the names are static; a ResNet lists no other field.
                "downsample_in_bottleneck" => ("backbone_config.downsample_in_bottleneck", why),
                other => (other, why),
            })
            .collect()
    }
}

/// `model_type` `detr`.
pub(crate) struct Detr;

impl ModelDef for Detr {
    type Config = DetrConfig;

    fn load<B: Ops>(
        config: &DetrConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let width = config.d_model;
        let head = match head {
            Head::ObjectDetection => Some(DetectionHead {
                // One more for "no object", which is what most queries find.
                labels: Labels::Linear(Linear::load(
                    &w.module("class_labels_classifier"),
                    width,
                    labels + 1,
                )?),
                boxes: DetectionMlp::load(&w.module("bbox_predictor"), width, 4)?,
            }),
            _ => None,
        };
        Ok(Box::new(DetrModel::load(
            config,
            head,
            &w.strip_prefix("model"),
        )?))
    }
}

struct DetrModel<B: Ops> {
    backbone: resnet::ResNetEncoder<B>,
    positions: DetrPositions<B>,
    projection: Conv2d<B>,
    encoder: LayerStack<B, DetrEncoderLayer<B>>,
    /// [1, queries, width]: what a query asks for, added before every attention.
    queries: Tensor<B, 3>,
    decoder: LayerStack<B, DetrDecoderLayer<B>>,
    layernorm: LayerNorm<B>,
    head: Option<DetectionHead<B>>,
}

impl<B: Ops> DetrModel<B> {
    fn load(
        config: &DetrConfig,
        head: Option<DetectionHead<B>>,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let (width, queries) = (config.d_model, config.num_queries);
        let backbone = config
            .backbone_config
            .as_ref()
            .expect("a configuration without a backbone is refused");
        let channels = [backbone.channels(), width];
        let projection = Conv2dShape {
            channels,
            kernel: [1, 1],
            stride: [1, 1],
            padding: [0, 0],
        };
        let shape = |inner, heads| DetrLayerShape {
            width,
            heads,
            inner,
            activation: config.activation_function,
        };
        let encoder = shape(config.encoder_ffn_dim, config.encoder_attention_heads);
        let decoder = shape(config.decoder_ffn_dim, config.decoder_attention_heads);
        let learned = config.position_embedding_type == ImagePositionType::Learned;
        Ok(Self {
            backbone: resnet::ResNetEncoder::load(
                backbone,
                // The first name is in released files, the second in memory of transformers 5.
                &w.module_named(&["backbone.conv_encoder.model", "backbone.model"]),
            )?,
            positions: DetrPositions::load(learned, width, w)?,
            projection: Conv2d::load(&w.module("input_projection"), projection, true)?,
            encoder: LayerStack::load(
                &w.module("encoder.layers"),
                config.encoder_layers,
                move |_, w| DetrEncoderLayer::load(&encoder, w),
            )?,
            queries: w
                .tensor("query_position_embeddings.weight", [queries, width])?
                .unsqueeze(),
            decoder: LayerStack::load(
                &w.module("decoder.layers"),
                config.decoder_layers,
                move |_, w| DetrDecoderLayer::load(&decoder, w),
            )?,
            layernorm: LayerNorm::load(&w.module("decoder.layernorm"), width, EPS)?,
            head,
        })
    }

    /// The encoder's output for every position of the image, with the positions' encodings and the
    /// mask of hidden ones.
    fn encode(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<EncodedImage<B>, ForwardError> {
        let features = self.backbone.features(inputs)?;
        let size = [features.dims()[2], features.dims()[3]];
        let projected = self.projection.forward(features);
        let [batch, width, height, length] = projected.dims();
        let x = projected
            .reshape([batch, width, height * length])
            .swap_dims(1, 2);
        context.trace_embed(&x)?;
        let shown = self.positions.shown(batch, size, inputs)?;
        let bias = shown
            .as_ref()
            .and_then(|shown| key_bias(inputs, shown, [batch, height * length]));
        let mut shared = (self.positions.at(size, shown.as_deref(), inputs)?, bias);
        let places = self
            .encoder
            .fold(context, x, &mut shared, |x, at, context| {
                let (positions, bias) = at.shared;
                let x = at.layer.forward(x, positions, bias.clone());
                context.trace_layer(at.depth, &x)?;
                Ok(x)
            })?;
        let (positions, bias) = shared;
        Ok(EncodedImage {
            places,
            positions,
            bias,
        })
    }
}

impl<B: Ops> Network<B> for DetrModel<B> {
    /// `last_hidden_state` [batch, queries, width], `encoder_last_hidden_state` [batch, positions,
    /// width], and the outputs of the head leaves.
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let memory = self.encode(inputs, context)?;
        context.output("encoder_last_hidden_state", memory.places.clone())?;
        let ([batch, ..], [_, queries, width]) = (memory.places.dims(), self.queries.dims());
        // The queries themselves are added like positions, before each attention.
        let x = Tensor::zeros([batch, queries, width], (inputs.device(), inputs.dtype));
        let (first, depth) = (self.encoder.depth(), self.decoder.depth());
        let mut shared = (self.queries.clone(), memory);
        let x = self
            .decoder
            .fold(context, x, &mut shared, |x, at, context| {
                let (queries, memory) = at.shared;
                let x = at.layer.forward(x, queries, memory);
                if at.depth + 1 < depth {
                    context.trace_layer(first + at.depth, &x)?;
                }
                Ok(x)
            })?;
        let last = self.layernorm.forward(x);
        // The last hidden state of transformers is the one after the final norm.
        context.trace_layer(first + depth.saturating_sub(1), &last)?;
        context.output("last_hidden_state", last.clone())?;
        self.head
            .as_ref()
            .map_or(Ok(()), |head| head.forward(last, context))
    }
}
