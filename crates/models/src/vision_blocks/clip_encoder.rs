//! The encoder that CLIP made common: transformer layers normalised before each part, over tokens
//! or over patches. CLIP and SigLIP have two of them, LLaVA has the one for images.

use crate::config::{ImageSize, divides_into_heads};
use burn_tensor::Tensor;
use serde::Deserialize;
use testgen_nn::{
    backend::{Activation, Ops},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{
        AttentionNames, AttentionShape, Conv2d, Conv2dShape, Embedding, LayerNorm, Linear, Mlp,
        SelfAttention, causal_bias, padding_bias, positions,
    },
    stack::LayerStack,
    weights::{Weights, WeightsError},
};

/// The fields that both encoders of both types have; their defaults are the types' own.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ClipEncoderFields {
    pub(crate) hidden_size: usize,
    intermediate_size: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) hidden_act: Activation,
    pub(crate) layer_norm_eps: f64,
}

/// The further fields of an encoder of patches.
#[derive(Debug, Deserialize)]
pub(crate) struct ImageFields {
    pub(crate) num_channels: usize,
    pub(crate) image_size: ImageSize,
    pub(crate) patch_size: ImageSize,
}

/// The further fields of an encoder of tokens.
#[derive(Debug, Deserialize)]
pub(crate) struct TextFields {
    pub(crate) vocab_size: usize,
    pub(crate) max_position_embeddings: usize,
}

impl ClipEncoderFields {
    pub(crate) fn validate(&self) -> Result<(), String> {
        divides_into_heads(self.hidden_size, self.num_attention_heads)
    }

    /// `fc1` and `fc2`.
    pub(crate) fn mlp<B: Ops>(&self, w: &Weights<B>) -> Result<Mlp<B>, WeightsError> {
        Ok(Mlp {
            up: Linear::load(&w.module("fc1"), self.hidden_size, self.intermediate_size)?,
            activation: self.hidden_act,
            down: Linear::load(&w.module("fc2"), self.intermediate_size, self.hidden_size)?,
        })
    }

    pub(crate) fn norm<B: Ops>(&self, w: &Weights<B>) -> Result<LayerNorm<B>, WeightsError> {
        LayerNorm::load(w, self.hidden_size, self.layer_norm_eps)
    }
}

impl ImageFields {
    pub(crate) fn validate(&self) -> Result<(), String> {
        // `patches` divides by it.
        match self.patch_size.height_width().contains(&0) {
            true => Err("`patch_size` is 0".to_owned()),
            false => Ok(()),
        }
    }

    pub(crate) fn patches(&self) -> usize {
        // `validate` has refused a patch without pixels.
        let (image, patch) = (
            self.image_size.height_width(),
            self.patch_size.height_width(),
        );
        (image[0] / patch[0]) * (image[1] / patch[1])
    }
}

/// The layers of an encoder.
pub(crate) struct ClipLayers<B: Ops>(LayerStack<B, ClipLayer<B>>);

impl<B: Ops> ClipLayers<B> {
    /// `encoder.layers` below `w`.
    fn load(fields: &ClipEncoderFields, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (count, fields) = (fields.num_hidden_layers, fields.clone());
        let layers = &w.module("encoder.layers");
        LayerStack::load(layers, count, move |_, w| ClipLayer::load(&fields, w)).map(Self)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.depth()
    }

    /// [batch, seq, width] through the first `count` layers; their traces are numbered from
    /// `first`.
    pub(crate) fn forward(
        &self,
        x: Tensor<B, 3>,
        bias: Option<&Tensor<B, 4>>,
        first: usize,
        count: usize,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let mut bias = bias.cloned();
        self.0
            .fold_first(count, context, x, &mut bias, |x, at, context| {
                let x = at.layer.forward(x, at.shared.clone());
                context.trace_layer(first + at.depth, &x)?;
                Ok(x)
            })
    }
}

struct ClipLayer<B: Ops> {
    layer_norm1: LayerNorm<B>,
    self_attn: SelfAttention<B>,
    layer_norm2: LayerNorm<B>,
    mlp: Mlp<B>,
}

impl<B: Ops> ClipLayer<B> {
    fn load(fields: &ClipEncoderFields, w: &Weights<B>) -> Result<Self, WeightsError> {
        let shape = AttentionShape {
            width: fields.hidden_size,
            heads: fields.num_attention_heads,
            bias: true,
        };
        Ok(Self {
            layer_norm1: fields.norm(&w.module("layer_norm1"))?,
            self_attn: SelfAttention::load(w, &AttentionNames::SELF_ATTN, &shape)?,
            layer_norm2: fields.norm(&w.module("layer_norm2"))?,
            mlp: fields.mlp(&w.module("mlp"))?,
        })
    }

    fn forward(&self, x: Tensor<B, 3>, bias: Option<Tensor<B, 4>>) -> Tensor<B, 3> {
        let x = x.clone() + self.self_attn.forward(self.layer_norm1.forward(x), bias);
        x.clone() + self.mlp.forward(self.layer_norm2.forward(x))
    }
}

/// An encoder of tokens.
pub(crate) struct ClipTextEncoder<B: Ops> {
    token_embedding: Embedding<B>,
    position_embedding: Embedding<B>,
    layers: ClipLayers<B>,
    final_layer_norm: LayerNorm<B>,
    causal: bool,
    vocab: usize,
    max_positions: usize,
}

