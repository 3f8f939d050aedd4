//! Deterministic steps (Song et al. 2020): `diffusers.DDIMScheduler` with η = 0.

use super::fields::{PredictionType, SchedulerFields, SchedulerSteps, Spacing};
use crate::{config_file::ConfigFile, error::PreprocessError};

/// `DDIMScheduler`.
#[derive(Debug, Clone)]
pub struct Ddim {
    fields: SchedulerFields,
    /// The remaining part of the image after the last step.
    last: f32,
    clip: Option<f32>,
}

/// Its steps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DdimSteps {
    /// The remaining part of the image at each step, and at the next one.
    alphas: Vec<[f32; 2]>,
    clip: Option<f32>,
    prediction: PredictionType,
}

/// Of thresholding, which is rejected when it is on.
const MORE: [&str; 3] = [
    "clip_sample_range",
    "dynamic_thresholding_ratio",
    "sample_max_value",
];

impl Ddim {
    pub(super) fn read(file: &ConfigFile) -> Result<Self, PreprocessError> {
        let fields = SchedulerFields::read(file, Spacing::Leading, &MORE)?;
        // The defaults of `DDIMScheduler`.
        let range = file.number("clip_sample_range")?.unwrap_or(1.0) as f32;
        let one = file.flag("set_alpha_to_one")?.unwrap_or(true);
        let last = if one {
            1.0
        } else {
            fields.betas.alphas_cumprod[0]
        };
        Ok(Self {
            fields,
            last,
            clip: file.flag("clip_sample")?.unwrap_or(true).then_some(range),
        })
    }

    pub(super) fn steps(&self, count: usize) -> Option<SchedulerSteps<DdimSteps>> {
        let trained = self.fields.betas.len();
        if count == 0 || count > trained {
            return None;
        }
        let steps: Vec<i64> =
            // This scheduler rounds the steps of `linspace`, unlike Euler's.
            self.fields.timesteps(count).into_iter().map(|step| step.round_ties_even() as i64).collect();
        let alphas = &self.fields.betas.alphas_cumprod;
        let rule = DdimSteps {
            alphas: steps
                .iter()
                .map(|step| {
                    // The distance is the quotient in every spacing, as in
                    // `DDIMScheduler.step`, even if the next step is not that far.
                    Some([
                        alpha_of(*step, alphas)?,
                        alpha_of(*step - (trained / count) as i64, alphas).unwrap_or(self.last),
                    ])
                })
                .collect::<Option<_>>()?,
            clip: self.clip,
            prediction: self.fields.prediction,
        };
        let timesteps = steps.iter().map(|step| *step as f32).collect();
        Some(SchedulerSteps {
            timesteps,
            init_noise_sigma: 1.0,
            rule,
        })
    }
}

impl DdimSteps {
    pub(super) fn step(&self, index: usize, sample: &[f32], output: &[f32]) -> Vec<f32> {
        let [now, next] = self.alphas[index];
        let (image, noise) = (now.sqrt(), (1.0 - now).sqrt());
        sample
            .iter()
            .zip(output)
            .map(|(sample, output)| {
                let (original, epsilon) = match self.prediction {
                    PredictionType::Epsilon => ((sample - noise * output) / image, *output),
                    PredictionType::Sample => (*output, (sample - image * output) / noise),
                    PredictionType::Velocity => (
                        image * sample - noise * output,
                        image * output + noise * sample,
                    ),
                };
                // The noise is not computed again from the clipped image:
                // `use_clipped_model_output` is off by default.
                let original = self
                    .clip
                    .map_or(original, |range| original.clamp(-range, range));
                next.sqrt() * original + (1.0 - next).sqrt() * epsilon
            })
            .collect()
    }
}

fn alpha_of(step: i64, alphas: &[f32]) -> Option<f32> {
    usize::try_from(step)
        .ok()
        .and_then(|step| alphas.get(step).copied())
}
