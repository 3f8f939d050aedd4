//! Steps along the derivative (Karras et al. 2022): `diffusers.EulerDiscreteScheduler` without
//! churn.

use super::fields::{PredictionType, SchedulerFields, SchedulerSteps, Spacing};
use crate::{config_file::ConfigFile, error::PreprocessError};

/// `EulerDiscreteScheduler`.
#[derive(Debug, Clone)]
pub struct Euler {
    fields: SchedulerFields,
    /// Whether the last step ends at the least noise of the training, rather than at none.
    ends_at_least: bool,
}

/// Its steps: the noise at each, and after the last.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct EulerSteps {
    sigmas: Vec<f32>,
    prediction: PredictionType,
}

const MORE: [&str; 3] = ["final_sigmas_type", "interpolation_type", "timestep_type"];

impl Euler {
    pub(super) fn read(file: &ConfigFile) -> Result<Self, PreprocessError> {
        for (name, only) in [
            ("interpolation_type", "linear"),
            ("timestep_type", "discrete"),
        ] {
            if let Some(other) = file.text(name)?.filter(|value| *value != only) {
                return Err(file.wrong(name, &format!("is `{other}`"), &format!("use `{only}`")));
            }
        }
        let ends_at_least = match file.text("final_sigmas_type")? {
            None | Some("zero") => false,
            Some("sigma_min") => true,
            Some(other) => {
                return Err(file.wrong(
                    "final_sigmas_type",
                    &format!("is `{other}`"),
                    "use `zero`",
                ));
            }
        };
        Ok(Self {
            fields: SchedulerFields::read(file, Spacing::Linspace, &MORE)?,
            ends_at_least,
        })
    }

    pub(super) fn steps(&self, count: usize) -> Option<SchedulerSteps<EulerSteps>> {
        if count == 0 || count > self.fields.betas.len() {
            return None;
        }
        let trained: Vec<f32> = self
            .fields
            .betas
            .alphas_cumprod
            .iter()
            .map(|left| ((1.0 - left) / left).sqrt())
            .collect();
        let timesteps = self.fields.timesteps(count);
        // numpy has these steps in f32 and interpolates in f64.
        let mut sigmas: Vec<f32> = timesteps
            .iter()
            .map(|step| between(&trained, f64::from(*step as f32)))
            .collect();
        let largest = sigmas.iter().copied().fold(0.0, f32::max);
        sigmas.push(if self.ends_at_least { trained[0] } else { 0.0 });
        let init_noise_sigma = match self.fields.spacing {
            Spacing::Linspace | Spacing::Trailing => largest,
            // `init_noise_sigma` of diffusers counts the image's own variance, 1, for these steps
            // only.
            Spacing::Leading => (largest * largest + 1.0).sqrt(),
        };
        let rule = EulerSteps {
            sigmas,
            prediction: self.fields.prediction,
        };
        let timesteps = timesteps.into_iter().map(|step| step as f32).collect();
        Some(SchedulerSteps {
            timesteps,
            init_noise_sigma,
            rule,
        })
    }
}

/// The value at `place` on the line through `values`.
fn between(values: &[f32], place: f64) -> f32 {
    let last = values.len() - 1;
    let low = (place.max(0.0).floor() as usize).min(last);
    let (first, second) = (
        f64::from(values[low]),
        f64::from(values[(low + 1).min(last)]),
    );
    (first + (place - low as f64) * (second - first)) as f32
}

impl EulerSteps {
    pub(super) fn model_input(&self, index: usize, sample: &[f32]) -> Vec<f32> {
        let sigma = self.sigmas[index];
        let size = (sigma * sigma + 1.0).sqrt();
        sample.iter().map(|sample| sample / size).collect()
    }

    pub(super) fn step(&self, index: usize, sample: &[f32], output: &[f32]) -> Vec<f32> {
        let (sigma, next) = (self.sigmas[index], self.sigmas[index + 1]);
        let square = sigma * sigma + 1.0;
        sample
            .iter()
            .zip(output)
            .map(|(sample, output)| {
                let original = match self.prediction {
                    PredictionType::Epsilon => sample - sigma * output,
                    PredictionType::Sample => *output,
                    PredictionType::Velocity => output * (-sigma / square.sqrt()) + sample / square,
                };
                // Not simplified for epsilon, although the quotient is then the output: diffusers
                // rounds in these steps.
                sample + (sample - original) / sigma * (next - sigma)
            })
            .collect()
    }
}
