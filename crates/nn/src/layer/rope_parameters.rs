//! The rotary part of a configuration, in the form of transformers 5 (`rope_parameters`) and of
//! older files (`rope_theta`, `rope_scaling`).

use serde::Deserialize;
use std::{f64::consts::PI, ops::Range};

/// The fields of a configuration, to be flattened into its struct.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct RopeConfig {
    rope_parameters: Option<RopeParameters>,
    /// The name in older files, which takes precedence where both exist.
    rope_scaling: Option<RopeParameters>,
    rope_theta: Option<f64>,
}

impl RopeConfig {
    /// The fields that are used.
    pub fn fields(&self) -> RopeFields<'_> {
        RopeFields {
            parameters: self.rope_scaling.as_ref().or(self.rope_parameters.as_ref()),
            theta: self.rope_theta,
        }
    }
}

/// The rotary parameters of a configuration.
#[derive(Debug, Clone, Copy)]
pub struct RopeFields<'a> {
    /// `rope_parameters`, else the `rope_scaling` of older files.
    pub parameters: Option<&'a RopeParameters>,
    /// The `rope_theta` beside them, of older files.
    pub theta: Option<f64>,
}

/// One set of rotary parameters; which of them count depends on `rope_type`.
#[derive(Debug, Clone, Default, Deserialize)]
// A parameter without code here would change the frequencies of transformers alone.
#[serde(deny_unknown_fields)]
pub struct RopeParameters {
    /// How the frequencies are stretched.
    #[serde(alias = "type", default)]
    pub rope_type: RopeType,
    /// The base of the frequencies.
    pub rope_theta: Option<f64>,
    /// How many times longer the context is than in training.
    pub factor: Option<f64>,
    /// The length of the context in training.
    pub original_max_position_embeddings: Option<f64>,
    /// `llama3`: wavelengths above the trained length divided by it are stretched in full.
    pub low_freq_factor: Option<f64>,
    /// `llama3`: wavelengths below the trained length divided by it stay.
    pub high_freq_factor: Option<f64>,
    /// Factor of the rotation; derived from `factor` if it is absent.
    pub attention_factor: Option<f64>,
    /// `yarn`: frequencies with more turns than this over the trained length stay.
    pub beta_fast: Option<f64>,
    /// `yarn`: frequencies with fewer turns than this over the trained length are stretched in
    /// full.
    pub beta_slow: Option<f64>,
    /// `yarn`: coefficient of the attention factor.
    pub mscale: Option<f64>,
    /// `yarn`: coefficient of the divisor of the attention factor.
    pub mscale_all_dim: Option<f64>,
    /// `yarn`: whether the limits of the ramp are rounded to whole dimensions.
    pub truncate: Option<bool>,
    /// The share of each head that rotates.
    pub partial_rotary_factor: Option<f64>,
    /// `longrope`: the divisor of each frequency up to the trained length.
    pub short_factor: Option<Vec<f32>>,
    /// `longrope`: the divisor of each frequency beyond the trained length.
    pub long_factor: Option<Vec<f32>>,
}

/// How the frequencies are stretched for longer contexts; the names of transformers'
/// `ROPE_INIT_FUNCTIONS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RopeType {
    /// Su et al. 2021.
    #[default]
    Default,
    /// Positions divided by `factor`.
    Linear,
    /// The base grows with the length (NTK scaling).
    Dynamic,
    /// Peng et al. 2023.
    Yarn,
    /// Llama 3.1: long wavelengths divided by `factor`.
    Llama3,
    /// Ding et al. 2024: every frequency has a factor, another one beyond the trained length.
    #[serde(alias = "su")]
    Longrope,
}

/// The base when no file names one.
const DEFAULT_THETA: f64 = 10_000.0;

impl RopeFields<'_> {
    /// The parameters in force, with the base and the trained length filled in.
    pub fn parameters(&self, max_position_embeddings: usize) -> RopeParameters {
        let mut parameters = self.parameters.cloned().unwrap_or_default();
        // The base beside the parameters is of older files; a base among them takes precedence.
        parameters.rope_theta = parameters.rope_theta.or(self.theta).or(Some(DEFAULT_THETA));
        let original = &mut parameters.original_max_position_embeddings;
        *original = original.or(Some(max_position_embeddings as f64));
        parameters
    }

    /// Whether the trained length has an influence on the frequencies.
    pub fn reads_max_positions(&self) -> bool {
        self.parameters
            .is_some_and(|parameters| match parameters.rope_type {
                RopeType::Default | RopeType::Linear => false,
                // Its base grows from this length on, whatever `original_max_position_embeddings`
                // is.
                RopeType::Dynamic => true,
                RopeType::Yarn | RopeType::Llama3 => {
                    parameters.original_max_position_embeddings.is_none()
                }
                RopeType::Longrope => {
                    // Only the factor of the rotation is derived from it, and only if no field has
                    // it.
                    parameters.factor.is_none() && parameters.attention_factor.is_none()
                }
            })
    }

    /// The missing fields of a type that rotates whole heads.
    pub fn validate(&self, head_dim: usize) -> Result<(), String> {
        // Any length: only the presence of fields is checked.
        let parameters = self.parameters(1);
        if let Some(share) = parameters
            .partial_rotary_factor
            .filter(|share| *share != 1.0)
        {
            return Err(format!(
                "`partial_rotary_factor` {share} is not supported by this model type"
            ));
        }
        parameters.validate()?;
        parameters.validate_width(head_dim)
    }

    /// See `Config::inert_fields`.
    pub fn inert_fields(
        &self,
        trained: usize,
        head_dim: usize,
    ) -> Vec<(&'static str, &'static str)> {
        let mut fields = self.parameters(trained).inert_fields(head_dim);
        if !self.reads_max_positions() {
            fields.push((
                "max_position_embeddings",
                "this rope type does not depend on the trained length",
            ));
        }
        fields
    }
}

