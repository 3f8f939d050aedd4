//! Megatron-LM and the trainers that derive from it: fields between bars,
//! `learning rate: 1.0E-04 |`.

use crate::{
    definition::{Field, LinePosition::After, LogDefinition, StepSource::At},
    format::LogFormat,
    metric::Metric,
    unit::Unit,
};

const ELAPSED: &str = "elapsed time per iteration (ms): ";

pub(super) const DEFINITIONS: &[LogDefinition] = &[
    LogDefinition {
        // First, and GPT-NeoX before Megatron-LM, whose form has the same signature and needs
        // nothing more.
        format: LogFormat::Primus,
        signature: ELAPSED,
        any_of: &[
            "mem usage/free/total/usage_ratio: ",
            "tokens per GPU (tokens/s/GPU): ",
            "tokens/s/GPU inst/harmonic mean: ",
        ],
        step: &[At(After("iteration "))],
        fields: &[
            Field(Metric::Loss, After("lm loss: "), Unit::Own),
            Field(Metric::LearningRate, After("learning rate: "), Unit::Own),
            Field(Metric::GradNorm, After("grad norm: "), Unit::Own),
            Field(
                Metric::TokensPerSecondPerDevice,
                After("tokens per GPU (tokens/s/GPU): "),
                Unit::Own,
            ),
            Field(
                Metric::TokensPerSecondPerDevice,
                After("tokens/s/GPU inst/harmonic mean: "),
                Unit::Own,
            ),
            Field(
                Metric::Tflops,
                After("throughput per GPU (TFLOP/s/GPU): "),
                Unit::Own,
            ),
            Field(
                Metric::Tflops,
                After("compute per GPU (TFLOP/s/GPU): "),
                Unit::Own,
            ),
            Field(Metric::StepSeconds, After(ELAPSED), Unit::Milliseconds),
            // Both are divided by 1024^3, whether GB or GiB is printed. HIP's is printed in every
            // line.
            Field(
                Metric::Memory,
                After("hip mem usage/free/total/usage_ratio: "),
                Unit::Gibibytes,
            ),
            Field(
                Metric::Memory,
                After("rocm mem usage/free/total/usage_ratio: "),
                Unit::Gibibytes,
            ),
            Field(
                Metric::NanIterations,
                After("number of nan iterations: "),
                Unit::Own,
            ),
        ],
    },
    // Each rank prints it after its first interval. Divided by 1024^2.
    LogDefinition {
        format: LogFormat::Megatron,
        signature: "(MB) | allocated: ",
        any_of: &[],
        step: &[At(After("(after "))],
        fields: &[Field(
            Metric::Memory,
            After("max allocated: "),
            Unit::Mebibytes,
        )],
    },
    LogDefinition {
        format: LogFormat::GptNeox,
        signature: ELAPSED,
        any_of: &["approx flops per GPU: "],
        step: &[At(After("iteration "))],
        fields: &[
            Field(Metric::Loss, After("lm_loss: "), Unit::Own),
            Field(Metric::LearningRate, After("learning rate: "), Unit::Own),
            Field(Metric::SamplesPerSecond, After("samples/sec: "), Unit::Own),
            Field(
                Metric::Tflops,
                After("approx flops per GPU: "),
                Unit::PrefixedFlops,
            ),
            Field(Metric::StepSeconds, After(ELAPSED), Unit::Milliseconds),
            Field(
                Metric::NanIterations,
                After("number of nan iterations: "),
                Unit::Own,
            ),
        ],
    },
    LogDefinition {
        format: LogFormat::Megatron,
        signature: ELAPSED,
        any_of: &[],
        step: &[At(After("iteration "))],
        fields: &[
            Field(Metric::Loss, After("lm loss: "), Unit::Own),
            Field(Metric::LearningRate, After("learning rate: "), Unit::Own),
            Field(Metric::GradNorm, After("grad norm: "), Unit::Own),
            // The next three are printed by Megatron-DeepSpeed.
            Field(
                Metric::TokensPerSecondPerDevice,
                After("tokens per gpu per second (tgs): "),
                Unit::Own,
            ),
            Field(
                Metric::SamplesPerSecond,
                After("samples per second: "),
                Unit::Own,
            ),
            Field(Metric::Tflops, After("TFLOPs: "), Unit::Own),
            Field(
                Metric::Tflops,
                After("throughput per GPU (TFLOP/s/GPU): "),
                Unit::Own,
            ),
            Field(Metric::StepSeconds, After(ELAPSED), Unit::Milliseconds),
            Field(
                Metric::NanIterations,
                After("number of nan iterations: "),
                Unit::Own,
            ),
        ],
    },
];
