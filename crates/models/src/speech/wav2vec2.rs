//! wav2vec 2.0 (Baevski et al. 2020) and HuBERT (Hsu et al. 2021): `transformers.models.wav2vec2`,
//! `transformers.models.hubert`. Convolutions over samples, a convolution for positions, and an
//! encoder that normalises after each sum, or ("stable") before each part.

mod config;
mod features;
mod head;

use crate::{
    model_def::{LoadedNetwork, ModelDef},
    network::Network,
};
use burn_tensor::Tensor;
pub(crate) use config::Wav2Vec2Config;
use features::FeatureEncoder;
use head::FrameHead;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    context::ForwardContext,
    forward::ForwardError,
    inputs::{Inputs, put_floats},
    layer::{
        AttentionNames, CachedAttention, CachedAttentionShape, Conv1d, Conv1dShape, LayerNorm,
        Linear, Mlp, length_bias,
    },
    stack::LayerStack,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// `model_type` `wav2vec2`.
pub(crate) struct Wav2Vec2;

/// `model_type` `hubert`.
pub(crate) struct Hubert;

impl ModelDef for Wav2Vec2 {
    type Config = Wav2Vec2Config;

    fn load<B: Ops>(
        config: &Wav2Vec2Config,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let network = Recogniser::load(config, head, labels, w, "wav2vec2")?;
        // HuBERT's base model has no such output.
        Ok(Box::new(Recogniser {
            returns_features: head == Head::Base,
            ..network
        }))
    }
}

impl ModelDef for Hubert {
    type Config = Wav2Vec2Config;

    fn load<B: Ops>(
        config: &Wav2Vec2Config,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        Ok(Box::new(Recogniser::load(
            config, head, labels, w, "hubert",
        )?))
    }
}

struct Recogniser<B: Ops> {
    features: FeatureEncoder<B>,
    feature_norm: Option<LayerNorm<B>>,
    projection: Linear<B>,
    positions: Conv1d<B>,
    /// Whether the convolution for positions returns one frame too many.
    cut: bool,
    position_activation: Activation,
    layer_norm: LayerNorm<B>,
    layers: LayerStack<B, Wav2Vec2Layer<B>>,
    stable: bool,
    head: FrameHead<B>,
    /// Whether `extract_features` is an output.
    returns_features: bool,
}

impl<B: Ops> Recogniser<B> {
    fn load(
        config: &Wav2Vec2Config,
        head: Head,
        labels: usize,
        w: &Weights<B>,
        prefix: &str,
    ) -> Result<Self, WeightsError> {
        let (base, width, features) = (
            w.strip_prefix(prefix),
            config.hidden_size,
            config.feature_width(),
        );
        let (projection, encoder) = (base.module("feature_projection"), base.module("encoder"));
        let norm = |w: &Weights<B>, width| {
            LayerNorm::load(&w.module("layer_norm"), width, config.layer_norm_eps)
        };
        // What masked features were replaced with in training.
        base.mark_unused("masked_spec_embed");
        Ok(Self {
            features: FeatureEncoder::load(config, &base.module("feature_extractor"))?,
            feature_norm: config
                .feat_proj_layer_norm
                .then(|| norm(&projection, features))
                .transpose()?,
            projection: Linear::load(&projection.module("projection"), features, width)?,
            positions: positions(config, &encoder.module("pos_conv_embed.conv"))?,
            // `Wav2Vec2SamePadLayer`: half of an even kernel on both sides is one frame too many.
            cut: config.num_conv_pos_embeddings.is_multiple_of(2),
            position_activation: config.feat_extract_activation,
            layer_norm: norm(&encoder, width)?,
            layers: LayerStack::load(&encoder.module("layers"), config.num_hidden_layers, {
                let config = config.clone();
                move |_, w| Wav2Vec2Layer::load(&config, w)
            })?,
            stable: config.do_stable_layer_norm,
            head: FrameHead::load(config, head, labels, w)?,
            returns_features: false,
        })
    }

    /// Features with their positions; those after the end of a recording are zero.
    fn embed(
        &self,
        x: Tensor<B, 3>,
        real: Option<&Vec<usize>>,
        inputs: &Inputs<'_, B>,
    ) -> Tensor<B, 3> {
        let frames = x.dims()[1];
        // `Wav2Vec2Encoder` zeroes padding first, so that the convolution for positions sees
        // silence after the end.
        let x = match real {
            Some(real) => x * self.share(real, frames, inputs),
            None => x,
        };
        let mut positions = self.positions.forward(x.clone());
        if self.cut {
            positions = positions.narrow(1, 0, frames);
        }
        let x = x + activate(positions, self.position_activation);
        if self.stable {
            x
        } else {
            self.layer_norm.forward(x)
        }
    }

    /// 1 at the frames of a recording and 0 after them, [batch, frames, 1].
    fn share(&self, real: &[usize], frames: usize, inputs: &Inputs<'_, B>) -> Tensor<B, 3> {
        inputs.put_floats(
            real.iter()
                .flat_map(|real| {
                    (0..frames)
                        .map(|frame| if frame < *real { 1.0 } else { 0.0 })
                        .collect::<Vec<f32>>()
                })
                .collect(),
            [real.len(), frames, 1],
        )
    }
}