impl RopeParameters {
    /// The part of a head of `head_dim` that rotates.
    pub fn width(&self, head_dim: usize) -> usize {
        // Cut off like Python's `int`.
        (head_dim as f64 * self.partial_rotary_factor.unwrap_or(1.0)) as usize
    }

    /// The missing field.
    pub fn validate(&self) -> Result<(), String> {
        match self.rope_type {
            RopeType::Default => Ok(()),
            RopeType::Linear | RopeType::Dynamic | RopeType::Yarn => {
                self.needs("factor", self.factor)
            }
            RopeType::Llama3 => {
                self.needs("factor", self.factor)?;
                self.needs("low_freq_factor", self.low_freq_factor)?;
                self.needs("high_freq_factor", self.high_freq_factor)
            }
            RopeType::Longrope if self.short_factor.is_none() || self.long_factor.is_none() => {
                Err("rope_type Longrope needs `short_factor` and `long_factor`".to_owned())
            }
            RopeType::Longrope => Ok(()),
        }
    }

    fn needs(&self, name: &str, value: Option<f64>) -> Result<(), String> {
        match value {
            Some(value) if value > 0.0 => Ok(()),
            _ => Err(format!(
                "rope_type {:?} needs `{name}` above 0",
                self.rope_type
            )),
        }
    }

    /// Parameters that rightly change nothing, as `Config::inert_fields` has them.
    pub fn inert_fields(&self, head_dim: usize) -> Vec<(&'static str, &'static str)> {
        let theta = self.rope_theta.unwrap_or(DEFAULT_THETA);
        if self.rope_type != RopeType::Yarn
            || self.yarn_ramp(theta, self.width(head_dim)).start > 0.0
        {
            return Vec::new();
        }
        ["rope_parameters.beta_fast", "rope_scaling.beta_fast"]
            .map(|name| (name, "the ramp begins at 0 in any case"))
            .into()
    }

    /// The dimensions where YaRN's ramp begins and ends.
    pub(super) fn yarn_ramp(&self, theta: f64, width: usize) -> Range<f64> {
        let trained = self.original_max_position_embeddings.unwrap_or(1.0);
        let dimension = |rotations: f64| {
            width as f64 * (trained / (rotations * 2.0 * PI)).ln() / (2.0 * theta.ln())
        };
        let (mut low, mut high) = (
            dimension(non_zero_or(self.beta_fast, 32.0)),
            dimension(non_zero_or(self.beta_slow, 1.0)),
        );
        // transformers reads a missing field as true.
        if self.truncate.unwrap_or(true) {
            // Outwards: the ramp then has every dimension between the two limits.
            (low, high) = (low.floor(), high.ceil());
        }
        (low, high) = (low.max(0.0), high.min(width as f64 - 1.0));
        // As in transformers, against a division by zero in the ramp.
        if low == high {
            high += 0.001;
        }
        low..high
    }

    /// Whether heads of `head_dim` rotate in pairs, each with its factors.
    pub fn validate_width(&self, head_dim: usize) -> Result<(), String> {
        let width = self.width(head_dim);
        if !width.is_multiple_of(2) || width > head_dim {
            return Err(format!(
                "{width} dimensions of a head of {head_dim} rotate; they must be pairs"
            ));
        }
        let factors = [
            ("short_factor", &self.short_factor),
            ("long_factor", &self.long_factor),
        ];
        for (name, factors) in factors {
            if let Some(found) = factors
                .as_ref()
                .map(Vec::len)
                // One factor for each pair of dimensions.
                .filter(|found| 2 * found != width)
            {
                return Err(format!(
                    "`{name}` has {found} entries, {width} dimensions rotate in pairs"
                ));
            }
        }
        Ok(())
    }
}

fn non_zero_or(value: Option<f64>, default: f64) -> f64 {
    // Python's `or`, by which a zero counts as absent.
    value.filter(|value| *value != 0.0).unwrap_or(default)
}
