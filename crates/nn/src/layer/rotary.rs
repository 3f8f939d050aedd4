//! Rotary position embeddings (Su et al. 2021), in the half-rotated layout of
//! `LlamaRotaryEmbedding`.

use super::rope_parameters::{RopeParameters, RopeType};
use crate::{
    backend::{Ops, rotate},
    inputs::Inputs,
    movable::Movable,
};
use burn_tensor::Tensor;
use std::{f64::consts::PI, ops::Range};

/// The frequencies of one model.
#[derive(Debug, Clone)]
pub struct Rotary {
    inverse_frequencies: Vec<f32>,
    attention_scaling: f32,
    growth: Option<Growth>,
}

/// How the frequencies change for a sequence longer than the trained length.
#[derive(Debug, Clone)]
enum Growth {
    /// `dynamic`: the base grows with the length.
    Base {
        theta: f64,
        factor: f64,
        trained: f64,
    },
    /// `longrope`: these are taken instead.
    Other { frequencies: Vec<f32>, trained: f64 },
}

/// The cosines and sines of one call, [batch or 1, 1, seq, width], in the model's type; the rest of
/// a head stays as it is.
pub struct Rotation<B: Ops> {
    cos: Tensor<B, 4>,
    sin: Tensor<B, 4>,
}

impl<B: Ops> Movable<B> for Rotation<B> {
    fn move_to(&mut self, device: &B::Device) {
        self.cos.move_to(device);
        self.sin.move_to(device);
    }
}

impl Rotary {
    /// For heads of `head_dim`; `trained` is `max_position_embeddings`, from which `dynamic`
    /// counts.
    pub fn new(parameters: &RopeParameters, head_dim: usize, trained: usize) -> Self {
        // The default of transformers.
        let theta = parameters.rope_theta.unwrap_or(10_000.0);
        let (factor, width) = (parameters.factor.unwrap_or(1.0), parameters.width(head_dim));
        // Over the dimensions that rotate alone, as if the head were as narrow.
        let plain = frequencies(theta, width);
        let inverse_frequencies = match parameters.rope_type {
            RopeType::Default | RopeType::Dynamic => plain,
            RopeType::Linear => plain
                .into_iter()
                .map(|frequency| frequency / factor as f32)
                .collect(),
            RopeType::Llama3 => plain
                .into_iter()
                .map(|frequency| llama3(frequency, parameters))
                .collect(),
            RopeType::Yarn => yarn(theta, width, parameters),
            RopeType::Longrope => longrope(theta, width, parameters.short_factor.as_deref()),
        };
        Self {
            inverse_frequencies,
            attention_scaling: attention_scaling(parameters, trained) as f32,
            growth: Growth::from_parameters(parameters, width, trained),
        }
    }

    /// The longest sequence for which a step with a cache must equal the whole sequence at once;
    /// beyond it older keys are rotated otherwise than newer ones.
    pub fn cacheable(&self) -> Option<usize> {
        self.growth.as_ref().map(|growth| growth.trained() as usize)
    }

    /// The length beyond which every key must be computed anew, once: `longrope` has other
    /// frequencies there.
    pub fn cache_reset_length(&self) -> Option<usize> {
        self.growth
            .as_ref()
            .filter(|growth| matches!(growth, Growth::Other { .. }))
            .map(|growth| growth.trained() as usize)
    }

    /// The rotation for `positions` of `shape` [batch or 1, seq].
    pub fn at<B: Ops>(
        &self,
        positions: &[i64],
        shape: [usize; 2],
        inputs: &Inputs<'_, B>,
    ) -> Rotation<B> {
        let grown = self.grown(positions);
        let frequencies = grown.as_deref().unwrap_or(&self.inverse_frequencies);
        let width = 2 * frequencies.len();
        // On the host, so that the angles are the same on every device and are rounded to the
        // model's type once.
        let table = |function: fn(f32) -> f32| {
            let mut table = Vec::with_capacity(positions.len() * width);
            for position in positions {
                let start = table.len();
                // In f32 in every precision, as `LlamaRotaryEmbedding` computes them.
                let angles = frequencies
                    .iter()
                    .map(|frequency| *position as f32 * frequency);
                table.extend(angles.map(|angle| function(angle) * self.attention_scaling));
                // `rotate_half` pairs element i with i + width / 2, so both halves have the same
                // angles.
                table.extend_from_within(start..);
            }
            inputs.put_floats(table, [shape[0], 1, shape[1], width])
        };
        Rotation {
            cos: table(f32::cos),
            sin: table(f32::sin),
        }
    }

    /// The frequencies for a sequence beyond the trained length.
    fn grown(&self, positions: &[i64]) -> Option<Vec<f32>> {
        let growth = self.growth.as_ref()?;
        // The longest row decides for the whole batch, as in `dynamic_rope_update`.
        let length = positions.iter().max().map_or(0, |position| position + 1) as f64;
        // A length that equals the trained one has not grown, in `dynamic_rope_update` as well.
        (length > growth.trained())
            .then(|| growth.frequencies(length, 2 * self.inverse_frequencies.len()))
    }
}

