//! The schedulers of diffusers, on the host, as configured in `scheduler_config.json`: the
//! denoising steps from noise to an image.
//!
//! Owns: the selection of steps, the input of the model in each, and the next sample. Does not own:
//! running the model.

mod betas;
mod ddim;
mod euler;
mod fields;

use crate::{config_file::ConfigFile, error::PreprocessError};
use ddim::{Ddim, DdimSteps};
use euler::{Euler, EulerSteps};
use fields::SchedulerSteps;
use std::path::Path;

/// A scheduler with its steps set.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    /// The time step that the model receives, for each call.
    pub timesteps: Vec<f32>,
    /// The factor of the first noise, which has deviation one.
    pub init_noise_sigma: f32,
    rule: StepRule,
}

#[derive(Debug, Clone, PartialEq)]
enum StepRule {
    Ddim(DdimSteps),
    Euler(EulerSteps),
}

/// A scheduler as its file describes it.
#[derive(Debug, Clone)]
pub enum Scheduler {
    /// `DDIMScheduler`.
    Ddim(Ddim),
    /// `EulerDiscreteScheduler`.
    Euler(Euler),
}

const FILE: &str = "scheduler_config.json";

impl Scheduler {
    /// The scheduler beside a model's checkpoint: in its directory, else in the folder `scheduler`
    /// of its pipeline.
    pub fn open(directory: &Path) -> Result<Option<Self>, PreprocessError> {
        // A pipeline of diffusers has a folder for each part, and the model's is next to this one.
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
                Err(file.wrong(
                    "_class_name",
                    &problem,
                    "use `DDIMScheduler` or `EulerDiscreteScheduler`",
                ))
            }
        }
    }

    /// The scheduler with `count` steps, or `None` if the training had fewer.
    pub fn steps(&self, count: usize) -> Option<Steps> {
        match self {
            Self::Ddim(scheduler) => scheduler
                .steps(count)
                .map(|steps| Steps::new(steps, StepRule::Ddim)),
            Self::Euler(scheduler) => scheduler
                .steps(count)
                .map(|steps| Steps::new(steps, StepRule::Euler)),
        }
    }
}

impl Steps {
    fn new<R>(steps: SchedulerSteps<R>, rule: fn(R) -> StepRule) -> Self {
        let SchedulerSteps {
            timesteps,
            init_noise_sigma,
            rule: own,
        } = steps;
        Self {
            timesteps,
            init_noise_sigma,
            rule: rule(own),
        }
    }

    /// The input of the model at step `index` for `sample`.
    pub fn model_input(&self, index: usize, sample: &[f32]) -> Vec<f32> {
        match &self.rule {
            StepRule::Ddim(_) => sample.to_vec(),
            StepRule::Euler(rule) => rule.model_input(index, sample),
        }
    }

    /// The sample after step `index`.
    pub fn step(&self, index: usize, sample: &[f32], output: &[f32]) -> Vec<f32> {
        match &self.rule {
            StepRule::Ddim(rule) => rule.step(index, sample, output),
            StepRule::Euler(rule) => rule.step(index, sample, output),
        }
    }
}

#[cfg(test)]
mod tests;
