//! Mamba-2 (Dao and Gu 2024): `transformers.models.mamba2`. The scan of Mamba with one decay for
//! each head.

use super::state_model::{Mixer, StateFields, without_padding};
use crate::{
    config::{ModelConfig, divides},
    model_def::{LoadedNetwork, ModelDef},
};
use burn_tensor::{DType, Tensor, TensorData};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops, activate},
    cache::LayerState,
    context::LayerSlot,
    layer::{CausalConvolution, Convolved, GroupRmsNorm, Linear, Scan, Scanned, softplus},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Mamba2Config {
    #[serde(flatten)]
    fields: StateFields,
    num_heads: usize,
    head_dim: usize,
    n_groups: usize,
    time_step_limit: [Limit; 2],
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// A bound; JSON has no infinity, so transformers writes it as an object, and Python's bare word is
/// read as one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Limit {
    Number(f64),
    Special {
        #[serde(rename = "__float__")]
        name: String,
    },
}

impl Limit {
    fn value(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Special { name } => name.parse().ok().filter(|bound: &f64| !bound.is_nan()),
        }
    }
}

impl ModelConfig for Mamba2Config {
    /// How time steps are drawn before training, the length of the stretches that the scan is cut
    /// into, and what the original files repeat.
    const INERT: &'static [&'static str] = &[
        "chunk_size",
        "norm_before_gate",
        "rescale_prenorm_residual",
        "rms_norm",
        "time_step_floor",
        "time_step_init_scheme",
        "time_step_max",
        "time_step_min",
        "time_step_rank",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        let (inner, heads) = (self.fields.inner(), self.num_heads * self.head_dim);
        if inner != heads {
            return Err(format!(
                "`expand` times `hidden_size` is {inner}, `num_heads` times `head_dim` {heads}"
            ));
        }
        if self.fields.conv_kernel == 0
            || self
                .time_step_limit
                .iter()
                .any(|limit| limit.value().is_none())
        {
            return Err(
                "`conv_kernel` is 0, or `time_step_limit` contains something that is not a number"
                    .to_owned(),
            );
        }
        divides("num_heads", self.num_heads, "n_groups", self.n_groups)
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        StateFields::inert_fields(head)
    }
}

/// `model_type` `mamba2`.
pub(crate) struct Mamba2;

impl ModelDef for Mamba2 {
    type Config = Mamba2Config;

    fn load<B: Ops>(
        config: &Mamba2Config,
        head: Head,
        _labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let owned = config.clone();
        config
            .fields
            .load(head, w, move |w| Mamba2Mixer::load(&owned, w))
    }
}

struct Mamba2Mixer<B: Ops> {
    in_proj: Linear<B>,
    conv1d: CausalConvolution<B>,
    activation: Activation,
    /// f32 [1, 1, heads].
    dt_bias: Tensor<B, 3>,
    /// The decay of each head: f32 [1, 1, heads], below 0.
    rate: Tensor<B, 3>,
    /// The part of its input that bypasses each head: f32 [1, 1, heads].
    skip: Tensor<B, 3>,
    limits: [f64; 2],
    norm: GroupRmsNorm<B>,
    out_proj: Linear<B>,
    /// Heads, width of a head, groups, state.
    sizes: [usize; 4],
}

impl<B: Ops> Mamba2Mixer<B> {
    fn load(config: &Mamba2Config, w: &Weights<B>) -> Result<Self, WeightsError> {
        let sizes @ [heads, _, groups, state] = [
            config.num_heads,
            config.head_dim,
            config.n_groups,
            config.fields.state_size,
        ];
        let (inner, width) = (config.fields.inner(), config.fields.hidden_size);
        // The convolution runs over the input and both maps of the state, B and C.
        let channels = inner + 2 * groups * state;
        let linear = |name, inner, out| {
            Linear::load_with_bias(&w.module(name), inner, out, config.fields.use_bias)
        };
        let conv1d = w.module("conv1d");
        Ok(Self {
            in_proj: linear("in_proj", width, inner + channels + heads)?,
            conv1d: CausalConvolution::load(
                &conv1d,
                channels,
                config.fields.conv_kernel,
                config.fields.use_conv_bias,
            )?,
            activation: config.fields.hidden_act,
            dt_bias: by_head(w, "dt_bias", heads, |bias| bias)?,
            rate: by_head(w, "A_log", heads, |log| -log.exp())?,
            skip: by_head(w, "D", heads, |skip| skip)?,
            // `validate` has refused a limit that is not a number.
            limits: [0, 1].map(|end| config.time_step_limit[end].value().unwrap_or(f64::INFINITY)),
            norm: GroupRmsNorm::load(
                &w.module("norm"),
                inner,
                groups,
                config.fields.layer_norm_epsilon,
            )?,
            out_proj: linear("out_proj", inner, width)?,
            sizes,
        })
    }

