//! From noise to an image in steps: the schedulers of diffusers, on the host, as `scheduler_config.json` says.
//!
//! Owns: which steps there are, what the model reads, and what becomes of its output. Does not own: running the model.

mod betas;
mod ddim;
mod euler;

use crate::{config_file::ConfigFile, error::PreprocessError};
use betas::Betas;
use ddim::Ddim;
use euler::Euler;
use std::path::Path;

/// A scheduler with its steps set.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    /// The step in time that the model is told, for each call.
    pub timesteps: Vec<f32>,
    /// What the first noise, of deviation one, is multiplied with.
    pub init_noise_sigma: f32,
    rule: Rule,
}

#[derive(Debug, Clone, PartialEq)]
enum Rule {
    Ddim(ddim::DdimSteps),
    Euler(euler::EulerSteps),
}

/// A scheduler as its file describes it.
#[derive(Debug, Clone)]
pub enum Scheduler {
    /// `DDIMScheduler`.
    Ddim(Ddim),
    /// `EulerDiscreteScheduler`.
    Euler(Euler),
}

/// What the output of the model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prediction {
    Epsilon,
    Sample,
    Velocity,
}

/// How steps are spread over the time of the training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spacing {
    Linspace,
    Leading,
    Trailing,
}

const FILE: &str = "scheduler_config.json";

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

impl Scheduler {
    /// The scheduler beside a model's checkpoint: in its directory, else in the folder `scheduler` of its pipeline.
    pub fn open(directory: &Path) -> Result<Option<Self>, PreprocessError> {
        let beside = directory.parent().map(|parent| parent.join("scheduler"));
        let places = [Some(directory.to_owned()), beside];
        for place in places.into_iter().flatten() {
            if let Some(file) = ConfigFile::read(&place, FILE)? {
                return Self::read(&file).map(Some);
            }
        }
        Ok(None)
    }

    fn read(file: &ConfigFile) -> Result<Self, PreprocessError> {
        match file.text("_class_name")? {
            Some("DDIMScheduler") => Ddim::read(file).map(Self::Ddim),
            Some("EulerDiscreteScheduler") => Euler::read(file).map(Self::Euler),
            other => {
                let problem = format!("is {other:?}");
                Err(file.wrong("_class_name", &problem, "use `DDIMScheduler` or `EulerDiscreteScheduler`"))
            }
        }
    }

    /// The scheduler with `count` steps; none where the training had fewer.
    pub fn steps(&self, count: usize) -> Option<Steps> {
        match self {
            Self::Ddim(scheduler) => scheduler.steps(count),
            Self::Euler(scheduler) => scheduler.steps(count),
        }
    }
}

impl Steps {
    /// What the model reads at step `index` for `sample`.
    pub fn model_input(&self, index: usize, sample: &[f32]) -> Vec<f32> {
        match &self.rule {
            Rule::Ddim(_) => sample.to_vec(),
            Rule::Euler(rule) => rule.model_input(index, sample),
        }
    }

    /// The sample behind step `index`.
    pub fn step(&self, index: usize, sample: &[f32], output: &[f32]) -> Vec<f32> {
        match &self.rule {
            Rule::Ddim(rule) => rule.step(index, sample, output),
            Rule::Euler(rule) => rule.step(index, sample, output),
        }
    }
}

/// The fields that both schedulers have, and no field beside them and `more`.
#[derive(Debug, Clone)]
struct Fields {
    betas: Betas,
    prediction: Prediction,
    spacing: Spacing,
    offset: i64,
}

impl Fields {
    fn read(file: &ConfigFile, spacing: Spacing, more: &[&str]) -> Result<Self, PreprocessError> {
        for (name, value) in file.fields() {
            let off = value == &serde_json::Value::Bool(false);
            if !off && !COMMON.contains(&name) && !more.contains(&name) {
                return Err(file.wrong(name, &format!("is {value}"), "testgen does not apply it; take it out"));
            }
        }
        let prediction = match file.text("prediction_type")? {
            None | Some("epsilon") => Prediction::Epsilon,
            Some("sample") => Prediction::Sample,
            Some("v_prediction") => Prediction::Velocity,
            Some(other) => return Err(file.wrong("prediction_type", &format!("is `{other}`"), "use `epsilon`")),
        };
        let spacing = match file.text("timestep_spacing")? {
            None => spacing,
            Some("linspace") => Spacing::Linspace,
            Some("leading") => Spacing::Leading,
            Some("trailing") => Spacing::Trailing,
            Some(other) => return Err(file.wrong("timestep_spacing", &format!("is `{other}`"), "use `leading`")),
        };
        let offset = file.count("steps_offset")?.unwrap_or(0) as i64;
        Ok(Self { betas: Betas::read(file)?, prediction, spacing, offset })
    }

    /// The steps of the training that are taken, from the noisiest on.
    fn timesteps(&self, count: usize) -> Vec<f64> {
        let trained = self.betas.len() as f64;
        match self.spacing {
            Spacing::Linspace => {
                let step = if count > 1 { (trained - 1.0) / (count - 1) as f64 } else { 0.0 };
                (0..count).rev().map(|index| index as f64 * step).collect()
            }
            Spacing::Leading => {
                let ratio = self.betas.len() / count;
                (0..count).rev().map(|index| (index * ratio) as f64 + self.offset as f64).collect()
            }
            Spacing::Trailing => {
                let ratio = trained / count as f64;
                (0..count).map(|index| (trained - index as f64 * ratio).round_ties_even() - 1.0).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests;
