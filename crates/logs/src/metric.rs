//! The quantities that are read from logs, each in one unit whatever the trainer prints.

use serde::Serialize;

/// A quantity of a training step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The training loss.
    Loss,
    /// The learning rate; of several parameter groups, the first.
    LearningRate,
    /// The norm of the gradient before clipping.
    GradNorm,
    /// Tokens per second of the whole job; fairseq counts words.
    TokensPerSecond,
    /// Tokens per second and device.
    TokensPerSecondPerDevice,
    /// Samples per second of the whole job.
    SamplesPerSecond,
    /// 10^12 floating-point operations per second and device.
    Tflops,
    /// Seconds of one step.
    StepSeconds,
    /// Device memory in bytes: of the allocator or of the driver, as the trainer prints it.
    Memory,
    /// Iterations of the interval whose loss was NaN or infinite and was left out of the printed
    /// average (Megatron-LM).
    NanIterations,
}

impl Metric {
    /// Every metric.
    pub const ALL: &[Self] = &[
        Self::Loss,
        Self::LearningRate,
        Self::GradNorm,
        Self::TokensPerSecond,
        Self::TokensPerSecondPerDevice,
        Self::SamplesPerSecond,
        Self::Tflops,
        Self::StepSeconds,
        Self::Memory,
        Self::NanIterations,
    ];

    /// The number of metrics.
    pub const COUNT: usize = Self::ALL.len();

    /// Its name in JSON and on the page.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::LearningRate => "learning_rate",
            Self::GradNorm => "grad_norm",
            Self::TokensPerSecond => "tokens_per_second",
            Self::TokensPerSecondPerDevice => "tokens_per_second_per_device",
            Self::SamplesPerSecond => "samples_per_second",
            Self::Tflops => "tflops",
            Self::StepSeconds => "step_seconds",
            Self::Memory => "memory",
            Self::NanIterations => "nan_iterations",
        }
    }

    /// Its name in tables, with the unit.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::LearningRate => "learning rate",
            Self::GradNorm => "grad norm",
            Self::TokensPerSecond => "tokens/s",
            Self::TokensPerSecondPerDevice => "tokens/s/device",
            Self::SamplesPerSecond => "samples/s",
            Self::Tflops => "TFLOP/s/device",
            Self::StepSeconds => "step time (s)",
            Self::Memory => "memory (GiB)",
            Self::NanIterations => "NaN iterations",
        }
    }

    /// The position in arrays with a value for each metric.
    pub(super) const fn index(self) -> usize {
        // The declaration and `ALL` have one order, so that arrays by this index are read along
        // with `ALL`.
        self as usize
    }
}
