//! A step in time as a vector: `diffusers.models.embeddings`.

use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    inputs::Inputs,
    layer::Linear,
    weights::{Weights, WeightsError},
};

/// Sines and cosines of a number at falling frequencies: `Timesteps`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waves {
    pub(crate) width: usize,
    /// Cosines first.
    pub(crate) flip_sin_to_cos: bool,
    pub(crate) freq_shift: f64,
}

/// `max_period` of diffusers' `get_timestep_embedding`, which no configuration changes.
const LONGEST_PERIOD: f32 = 10_000.0;

impl Waves {
    /// [numbers, width]; an odd width ends with a zero.
    pub(crate) fn encode<B: Ops>(&self, numbers: &[f32], inputs: &Inputs<'_, B>) -> Tensor<B, 2> {
        let half = self.width / 2;
        // f32 throughout, as `get_timestep_embedding`: late steps are
        // numbers near 1000, whose sines show every rounding.
        let frequency = |index: usize| {
            (-LONGEST_PERIOD.ln() * index as f32 / (half as f32 - self.freq_shift as f32)).exp()
        };
        let frequencies: Vec<f32> = (0..half).map(frequency).collect();
        let parts: [fn(f32) -> f32; 2] = if self.flip_sin_to_cos {
            [f32::cos, f32::sin]
        } else {
            [f32::sin, f32::cos]
        };
        let mut values = Vec::with_capacity(numbers.len() * self.width);
        for number in numbers {
            for part in parts {
                values.extend(frequencies.iter().map(|frequency| part(number * frequency)));
            }
            values.extend(std::iter::repeat_n(0.0, self.width % 2));
        }
        inputs.put_floats(values, [numbers.len(), self.width])
    }
}

/// Two linear projections around an activation.
pub(crate) struct TimestepEmbedding<B: Ops> {
    linear_1: Linear<B>,
    activation: Activation,
    linear_2: Linear<B>,
}

impl<B: Ops> TimestepEmbedding<B> {
    pub(crate) fn load(
        w: &Weights<B>,
        inner: usize,
        out: usize,
        activation: Activation,
    ) -> Result<Self, WeightsError> {
        let linear_1 = Linear::load(&w.module("linear_1"), inner, out)?;
        Ok(Self {
            linear_1,
            activation,
            linear_2: Linear::load(&w.module("linear_2"), out, out)?,
        })
    }

    /// The width of its input.
    pub(crate) fn width(&self) -> usize {
        self.linear_1.width()
    }

    /// [batch, in] to [batch, out].
    pub(crate) fn forward(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.linear_2
            .forward(activate(self.linear_1.forward(x), self.activation))
    }
}