impl<B: Ops> ClipTextEncoder<B> {
    pub(crate) fn load(
        encoder: &ClipEncoderFields,
        fields: &TextFields,
        causal: bool,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let embeddings = w.module("embeddings");
        let table =
            |name, rows| Embedding::load(&embeddings.module(name), rows, encoder.hidden_size);
        Ok(Self {
            token_embedding: table("token_embedding", fields.vocab_size)?,
            position_embedding: table("position_embedding", fields.max_position_embeddings)?,
            layers: ClipLayers::load(encoder, w)?,
            final_layer_norm: encoder.norm(&w.module("final_layer_norm"))?,
            causal,
            vocab: fields.vocab_size,
            max_positions: fields.max_position_embeddings,
        })
    }

    /// [batch, seq, width], after the final norm. The trace has the tokens' embedding, and each
    /// layer before it.
    pub(crate) fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let ids = inputs.indices("input_ids", self.vocab)?;
        let shape = ids.dims();
        let (values, position_shape) = positions(inputs, shape, 0)?;
        let places =
            inputs.checked_indices("position_ids", values, position_shape, self.max_positions)?;
        let x = self.token_embedding.forward(ids) + self.position_embedding.forward(places);
        context.trace_embed(&x)?;
        // CLIP's text encoder is causal, SigLIP's sees the whole text.
        let bias = if self.causal {
            causal_bias(inputs, shape, 0, None)?
        } else {
            padding_bias(inputs, shape)?
        };
        let x = self
            .layers
            .forward(x, bias.as_ref(), 0, self.layers.len(), context)?;
        Ok(self.final_layer_norm.forward(x))
    }

    /// The number of layers; the traces of another encoder are numbered from here.
    pub(crate) fn depth(&self) -> usize {
        self.layers.len()
    }

    pub(crate) fn max_positions(&self) -> usize {
        self.max_positions
    }
}

/// An encoder of patches.
pub(crate) struct ClipImageEncoder<B: Ops> {
    patch_embedding: Conv2d<B>,
    position_embedding: Tensor<B, 2>,
    /// The parts of CLIP before the layers: a class token, and a norm over the embeddings.
    class: Option<(Tensor<B, 1>, LayerNorm<B>)>,
    layers: ClipLayers<B>,
    /// Channels, height and width.
    image: [usize; 3],
}

impl<B: Ops> ClipImageEncoder<B> {
    /// CLIP's: a class token, a norm over the embeddings, patches without bias.
    pub(crate) fn load_clip(
        encoder: &ClipEncoderFields,
        fields: &ImageFields,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let token = w
            .module("embeddings")
            .tensor("class_embedding", [encoder.hidden_size])?;
        // Spelled like this in every checkpoint.
        let norm = encoder.norm(&w.module("pre_layrnorm"))?;
        Self::load(encoder, fields, Some((token, norm)), w)
    }

    /// SigLIP's: patches alone, with a bias.
    pub(crate) fn load_siglip(
        encoder: &ClipEncoderFields,
        fields: &ImageFields,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        Self::load(encoder, fields, None, w)
    }

    fn load(
        encoder: &ClipEncoderFields,
        fields: &ImageFields,
        class: Option<(Tensor<B, 1>, LayerNorm<B>)>,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let (width, embeddings) = (encoder.hidden_size, w.module("embeddings"));
        let ([height, breadth], patch) = (
            fields.image_size.height_width(),
            fields.patch_size.height_width(),
        );
        let shape = Conv2dShape {
            channels: [fields.num_channels, width],
            kernel: patch,
            stride: patch,
            padding: [0, 0],
        };
        let places = fields.patches() + usize::from(class.is_some());
        Ok(Self {
            patch_embedding: Conv2d::load(
                &embeddings.module("patch_embedding"),
                shape,
                // Only SigLIP's patches have a bias.
                class.is_none(),
            )?,
            position_embedding: embeddings
                .module("position_embedding")
                .tensor("weight", [places, width])?,
            class,
            layers: ClipLayers::load(encoder, w)?,
            image: [fields.num_channels, height, breadth],
        })
    }

    /// [batch, positions, width] after the first `count` layers, before any norm. The trace has the
    /// embeddings as layer `first`, and each layer after them.
    pub(crate) fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        first: usize,
        count: usize,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let x = self.embed(inputs.image("pixel_values", self.image)?);
        context.trace_layer(first, &x)?;
        self.layers.forward(x, None, first + 1, count, context)
    }

    /// The embeddings and the hidden state after every layer, without traces.
    pub(crate) fn hidden_states(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Vec<Tensor<B, 3>>, ForwardError> {
        // The hidden states that LLaVA returns are its decoder's.
        let embedded = self.embed(inputs.image("pixel_values", self.image)?);
        let layers = &self.layers.0;
        layers.fold(context, vec![embedded], &mut (), |mut states, at, _| {
            states.push(at.layer.forward(states[states.len() - 1].clone(), None));
            Ok(states)
        })
    }

    fn embed(&self, pixels: Tensor<B, 4>) -> Tensor<B, 3> {
        let patches = self.patch_embedding.forward(pixels);
        let [batch, width, rows, columns] = patches.dims();
        let patches = patches
            .reshape([batch, width, rows * columns])
            .swap_dims(1, 2);
        let positions = self.position_embedding.clone().unsqueeze();
        match &self.class {
            None => patches + positions,
            Some((token, norm)) => {
                let token = token
                    .clone()
                    .reshape([1, 1, width])
                    .expand([batch, 1, width]);
                norm.forward(Tensor::cat(vec![token, patches], 1) + positions)
            }
        }
    }

    pub(crate) fn depth(&self) -> usize {
        self.layers.len()
    }
}
