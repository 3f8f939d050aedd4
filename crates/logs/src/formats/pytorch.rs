//! Trainers with a form of their own: torchtitan, nanoGPT, llm.c, nanotron, MaxText, LitGPT,
//! MMEngine, DeepSpeed.

use crate::{
    definition::{
        Field,
        LinePosition::{After, Before},
        LogDefinition,
        StepSource::{At, EpochBracket},
    },
    format::LogFormat,
    metric::Metric,
    unit::Unit,
};

const TORCHTITAN: &[Field] = &[
    Field(Metric::Loss, After("loss: "), Unit::Own),
    Field(Metric::GradNorm, After("grad_norm: "), Unit::Own),
    Field(Metric::TokensPerSecondPerDevice, After("tps: "), Unit::Own),
    Field(Metric::TokensPerSecondPerDevice, After("wps: "), Unit::Own),
    Field(Metric::Tflops, After("tflops: "), Unit::Own),
    Field(Metric::Memory, After("memory: "), Unit::Gibibytes),
];

const TORCH_MEMORY: &[Field] = &[
    Field(
        Metric::Memory,
        After("max_memory_allocated: "),
        Unit::PrintedBytes,
    ),
    Field(
        Metric::Memory,
        After("max_memory_allocated(): "),
        Unit::PrintedBytes,
    ),
    Field(
        Metric::Memory,
        After("max_memory_allocated() = "),
        Unit::PrintedBytes,
    ),
    Field(
        Metric::Memory,
        After("max_memory_allocated = "),
        Unit::PrintedBytes,
    ),
    Field(
        Metric::Memory,
        After("max_memory_allocated="),
        Unit::PrintedBytes,
    ),
];

