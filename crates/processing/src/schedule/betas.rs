//! The noise that each step of the training adds.

use crate::{config_file::ConfigFile, error::PreprocessError};

/// The remaining part of the image after each step: the running product of 1 - β, in f32 as PyTorch
/// computes it.
#[derive(Debug, Clone)]
pub(super) struct Betas {
    pub(super) alphas_cumprod: Vec<f32>,
}

impl Betas {
    pub(super) fn read(file: &ConfigFile) -> Result<Self, PreprocessError> {
        // This and the defaults below are those of diffusers' schedulers.
        let count = file.count("num_train_timesteps")?.unwrap_or(1000);
        if count == 0 {
            return Err(file.wrong(
                "num_train_timesteps",
                "is 0",
                "use the number of steps of the training",
            ));
        }
        let (start, end) = (
            file.number("beta_start")?.unwrap_or(1e-4),
            file.number("beta_end")?.unwrap_or(0.02),
        );
        let betas = match file.text("beta_schedule")? {
            None | Some("linear") => linspace(start, end, count),
            Some("scaled_linear") => {
                // The roots are Python's, in f64; PyTorch squares in f32.
                linspace(start.sqrt(), end.sqrt(), count)
                    .into_iter()
                    .map(|root| root * root)
                    .collect()
            }
            Some("squaredcos_cap_v2") => cosine(count),
            Some(other) => {
                let problem = format!("is `{other}`");
                return Err(file.wrong(
                    "beta_schedule",
                    &problem,
                    "use `linear`, `scaled_linear` or `squaredcos_cap_v2`",
                ));
            }
        };
        let product = betas.iter().scan(1.0_f32, |product, beta| {
            *product *= 1.0 - beta;
            Some(*product)
        });
        Ok(Self {
            alphas_cumprod: product.collect(),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.alphas_cumprod.len()
    }
}

fn linspace(start: f64, end: f64, count: usize) -> Vec<f32> {
    let (start, end, last) = (start as f32, end as f32, count.saturating_sub(1).max(1));
    let step = (end - start) / last as f32;
    (0..count)
        .map(|index| {
            // From both ends, as PyTorch does, so that both are exact.
            match index < count / 2 {
                true => start + step * index as f32,
                false => end - step * (last - index) as f32,
            }
        })
        .collect()
}

fn cosine(count: usize) -> Vec<f32> {
    // `max_beta` of `betas_for_alpha_bar`: the last step would
    // otherwise leave nothing of the image, and its α would be 0.
    const LARGEST: f64 = 0.999;
    (0..count)
        .map(|index| {
            let (now, next) = (
                index as f64 / count as f64,
                (index + 1) as f64 / count as f64,
            );
            (1.0 - cosine_alpha(next) / cosine_alpha(now)).min(LARGEST) as f32
        })
        .collect()
}

fn cosine_alpha(time: f64) -> f64 {
    // The offset is from `betas_for_alpha_bar`: it keeps the first betas from being almost 0.
    ((time + 0.008) / 1.008 * std::f64::consts::FRAC_PI_2)
        .cos()
        .powi(2)
}