    /// The effect of `x` [batch, seq, inner + 2 groups state] and the time steps [batch, seq,
    /// heads] on the state, f32.
    fn scan(&self, x: Tensor<B, 3>, step: Tensor<B, 3>) -> Scan<B> {
        let ([batch, seq, _], [heads, head_dim, groups, state]) = (x.dims(), self.sizes);
        let inner = heads * head_dim;
        let x = x.cast(DType::F32);
        let step = softplus(step.cast(DType::F32) + self.dt_bias.clone())
            // After the softplus: the limits are of the step, not of its logit.
            .clamp(self.limits[0], self.limits[1]);
        let by_channel = |x: Tensor<B, 3>| self.by_channel(x).reshape([batch, seq, inner, 1]);
        let by_group = |start| {
            let part = x
                .clone()
                .narrow(2, start, groups * state)
                .reshape([batch, seq, groups, 1, state]);
            // Neighbouring heads share a group, as `repeat_interleave` lays them out.
            part.expand([batch, seq, groups, inner / groups, state])
                .reshape([batch, seq, inner, state])
        };
        let read = x
            .clone()
            .narrow(2, 0, inner)
            .reshape([batch, seq, inner, 1]);
        Scan {
            decay: by_channel((step.clone() * self.rate.clone()).exp()),
            input: by_channel(step) * read * by_group(inner),
            readout: by_group(inner + groups * state),
        }
    }

    /// [batch or 1, seq or 1, heads] to [batch or 1, seq or 1, inner]: each head's value for all
    /// its channels.
    fn by_channel(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let ([batch, seq, heads], head_dim) = (x.dims(), self.sizes[1]);
        x.reshape([batch, seq, heads, 1])
            .expand([batch, seq, heads, head_dim])
            .reshape([batch, seq, heads * head_dim])
    }
}

/// The numbers of all heads, each changed on the host: f32 [1, 1, heads].
fn by_head<B: Ops>(
    w: &Weights<B>,
    name: &str,
    heads: usize,
    change: fn(f32) -> f32,
) -> Result<Tensor<B, 3>, WeightsError> {
    let values: Vec<f32> = w.values(name, &[heads])?.into_iter().map(change).collect();
    Ok(Tensor::from_data(
        TensorData::new(values, [1, 1, heads]),
        (w.device(), DType::F32),
    ))
}

impl<B: Ops> Mixer<B> for Mamba2Mixer<B> {
    fn forward(
        &self,
        x: Tensor<B, 3>,
        visible: Option<Tensor<B, 3>>,
        LayerSlot { index, context }: LayerSlot<'_, '_, B>,
    ) -> Tensor<B, 3> {
        let (dtype, [heads, head_dim, groups, state]) = (x.dtype(), self.sizes);
        let inner = heads * head_dim;
        let channels = inner + 2 * groups * state;
        let (past, before) = context
            .state(index)
            .map(|state| (state.convolution, state.scan))
            .unzip();
        let projected = self.in_proj.forward(without_padding(x, &visible));
        // `in_proj` computes the gate, then the channels that are convolved, then the time steps.
        let part = |start, width| projected.clone().narrow(2, start, width);
        let Convolved {
            values: x,
            past: convolution,
        } = self.conv1d.forward(part(inner, channels), past);
        // Again, because the convolution's bias has made padding other than zero.
        let x = without_padding(activate(x, self.activation), &visible);
        let Scanned { read, state: scan } = self
            .scan(x.clone(), part(inner + channels, heads))
            .run(before);
        context.keep_state(index, LayerState { convolution, scan });
        let y = read + x.narrow(2, 0, inner).cast(DType::F32) * self.by_channel(self.skip.clone());
        // `MambaRMSNormGated` gates before it normalises, in f32.
        let y = y * activate(part(0, inner).cast(DType::F32), Activation::Silu);
        self.out_proj.forward(self.norm.forward(y, dtype))
    }
}
