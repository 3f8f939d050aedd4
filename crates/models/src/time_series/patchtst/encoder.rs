//! Patches of every channel, and the layers over them.

use super::config::{NormType, PatchTstConfig};
use burn_tensor::Tensor;
use testgen_nn::{
    backend::Ops,
    context::ForwardContext,
    forward::ForwardError,
    layer::{
        AttentionNames, AttentionShape, FeatureBatchNorm, LayerNorm, Linear, Mlp, SelfAttention,
    },
    stack::LayerStack,
    weights::{Weights, WeightsError},
};

pub(super) struct PatchTstEncoder<B: Ops> {
    /// One for all channels, or one for each.
    embeddings: Vec<Linear<B>>,
    position_enc: Tensor<B, 2>,
    cls_token: Option<Tensor<B, 4>>,
    layers: LayerStack<B, PatchTstLayer<B>>,
    /// The length of a patch, the step from one to the next, and how many there are.
    patches: [usize; 3],
}

impl<B: Ops> PatchTstEncoder<B> {
    pub(super) fn load(config: &PatchTstConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, length, channels) = (
            config.d_model,
            config.patch_length,
            config.num_input_channels,
        );
        let (embedding, positions) = (
            w.module("embedder.input_embedding"),
            w.module("positional_encoder"),
        );
        let places = config.patches() + usize::from(config.use_cls_token);
        Ok(Self {
            embeddings: match config.share_embedding {
                true => vec![Linear::load(&embedding, length, width)?],
                false => (0..channels)
                    .map(|channel| Linear::load(&embedding.module(channel), length, width))
                    .collect::<Result<_, _>>()?,
            },
            position_enc: positions.tensor("position_enc", [places, width])?,
            cls_token: config
                .use_cls_token
                .then(|| positions.tensor("cls_token", [1, 1, 1, width]))
                .transpose()?,
            layers: LayerStack::load(&w.module("layers"), config.num_hidden_layers, {
                let config = config.clone();
                move |_, w| PatchTstLayer::load(&config, w)
            })?,
            patches: [length, config.patch_stride, config.patches()],
        })
    }

    /// [batch, time, channels] to [batch, channels, patches, width], a class token at the front
    /// where there is one.
    pub(super) fn forward(
        &self,
        series: Tensor<B, 3>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 4>, ForwardError> {
        let x = self.embed(self.patchify(series));
        context.trace_embed(&x)?;
        self.layers.fold(context, x, &mut (), |x, at, context| {
            let x = at.layer.forward(x);
            // As in transformers, the hidden state after the last layer is not among the traces.
            if at.depth + 1 < self.layers.depth() {
                context.trace_layer(at.depth, &x)?;
            }
            Ok(x)
        })
    }

    /// [batch, channels, patches, patch_length]; the last patch ends with the series.
    fn patchify(&self, series: Tensor<B, 3>) -> Tensor<B, 4> {
        let ([_, time, _], [length, stride, count]) = (series.dims(), self.patches);
        // The newest values are kept: a forecast continues from them.
        let first = time - (length + stride * (count - 1));
        let patches: Vec<Tensor<B, 3>> = (0..count)
            .map(|index| series.clone().narrow(1, first + index * stride, length))
            .collect();
        Tensor::stack::<4>(patches, 1).permute([0, 3, 1, 2])
    }

    fn embed(&self, patches: Tensor<B, 4>) -> Tensor<B, 4> {
        let [batch, channels, count, _] = patches.dims();
        let x = match self.embeddings.as_slice() {
            [shared] => shared.forward(patches),
            each => Tensor::cat(
                each.iter()
                    .enumerate()
                    .map(|(index, linear)| linear.forward(patches.clone().narrow(1, index, 1)))
                    .collect(),
                1,
            ),
        };
        let [places, width] = self.position_enc.dims();
        let positions = self.position_enc.clone().reshape([1, 1, places, width]);
        // The first row is the class token's, where there is one.
        let x = x + positions.clone().narrow(2, places - count, count);
        match &self.cls_token {
            None => x,
            Some(token) => {
                let token = token.clone() + positions.narrow(2, 0, 1);
                Tensor::cat(vec![token.expand([batch, channels, 1, width]), x], 2)
            }
        }
    }
}