pub(super) const DEFINITIONS: &[LogDefinition] = &[
    LogDefinition {
        format: LogFormat::Torchtitan,
        signature: "  tps: ",
        // Lines of validation have a step, a loss, memory and speed, too, but not this.
        any_of: &["  mfu: "],
        step: &[At(After("step: "))],
        fields: TORCHTITAN,
    },
    // Earlier releases count words.
    LogDefinition {
        format: LogFormat::Torchtitan,
        signature: "  wps: ",
        any_of: &["  mfu: "],
        step: &[At(After("step: "))],
        fields: TORCHTITAN,
    },
    LogDefinition {
        format: LogFormat::NanoGpt,
        signature: ", time ",
        any_of: &[": loss "],
        step: &[At(After("iter "))],
        fields: &[
            Field(Metric::Loss, After("loss "), Unit::Own),
            Field(Metric::StepSeconds, After("time "), Unit::Milliseconds),
        ],
    },
    LogDefinition {
        format: LogFormat::LlmC,
        signature: " tok/s",
        any_of: &["| loss ", "| train loss "],
        step: &[At(After("step "))],
        fields: &[
            Field(Metric::Loss, After("| loss "), Unit::Own),
            Field(Metric::Loss, After("| train loss "), Unit::Own),
            Field(Metric::LearningRate, After("| lr "), Unit::Own),
            Field(Metric::GradNorm, After("| norm "), Unit::Own),
            Field(Metric::TokensPerSecond, Before(" tok/s"), Unit::Own),
            Field(Metric::StepSeconds, Before(" ms"), Unit::Milliseconds),
        ],
    },
    LogDefinition {
        format: LogFormat::Nanotron,
        signature: "| tokens_per_sec_per_gpu: ",
        any_of: &[],
        step: &[At(After("iteration: "))],
        fields: &[
            Field(Metric::Loss, After("lm_loss: "), Unit::Prefixed),
            Field(Metric::LearningRate, After("lr: "), Unit::Prefixed),
            Field(Metric::GradNorm, After("grad_norm: "), Unit::Prefixed),
            Field(
                Metric::TokensPerSecond,
                After("tokens_per_sec: "),
                Unit::Prefixed,
            ),
            Field(
                Metric::TokensPerSecondPerDevice,
                After("tokens_per_sec_per_gpu: "),
                Unit::Prefixed,
            ),
            Field(
                Metric::Tflops,
                After("model_tflops_per_gpu: "),
                Unit::Prefixed,
            ),
            Field(
                Metric::StepSeconds,
                After("time_per_iteration_ms: "),
                Unit::PrefixedMilliseconds,
            ),
            Field(
                Metric::StepSeconds,
                After("elapsed_time_per_iteration_ms: "),
                Unit::PrefixedMilliseconds,
            ),
            Field(
                Metric::Memory,
                After("cuda_max_memory_reserved: "),
                Unit::Prefixed,
            ),
        ],
    },
    LogDefinition {
        format: LogFormat::MaxText,
        signature: "completed step: ",
        any_of: &[" loss: "],
        step: &[At(After("completed step: "))],
        fields: &[
            Field(Metric::Loss, After("loss: "), Unit::Own),
            Field(
                Metric::TokensPerSecondPerDevice,
                After("Tokens/s/device: "),
                Unit::Own,
            ),
            Field(Metric::Tflops, After("TFLOP/s/device: "), Unit::Own),
            Field(Metric::StepSeconds, After("seconds: "), Unit::Own),
        ],
    },
    LogDefinition {
        format: LogFormat::LitGpt,
        signature: "| loss train: ",
        any_of: &["| iter "],
        step: &[At(After("iter "))],
        fields: &[
            Field(Metric::Loss, After("loss train: "), Unit::Own),
            Field(
                Metric::StepSeconds,
                After("iter time: "),
                Unit::Milliseconds,
            ),
        ],
    },
    LogDefinition {
        format: LogFormat::MmEngine,
        signature: "(train)",
        any_of: &[" loss: "],
        step: &[EpochBracket, At(After("Iter(train) "))],
        fields: &[
            Field(Metric::Loss, After("loss: "), Unit::Own),
            Field(Metric::LearningRate, After("lr: "), Unit::Own),
            Field(Metric::GradNorm, After("grad_norm: "), Unit::Own),
            Field(Metric::StepSeconds, After("time: "), Unit::Own),
            // Divided by 1024^2, printed without a unit.
            Field(Metric::Memory, After("memory: "), Unit::Mebibytes),
        ],
    },
    LogDefinition {
        format: LogFormat::DeepSpeed,
        signature: "SamplesPerSec=",
        any_of: &[],
        // Earlier releases print `0/50`: epoch and step.
        step: &[
            At(After("/global_step=")),
            At(Before(", RunningAvgSamplesPerSec=")),
            At(Before(", SamplesPerSec=")),
        ],
        fields: &[
            Field(
                Metric::SamplesPerSecond,
                After("CurrSamplesPerSec="),
                Unit::Own,
            ),
            Field(Metric::SamplesPerSecond, After("SamplesPerSec="), Unit::Own),
            // Divided by 1024^3, printed as GB.
            Field(Metric::Memory, After("MaxMemAllocated="), Unit::Gibibytes),
        ],
    },
    LogDefinition {
        format: LogFormat::DeepSpeed,
        signature: ", skipped=",
        any_of: &[" lr=["],
        step: &[At(After("step="))],
        fields: &[Field(Metric::LearningRate, After("lr="), Unit::Own)],
    },
    // `see_memory_usage`. Divided by 1024^3, printed as GB.
    LogDefinition {
        format: LogFormat::DeepSpeed,
        signature: "_MA ",
        any_of: &[" MA "],
        step: &[],
        fields: &[Field(Metric::Memory, After("Max_MA "), Unit::Gibibytes)],
    },
    LogDefinition {
        format: LogFormat::TorchMemory,
        signature: "_memory_allocated",
        any_of: &[],
        step: &[],
        fields: TORCH_MEMORY,
    },
];
