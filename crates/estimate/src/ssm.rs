//! State space models: Mamba and Mamba-2.

use crate::{
    call::NetworkCall,
    config::{CompleteConfig, TIED},
    elementwise::{ActivationMemory, cat},
    error::EstimateError,
    product::ProjectionMatrix,
    tensor::{AllocatedTensor, ElementType, empty, weight},
    text_head,
};
use testgen_types::ModelType;

/// The most tokens, whose chunks are followed one after another.
const MOST_TOKENS: u64 = 1 << 18;

/// Reads all tokens at once, and keeps the states of the layers for later steps.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    if call.tokens > MOST_TOKENS {
        return Err(EstimateError::TooManyTokens {
            tokens: call.tokens,
            limit: MOST_TOKENS,
        });
    }
    let config = call.config;
    let (width, element) = (config.size("hidden_size")?, call.machine.element);
    let mixer = MixerSizes::read(config, call.model_type, width)?;
    let mut x = call.empty(&[call.batch, call.tokens, width]);
    let wide = config.flag("residual_in_fp32");
    let mut sum = if wide {
        x.clone().cast(ElementType::F32)
    } else {
        x.clone()
    };
    for _ in 0..call.layers("num_hidden_layers")? {
        let mixed = mixer.forward(x.rms_norm(element), call);
        // The old sum is held until the new one replaces it.
        let added = sum.clone().combine(mixed.cast(sum.element));
        sum = added;
        x = sum.clone().cast(element);
    }
    let last = x.rms_norm(element);
    drop(sum);
    let vocab = config.size("vocab_size")?;
    text_head::decoder(call, last, [width, vocab], config.flag(TIED), false)
}

/// The sizes of the block between two norms.
struct MixerSizes {
    width: u64,
    /// Of all channels that are scanned.
    inner: u64,
    state: u64,
    kernel: u64,
    activation: ActivationMemory,
    bias: bool,
    kind: MixerKind,
}

#[derive(Clone, Copy)]
enum MixerKind {
    /// Each channel has time steps of its own, which are projected from so many numbers.
    Channels { rank: u64 },
    /// The channels of a head share time steps, the heads of a group what they write and read.
    Heads { heads: u64, groups: u64 },
}

impl MixerKind {
    fn read(
        config: &CompleteConfig,
        model_type: ModelType,
        width: u64,
    ) -> Result<Self, EstimateError> {
        if model_type != ModelType::Mamba {
            return Ok(Self::Heads {
                heads: config.size("num_heads")?,
                groups: config.size("n_groups")?,
            });
        }
        let rank = match config.text("time_step_rank") {
            // As `MambaConfig` computes it.
            "auto" => width.div_ceil(16),
            _ => config.size("time_step_rank")?,
        };
        Ok(Self::Channels { rank })
    }
}

impl MixerSizes {
    fn read(
        config: &CompleteConfig,
        model_type: ModelType,
        width: u64,
    ) -> Result<Self, EstimateError> {
        let expand = config
            .number("expand")
            .filter(|expand| (0.0..1000.0).contains(expand))
            .ok_or_else(|| config.wrong("expand", "a factor below 1000"))?;
        Ok(Self {
            width,
            // Cut off, as Python's `int` does.
            inner: (expand * width as f64) as u64,
            state: config.size("state_size")?,
            kernel: config.parts("conv_kernel")?,
            activation: ActivationMemory::named(config.text("hidden_act")),
            bias: config.flag("use_bias"),
            kind: MixerKind::read(config, model_type, width)?,
        })
    }

    fn forward(&self, x: AllocatedTensor, call: &mut NetworkCall<'_>) -> AllocatedTensor {
        match self.kind {
            MixerKind::Channels { rank } => self.mamba(x, rank, call),
            MixerKind::Heads { heads, groups } => self.mamba2(x, [heads, groups], call),
        }
    }