/// A norm over the features of [rows, positions, width].
enum PatchNorm<B: Ops> {
    Batch(FeatureBatchNorm<B>),
    Layer(LayerNorm<B>),
}

impl<B: Ops> PatchNorm<B> {
    fn load(config: &PatchTstConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, eps) = (config.d_model, config.norm_eps);
        Ok(match config.norm_type {
            NormType::BatchNorm => {
                Self::Batch(FeatureBatchNorm::load(&w.module("batchnorm"), width, eps)?)
            }
            NormType::LayerNorm => Self::Layer(LayerNorm::load(w, width, eps)?),
        })
    }

    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        match self {
            Self::Batch(norm) => norm.forward(x),
            Self::Layer(norm) => norm.forward(x),
        }
    }
}

/// Attention over the patches of a channel, with the same weights over the channels at a patch, and
/// an MLP.
struct PatchTstLayer<B: Ops> {
    self_attn: SelfAttention<B>,
    norm_sublayer1: PatchNorm<B>,
    /// The norm of attention over channels, if that is on.
    norm_sublayer2: Option<PatchNorm<B>>,
    norm_sublayer3: PatchNorm<B>,
    ff: Mlp<B>,
    pre_norm: bool,
}

impl<B: Ops> PatchTstLayer<B> {
    fn load(config: &PatchTstConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, inner) = (config.d_model, config.ffn_dim);
        let shape = AttentionShape {
            width,
            heads: config.num_attention_heads,
            // Whatever `bias` says, which is for the MLP alone.
            bias: true,
        };
        let norm = |name| PatchNorm::load(config, &w.module(name));
        Ok(Self {
            self_attn: SelfAttention::load(w, &AttentionNames::SELF_ATTN, &shape)?,
            norm_sublayer1: norm("norm_sublayer1")?,
            norm_sublayer2: config
                .channel_attention
                .then(|| norm("norm_sublayer2"))
                .transpose()?,
            norm_sublayer3: norm("norm_sublayer3")?,
            ff: Mlp::load(
                w,
                // Between them are the activation and a dropout.
                ["ff.0", "ff.3"],
                [width, inner],
                config.activation_function,
                config.bias,
            )?,
            pre_norm: config.pre_norm,
        })
    }

    /// [batch, channels, positions, width].
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let [batch, channels, places, width] = x.dims();
        let attend = |x| self.self_attn.forward(x, None);
        let x = x.reshape([batch * channels, places, width]);
        let mut x = self
            .around(x, &self.norm_sublayer1, attend)
            .reshape([batch, channels, places, width]);
        if let Some(norm) = &self.norm_sublayer2 {
            // `PatchTSTEncoderLayer` has one attention for both directions.
            let across = x.swap_dims(1, 2).reshape([batch * places, channels, width]);
            x = self
                .around(across, norm, attend)
                .reshape([batch, places, channels, width])
                .swap_dims(1, 2);
        }
        let x = x.reshape([batch * channels, places, width]);
        let x = self.around(x, &self.norm_sublayer3, |x| self.ff.forward(x));
        x.reshape([batch, channels, places, width])
    }

    /// A sublayer with its norm before it, or after the sum.
    fn around(
        &self,
        x: Tensor<B, 3>,
        norm: &PatchNorm<B>,
        sublayer: impl Fn(Tensor<B, 3>) -> Tensor<B, 3>,
    ) -> Tensor<B, 3> {
        match self.pre_norm {
            true => x.clone() + sublayer(norm.forward(x)),
            false => norm.forward(x.clone() + sublayer(x)),
        }
    }
}