impl Growth {
    fn from_parameters(parameters: &RopeParameters, width: usize, trained: usize) -> Option<Self> {
        let theta = parameters.rope_theta.unwrap_or(10_000.0);
        let trained = trained as f64;
        match parameters.rope_type {
            RopeType::Dynamic => Some(Self::Base {
                theta,
                factor: parameters.factor.unwrap_or(1.0),
                trained,
            }),
            RopeType::Longrope => Some(Self::Other {
                frequencies: longrope(theta, width, parameters.long_factor.as_deref()),
                trained: parameters
                    .original_max_position_embeddings
                    .unwrap_or(trained),
            }),
            // Their frequencies do not depend on the length of the input.
            RopeType::Default | RopeType::Linear | RopeType::Yarn | RopeType::Llama3 => None,
        }
    }

    fn trained(&self) -> f64 {
        match self {
            Self::Base { trained, .. } | Self::Other { trained, .. } => *trained,
        }
    }

    fn frequencies(&self, length: f64, width: usize) -> Vec<f32> {
        match self {
            Self::Base {
                theta,
                factor,
                trained,
            } => {
                // 1 at the trained length, so that the base grows without a jump.
                let stretch = factor * length / trained - (factor - 1.0);
                // With this exponent the slowest frequency is divided by the stretch; the fastest
                // stays.
                let exponent = width as f64 / (width as f64 - 2.0);
                frequencies(theta * stretch.powf(exponent), width)
            }
            Self::Other { frequencies, .. } => frequencies.clone(),
        }
    }
}

impl<B: Ops> Rotation<B> {
    /// Rotates [batch, heads, seq, head_dim].
    pub fn apply(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        rotate(x, self.cos.clone(), self.sin.clone())
    }
}

/// 1 / thetaⁱ for i = 0, 2/width, 4/width, ...
fn frequencies(theta: f64, width: usize) -> Vec<f32> {
    // In f32, as PyTorch computes them.
    (0..width)
        .step_by(2)
        .map(|index| 1.0 / (theta as f32).powf(index as f32 / width as f32))
        .collect()
}

/// LongRoPE: every frequency divided by its factor.
fn longrope(theta: f64, width: usize, factors: Option<&[f32]>) -> Vec<f32> {
    // `validate` has refused parameters without them.
    let factors = factors.unwrap_or_default().iter();
    frequencies(theta, width)
        .into_iter()
        .zip(factors)
        .map(|(frequency, factor)| frequency / factor)
        .collect()
}

/// Llama 3.1: wavelengths beyond the trained length are stretched, short ones kept, those between
/// blended.
fn llama3(frequency: f32, parameters: &RopeParameters) -> f32 {
    let (factor, trained) = (
        or_one(parameters.factor),
        or_one(parameters.original_max_position_embeddings),
    );
    let (low, high) = (
        or_one(parameters.low_freq_factor),
        or_one(parameters.high_freq_factor),
    );
    // In f32, like the frequencies: close to a limit, f64 could choose another branch.
    let wavelength = 2.0 * PI as f32 / frequency;
    if wavelength > trained / low {
        frequency / factor
    } else if wavelength < trained / high {
        frequency
    } else {
        let smooth = (trained / wavelength - low) / (high - low);
        (1.0 - smooth) * frequency / factor + smooth * frequency
    }
}

/// YaRN: a ramp from unchanged (fast) to interpolated (slow) dimensions.
fn yarn(theta: f64, width: usize, parameters: &RopeParameters) -> Vec<f32> {
    let factor = parameters.factor.unwrap_or(1.0) as f32;
    let Range {
        start: low,
        end: high,
    } = parameters.yarn_ramp(theta, width);
    frequencies(theta, width)
        .into_iter()
        .enumerate()
        .map(|(index, frequency)| {
            frequency / factor * ramp(index, low, high) + frequency * (1.0 - ramp(index, low, high))
        })
        .collect()
}

/// The factor of the cosines and sines, if the type has one.
fn attention_scaling(parameters: &RopeParameters, longest: usize) -> f64 {
    match parameters.rope_type {
        RopeType::Default | RopeType::Linear | RopeType::Dynamic | RopeType::Llama3 => 1.0,
        RopeType::Yarn => parameters
            .attention_factor
            .unwrap_or_else(|| yarn_scaling(parameters)),
        RopeType::Longrope => parameters.attention_factor.unwrap_or_else(|| {
            let trained = parameters
                .original_max_position_embeddings
                .unwrap_or(longest as f64);
            // Phi-3 has no `factor`: it follows from the two lengths.
            let factor = parameters.factor.unwrap_or(longest as f64 / trained);
            if factor <= 1.0 {
                1.0
            } else {
                (1.0 + factor.ln() / trained.ln()).sqrt()
            }
        }),
    }
}

fn yarn_scaling(parameters: &RopeParameters) -> f64 {
    let factor = parameters.factor.unwrap_or(1.0);
    match (parameters.mscale, parameters.mscale_all_dim) {
        // Both must be given and not zero: transformers tests their truth.
        (Some(mscale), Some(all)) if mscale != 0.0 && all != 0.0 => {
            attention_scale(mscale, factor) / attention_scale(all, factor)
        }
        _ => attention_scale(1.0, factor),
    }
}

fn or_one(value: Option<f64>) -> f32 {
    value.unwrap_or(1.0) as f32
}

fn attention_scale(weight: f64, factor: f64) -> f64 {
    if factor <= 1.0 {
        1.0
    } else {
        // The fit of the YaRN paper for how much attention must be sharpened.
        0.1 * weight * factor.ln() + 1.0
    }
}

fn ramp(index: usize, low: f64, high: f64) -> f32 {
    ((index as f64 - low) / (high - low)).clamp(0.0, 1.0) as f32
}
