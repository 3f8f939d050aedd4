//! Mamba (Gu and Dao 2023): `transformers.models.mamba`.

use super::state_model::{Mixer, StateFields, without_padding};
use crate::{
    config::ModelConfig,
    model_def::{LoadedNetwork, ModelDef},
};
use burn_tensor::{DType, Tensor, TensorData};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops, activate},
    cache::LayerState,
    context::LayerSlot,
    layer::{CausalConvolution, Convolved, Linear, Scan, Scanned, softplus},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct MambaConfig {
    #[serde(flatten)]
    fields: StateFields,
    time_step_rank: Rank,
    intermediate_size: Option<usize>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The width in which time steps are projected.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Rank {
    Number(usize),
    /// `auto`: a sixteenth of the width.
    Word(Auto),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Auto {
    Auto,
}

impl MambaConfig {
    fn rank(&self) -> usize {
        match self.time_step_rank {
            Rank::Number(rank) => rank,
            // As `MambaConfig` computes it.
            Rank::Word(Auto::Auto) => self.fields.hidden_size.div_ceil(16),
        }
    }
}

impl ModelConfig for MambaConfig {
    /// How time steps are drawn before training, how the scan is run, and what the original files
    /// repeat.
    const INERT: &'static [&'static str] = &[
        "d_inner",
        "d_model",
        "fused_add_norm",
        "n_layer",
        "pad_vocab_size_multiple",
        "rescale_prenorm_residual",
        "rms_norm",
        "time_step_floor",
        "time_step_init_scheme",
        "time_step_max",
        "time_step_min",
        "time_step_scale",
        "use_associative_scan",
        "use_mambapy",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        if self.fields.conv_kernel == 0 {
            return Err("`conv_kernel` is 0".to_owned());
        }
        match self.intermediate_size {
            Some(found) if found != self.fields.inner() => Err(format!(
                "`intermediate_size` {found} is not `expand` times `hidden_size`, {}",
                self.fields.inner()
            )),
            _ => Ok(()),
        }
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        StateFields::inert_fields(head)
    }
}

/// `model_type` `mamba`.
pub(crate) struct Mamba;

impl ModelDef for Mamba {
    type Config = MambaConfig;

    fn load<B: Ops>(
        config: &MambaConfig,
        head: Head,
        _labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let owned = config.clone();
        config
            .fields
            .load(head, w, move |w| MambaMixer::load(&owned, w))
    }
}

struct MambaMixer<B: Ops> {
    in_proj: Linear<B>,
    conv1d: CausalConvolution<B>,
    activation: Activation,
    x_proj: Linear<B>,
    dt_proj: Linear<B>,
    /// The decay of each state: f32 [1, 1, inner, state], below 0.
    rate: Tensor<B, 4>,
    /// The part of its input that bypasses each channel: f32 [1, 1, inner].
    skip: Tensor<B, 3>,
    out_proj: Linear<B>,
    /// Inner width, time-step rank, state.
    widths: [usize; 3],
}

impl<B: Ops> MambaMixer<B> {
    fn load(config: &MambaConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let widths @ [inner, rank, state] = [
            config.fields.inner(),
            config.rank(),
            config.fields.state_size,
        ];
        let (width, bias) = (config.fields.hidden_size, config.fields.use_bias);
        let linear =
            |name, inner, out, bias| Linear::load_with_bias(&w.module(name), inner, out, bias);
        // f32 in every precision, as `self.A_log.float()`: an error in it would grow with every
        // token.
        let rate = w
            .values("A_log", &[inner, state])?
            .into_iter()
            .map(|log| -log.exp())
            .collect();
        let options = (w.device(), DType::F32);
        let conv1d = w.module("conv1d");
        Ok(Self {
            in_proj: linear("in_proj", width, 2 * inner, bias)?,
            conv1d: CausalConvolution::load(
                &conv1d,
                inner,
                config.fields.conv_kernel,
                config.fields.use_conv_bias,
            )?,
            activation: config.fields.hidden_act,
            // Whatever `use_bias` says, which is for the maps in and out.
            x_proj: linear("x_proj", inner, rank + 2 * state, false)?,
            dt_proj: linear("dt_proj", rank, inner, true)?,
            rate: Tensor::from_data(data(rate, vec![1, 1, inner, state]), options),
            skip: Tensor::from_data(data(w.values("D", &[inner])?, vec![1, 1, inner]), options),
            out_proj: linear("out_proj", inner, width, bias)?,
            widths,
        })
    }

    /// The effect of `x` [batch, seq, inner] on the state, f32.
    fn scan(&self, x: Tensor<B, 3>) -> Scan<B> {
        let ([batch, seq, _], [inner, rank, state]) = (x.dims(), self.widths);
        let selected = self.x_proj.forward(x.clone());
        // The order of `x_proj`: the time step, then B, then C.
        let wide = |start, width| selected.clone().narrow(2, start, width);
        let step = softplus(self.dt_proj.forward(wide(0, rank)).cast(DType::F32));
        let across = |start| {
            wide(start, state)
                .cast(DType::F32)
                .reshape([batch, seq, 1, state])
        };
        Scan {
            // Decay and input are made discrete in different ways, exp(step rate) and step x, as in
            // the paper's simplification.
            decay: (step.clone().reshape([batch, seq, inner, 1]) * self.rate.clone()).exp(),
            input: (step * x.cast(DType::F32)).reshape([batch, seq, inner, 1]) * across(rank),
            readout: across(rank + state),
        }
    }
}

impl<B: Ops> Mixer<B> for MambaMixer<B> {
    fn forward(
        &self,
        x: Tensor<B, 3>,
        visible: Option<Tensor<B, 3>>,
        LayerSlot { index, context }: LayerSlot<'_, '_, B>,
    ) -> Tensor<B, 3> {
        let (dtype, inner) = (x.dtype(), self.widths[0]);
        let (past, before) = context
            .state(index)
            .map(|state| (state.convolution, state.scan))
            .unzip();
        let projected = self.in_proj.forward(without_padding(x, &visible));
        // The second half, as `projected_states.chunk(2)` has it.
        let gate = projected.clone().narrow(2, inner, inner);
        let Convolved {
            values: x,
            past: convolution,
        } = self.conv1d.forward(projected.narrow(2, 0, inner), past);
        // Again, because the convolution's bias has made padding other than zero.
        let x = without_padding(activate(x, self.activation), &visible);
        let Scanned { read, state: scan } = self.scan(x.clone()).run(before);
        context.keep_state(index, LayerState { convolution, scan });
        let y = read + x.cast(DType::F32) * self.skip.clone();
        // Not `hidden_act`, which is for the convolution alone.
        let y = y * activate(gate.cast(DType::F32), Activation::Silu);
        self.out_proj.forward(y.cast(dtype))
    }
}

fn data(values: Vec<f32>, shape: Vec<usize>) -> TensorData {
    TensorData::new::<f32, _>(values, shape)
}