    fn mamba(&self, x: AllocatedTensor, rank: u64, call: &mut NetworkCall<'_>) -> AllocatedTensor {
        let (element, inner) = (x.element, self.inner);
        let projected = ProjectionMatrix::linear(self.width, 2 * inner, self.bias).forward(x);
        let gate = projected.clone().narrow(2, inner, inner);
        let x = self.convolve(projected.narrow(2, 0, inner), call);
        let x = x.activate(self.activation);
        let read = run(self.select(x.clone(), rank), call);
        let skipped = x.cast(ElementType::F32).combine(row(call, inner));
        let y = read.combine(skipped);
        let silu = ActivationMemory::named("silu");
        let y = y.combine(gate.cast(ElementType::F32).activate(silu));
        ProjectionMatrix::linear(inner, self.width, self.bias).forward(y.cast(element))
    }

    /// The effects of the tokens on the states, of `x` [batch, seq, inner].
    fn select(&self, x: AllocatedTensor, rank: u64) -> TokenEffects {
        let (inner, state) = (self.inner, self.state);
        let [batch, seq] = [x.dims()[0], x.dims()[1]];
        let matrix = ProjectionMatrix::linear(inner, rank + 2 * state, false);
        let selected = matrix.forward(x.clone());
        let step = ProjectionMatrix::linear(rank, inner, true)
            .forward(selected.clone().narrow(2, 0, rank))
            .cast(ElementType::F32);
        let step = softplus(step);
        let across = |start| {
            let part = selected.clone().narrow(2, start, state);
            part.cast(ElementType::F32).reshape(&[batch, seq, 1, state])
        };
        let by_channel = [batch, seq, inner, 1];
        let machine = x.machine().clone();
        let rate = weight(&machine, &[1, 1, inner, state], ElementType::F32);
        let decay = step.clone().reshape(&by_channel).combine(rate).map();
        let input = step.combine(x.cast(ElementType::F32)).reshape(&by_channel);
        TokenEffects {
            decay,
            input: input.combine(across(rank)),
            readout: across(rank + state),
        }
    }

    fn mamba2(
        &self,
        x: AllocatedTensor,
        [heads, groups]: [u64; 2],
        call: &mut NetworkCall<'_>,
    ) -> AllocatedTensor {
        let (element, inner, dims) = (x.element, self.inner, x.dims().to_vec());
        let channels = groups
            .saturating_mul(self.state)
            .saturating_mul(2)
            .saturating_add(inner);
        let steps = inner.saturating_add(channels);
        let matrix = ProjectionMatrix::linear(self.width, steps.saturating_add(heads), self.bias);
        let projected = matrix.forward(x);
        let part = |start, width| projected.clone().narrow(2, start, width);
        let x = self.convolve(part(inner, channels), call);
        let x = x.activate(self.activation);
        let scan = self.select_by_head(x.clone(), part(steps, heads), groups);
        let read = run(scan, call);
        let skip = call.single(&[1, 1, inner]);
        let skipped = x.narrow(2, 0, inner).cast(ElementType::F32).combine(skip);
        let y = read.combine(skipped);
        let silu = ActivationMemory::named("silu");
        let y = y.combine(part(0, inner).cast(ElementType::F32).activate(silu));
        let grouped = [dims[0], dims[1], groups, inner / groups];
        let y = y.reshape(&grouped).rms_norm(ElementType::F32);
        let y = y.reshape(&[dims[0], dims[1], inner]).cast(element);
        let y = y.combine(call.weight(&[1, 1, inner]));
        let out = ProjectionMatrix::linear(inner, self.width, self.bias).forward(y);
        drop(projected);
        out
    }

    /// As [`MixerSizes::select`], with what the channels of a head and of a group share repeated.
    fn select_by_head(
        &self,
        x: AllocatedTensor,
        step: AllocatedTensor,
        groups: u64,
    ) -> TokenEffects {
        let (inner, state) = (self.inner, self.state);
        let [batch, seq, heads] = [0, 1, 2].map(|index| step.dims()[index]);
        let machine = x.machine().clone();
        let x = x.cast(ElementType::F32);
        let parameter = || weight(&machine, &[1, 1, heads], ElementType::F32);
        let step = softplus(step.cast(ElementType::F32).combine(parameter())).map();
        let by_channel =
            |_: AllocatedTensor| empty(&machine, &[batch, seq, inner, 1], ElementType::F32);
        let across = groups.saturating_mul(state);
        let by_group = |start| {
            let part = x.clone().narrow(2, start, across);
            let part = part.reshape(&[batch, seq, groups, 1, state]);
            let repeated = empty(&machine, &[batch, seq, inner, state], ElementType::F32);
            drop(part);
            repeated
        };
        let read = x
            .clone()
            .narrow(2, 0, inner)
            .reshape(&[batch, seq, inner, 1]);
        let decay = by_channel(step.clone().combine(parameter()).map());
        let input = by_channel(step).combine(read).combine(by_group(inner));
        TokenEffects {
            decay,
            input,
            readout: by_group(inner.saturating_add(across)),
        }
    }