/// The convolution whose weight is saved as a direction and a length for each position of the
/// kernel (Salimans and Kingma 2016).
fn positions<B: Ops>(config: &Wav2Vec2Config, w: &Weights<B>) -> Result<Conv1d<B>, WeightsError> {
    let (width, kernel, groups) = (
        config.hidden_size,
        config.num_conv_pos_embeddings,
        config.num_conv_pos_embedding_groups,
    );
    // `weight_norm` of earlier PyTorch versions saved the parts under these names.
    let old = w.has("weight_g");
    let [length, direction] = match old {
        true => ["weight_g", "weight_v"],
        false => [
            "parametrizations.weight.original0",
            "parametrizations.weight.original1",
        ],
    };
    let lengths = w.values(length, &[1, 1, kernel])?;
    let mut values = w.values(direction, &[width, width / groups, kernel])?;
    // Over all channels of a position of the kernel: the norm is applied with `dim=2`.
    let mut squares = vec![0.0_f64; kernel];
    for (flat, value) in values.iter().enumerate() {
        squares[flat % kernel] += f64::from(*value).powi(2);
    }
    for (flat, value) in values.iter_mut().enumerate() {
        let place = flat % kernel;
        *value = (f64::from(*value) * f64::from(lengths[place]) / squares[place].sqrt()) as f32;
    }
    let weight = put_floats(
        values,
        [width, width / groups, kernel],
        w.device(),
        w.dtype(),
    );
    let shape = Conv1dShape {
        channels: [width, width],
        kernel,
        stride: 1,
        padding: kernel / 2,
        groups,
    };
    Ok(Conv1d::new(weight, Some(w.tensor("bias", [width])?), shape))
}

impl<B: Ops> Network<B> for Recogniser<B> {
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let mut features = self.features.forward(inputs)?;
        let frames = features.dims()[1];
        let real = self.features.real(inputs, frames)?;
        if let Some(norm) = &self.feature_norm {
            features = norm.forward(features);
        }
        let x = self.embed(
            self.projection.forward(features.clone()),
            real.as_ref(),
            inputs,
        );
        context.trace_embed(&x)?;
        let mut bias = real
            .as_ref()
            .and_then(|real| length_bias(inputs, real, frames));
        let state = (x.clone(), vec![x]);
        let (mut x, states) =
            self.layers
                .fold(context, state, &mut bias, |(x, mut states), at, context| {
                    let x = at.layer.forward(x, at.shared.clone(), self.stable);
                    context.trace_layer(at.depth, &x)?;
                    states.push(x.clone());
                    Ok((x, states))
                })?;
        if self.stable {
            // After the last layer here, before the first one else: the file has one norm for
            // either place.
            x = self.layer_norm.forward(x);
        }
        // After the norm, as `Wav2Vec2FeatureProjection` returns them.
        if self.returns_features {
            context.output("extract_features", features)?;
        }
        let share = real.map(|real| (self.share(&real, frames, inputs), real));
        self.head.forward(x, states, share, context)
    }
}

struct Wav2Vec2Layer<B: Ops> {
    attention: CachedAttention<B>,
    layer_norm: LayerNorm<B>,
    feed_forward: Mlp<B>,
    final_layer_norm: LayerNorm<B>,
    adapter: Option<Adapter<B>>,
}

/// The adapter of one language in a stable layer, as in MMS (Pratap et al. 2023).
struct Adapter<B: Ops> {
    norm: LayerNorm<B>,
    feed_forward: Mlp<B>,
}

impl<B: Ops> Wav2Vec2Layer<B> {
    fn load(config: &Wav2Vec2Config, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, heads, inner) = (
            config.hidden_size,
            config.num_attention_heads,
            config.intermediate_size,
        );
        let head_dim = width / heads;
        let scale = (head_dim as f64).powf(-0.5);
        let shape = CachedAttentionShape {
            width,
            heads,
            head_dim,
            bias: true,
            key_bias: true,
            scale,
        };
        let names = [
            "feed_forward.intermediate_dense",
            "feed_forward.output_dense",
        ];
        Ok(Self {
            attention: CachedAttention::load(
                &w.module("attention"),
                &AttentionNames::DEFAULT,
                &shape,
            )?,
            layer_norm: LayerNorm::load(&w.module("layer_norm"), width, config.layer_norm_eps)?,
            feed_forward: Mlp::load(w, names, [width, inner], config.hidden_act, true)?,
            final_layer_norm: LayerNorm::load(
                &w.module("final_layer_norm"),
                width,
                config.layer_norm_eps,
            )?,
            adapter: config
                .adapter()
                .map(|inner| Adapter::load(width, inner, &w.module("adapter_layer")))
                .transpose()?,
        })
    }

    fn forward(&self, x: Tensor<B, 3>, bias: Option<Tensor<B, 4>>, stable: bool) -> Tensor<B, 3> {
        if stable {
            let x = x.clone() + self.attention.attend_self(self.layer_norm.forward(x), bias);
            let x = x.clone() + self.feed_forward.forward(self.final_layer_norm.forward(x));
            return match &self.adapter {
                Some(adapter) => x.clone() + adapter.feed_forward.forward(adapter.norm.forward(x)),
                None => x,
            };
        }
        let x = self
            .layer_norm
            .forward_sum(self.attention.attend_self(x.clone(), bias), x);
        self.final_layer_norm
            .forward_sum(self.feed_forward.forward(x.clone()), x)
    }
}

impl<B: Ops> Adapter<B> {
    /// Its norm has PyTorch's epsilon, whatever the model's is.
    fn load(width: usize, inner: usize, w: &Weights<B>) -> Result<Self, WeightsError> {
        Ok(Self {
            norm: LayerNorm::load(&w.module("norm"), width, 1e-5)?,
            feed_forward: Mlp::load(
                w,
                ["linear_1", "linear_2"],
                [width, inner],
                Activation::Relu,
                true,
            )?,
        })
    }
}
