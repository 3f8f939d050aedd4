//! The common part of both schedulers: the fields of `scheduler_config.json`, and the selected
//! steps of the training.

use super::betas::Betas;
use crate::{config_file::ConfigFile, error::PreprocessError};

/// The fields that both schedulers have, and no field beside them and `more`.
#[derive(Debug, Clone)]
pub(super) struct SchedulerFields {
    pub(super) betas: Betas,
    pub(super) prediction: PredictionType,
    pub(super) spacing: Spacing,
    offset: i64,
}

/// The meaning of the model's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PredictionType {
    Epsilon,
    Sample,
    Velocity,
}

/// How steps are spread over the time of the training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spacing {
    Linspace,
    Leading,
    Trailing,
}

/// The steps of one scheduler, with how the sample changes in each.
pub(super) struct SchedulerSteps<R> {
    pub(super) timesteps: Vec<f32>,
    pub(super) init_noise_sigma: f32,
    pub(super) rule: R,
}

/// Fields that are read here, or that say nothing about numbers.
const COMMON: [&str; 12] = [
    "_class_name",
    "_diffusers_version",
    "beta_end",
    "beta_schedule",
    "beta_start",
    "clip_sample",
    "num_train_timesteps",
    "prediction_type",
    "set_alpha_to_one",
    "skip_prk_steps",
    "steps_offset",
    "timestep_spacing",
];

impl SchedulerFields {
    pub(super) fn read(
        file: &ConfigFile,
        spacing: Spacing,
        more: &[&str],
    ) -> Result<Self, PreprocessError> {
        for (name, value) in file.fields() {
            // Features of schedulers are flags that are off by default; one that is off changes
            // nothing, known or not.
            let off = value == &serde_json::Value::Bool(false);
            if !off && !COMMON.contains(&name) && !more.contains(&name) {
                return Err(file.wrong(
                    name,
                    &format!("is {value}"),
                    "testgen does not apply it; take it out",
                ));
            }
        }
        let prediction = match file.text("prediction_type")? {
            None | Some("epsilon") => PredictionType::Epsilon,
            Some("sample") => PredictionType::Sample,
            Some("v_prediction") => PredictionType::Velocity,
            Some(other) => {
                return Err(file.wrong(
                    "prediction_type",
                    &format!("is `{other}`"),
                    "use `epsilon`",
                ));
            }
        };
        let spacing = match file.text("timestep_spacing")? {
            None => spacing,
            Some("linspace") => Spacing::Linspace,
            Some("leading") => Spacing::Leading,
            Some("trailing") => Spacing::Trailing,
            Some(other) => {
                return Err(file.wrong(
                    "timestep_spacing",
                    &format!("is `{other}`"),
                    "use `leading`",
                ));
            }
        };
        let offset = file.count("steps_offset")?.unwrap_or(0) as i64;
        Ok(Self {
            betas: Betas::read(file)?,
            prediction,
            spacing,
            offset,
        })
    }

    /// The steps of the training that are taken, from the noisiest on.
    pub(super) fn timesteps(&self, count: usize) -> Vec<f64> {
        let trained = self.betas.len() as f64;
        match self.spacing {
            Spacing::Linspace => {
                let step = if count > 1 {
                    (trained - 1.0) / (count - 1) as f64
                } else {
                    0.0
                };
                (0..count).rev().map(|index| index as f64 * step).collect()
            }
            Spacing::Leading => {
                // An integer: the remainder is lost, so that the noisiest steps of the training may
                // not be taken.
                let ratio = self.betas.len() / count;
                (0..count)
                    .rev()
                    .map(|index| (index * ratio) as f64 + self.offset as f64)
                    .collect()
            }
            Spacing::Trailing => {
                let ratio = trained / count as f64;
                (0..count)
                    .map(|index| (trained - index as f64 * ratio).round_ties_even() - 1.0)
                    .collect()
            }
        }
    }
}