    /// The causal convolution, whose last inputs are kept.
    fn convolve(&self, x: AllocatedTensor, call: &mut NetworkCall<'_>) -> AllocatedTensor {
        let [batch, seq, channels] = [0, 1, 2].map(|index| x.dims()[index]);
        let (element, before) = (x.element, self.kernel - 1);
        let past = empty(x.machine(), &[batch, before, channels], element);
        let x = if before == 0 {
            x
        } else {
            cat(vec![past, x], 1)
        };
        // The kept inputs are a view, which holds all of them.
        call.keep(&x);
        let x = x.cast(ElementType::F32);
        let part = |place| {
            let part = x.clone().narrow(1, place, seq);
            part.combine(row(call, channels))
        };
        let sum = (1..self.kernel).fold(part(0), |sum, place| sum.combine(part(place)));
        sum.combine(row(call, channels)).cast(element)
    }
}

/// ln(1 + eˣ).
fn softplus(x: AllocatedTensor) -> AllocatedTensor {
    let positive = x.like(x.element);
    // The absolute values become the logarithms in place.
    positive.combine(x.map())
}

/// The effect of the tokens on the states, [batch, seq, channels, state] in f32.
struct TokenEffects {
    decay: AllocatedTensor,
    input: AllocatedTensor,
    readout: AllocatedTensor,
}

/// The tokens whose states are combined at once.
// As many as in the selective scan of `testgen-nn`.
const CHUNK: u64 = 8;

/// [batch, seq, channels]; the last state is kept.
fn run(scan: TokenEffects, call: &mut NetworkCall<'_>) -> AllocatedTensor {
    let [batch, seq, channels, width] = [0, 1, 2, 3].map(|index| scan.input.dims()[index]);
    let mut state = call.single(&[batch, 1, channels, width]);
    let mut outputs = Vec::new();
    let mut start = 0;
    while start < seq {
        let length = CHUNK.min(seq - start);
        let part = |x: &AllocatedTensor| x.clone().narrow(1, start, length);
        let states = states(part(&scan.decay), part(&scan.input), state);
        state = states.clone().narrow(1, length - 1, 1);
        let read = states.combine(part(&scan.readout)).reduce(3);
        outputs.push(read.reshape(&[batch, length, channels]));
        start += length;
    }
    let read = cat(outputs, 1);
    let state = state.reshape(&[batch, channels, width]);
    call.keep(&state);
    read
}

/// The state after each token of a chunk.
fn states(
    decay: AllocatedTensor,
    input: AllocatedTensor,
    before: AllocatedTensor,
) -> AllocatedTensor {
    let length = input.dims()[1];
    let head = input.clone().narrow(1, 0, 1);
    let first = head.combine(decay.clone().narrow(1, 0, 1).combine(before));
    if length == 1 {
        return first;
    }
    let mut states = cat(vec![first, input.narrow(1, 1, length - 1)], 1);
    let mut decay = decay;
    let mut distance = 1;
    // After each step a state has the effects of twice as many tokens.
    while distance < length {
        let kept = length - distance;
        let late = decay.clone().narrow(1, distance, kept);
        let earlier = states.clone().narrow(1, 0, kept);
        let moved = states
            .clone()
            .narrow(1, distance, kept)
            .combine(late.clone().combine(earlier));
        let joined = late.combine(decay.clone().narrow(1, 0, kept));
        states = cat(vec![states.narrow(1, 0, distance), moved], 1);
        decay = cat(vec![decay.narrow(1, 0, distance), joined], 1);
        distance *= 2;
    }
    states
}

/// A parameter of each channel, in f32.
fn row(call: &NetworkCall<'_>, channels: u64) -> AllocatedTensor {
    weight(&call.machine, &[1, 1, channels], ElementType::F32)
}
