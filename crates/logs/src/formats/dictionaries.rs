//! Trainers that print dictionaries: the Hugging Face Trainer and its descendants, fairseq,
//! torchtune.

use crate::{
    definition::{
        Field,
        LinePosition::After,
        LogDefinition,
        StepSource::{At, Counted},
    },
    format::LogFormat,
    metric::Metric,
    unit::Unit,
};

pub(super) const DEFINITIONS: &[LogDefinition] = &[
    LogDefinition {
        format: LogFormat::HuggingFace,
        // With the quote: `'eval_loss'` and `'train_loss'` are not losses of a step.
        signature: "'loss': ",
        any_of: &[],
        // The Trainer prints the epoch in place of the step.
        step: &[At(After("'step': ")), Counted],
        fields: &[
            Field(Metric::Loss, After("'loss': "), Unit::Own),
            Field(Metric::LearningRate, After("'learning_rate': "), Unit::Own),
            Field(Metric::GradNorm, After("'grad_norm': "), Unit::Own),
            // Axolotl.
            Field(
                Metric::TokensPerSecondPerDevice,
                After("'tokens/train_per_sec_per_gpu': "),
                Unit::Own,
            ),
            Field(
                Metric::TokensPerSecondPerDevice,
                After("'tokens_per_second_per_gpu': "),
                Unit::Own,
            ),
            Field(
                Metric::Memory,
                After("'memory/max_active (GiB)': "),
                Unit::Gibibytes,
            ),
            Field(
                Metric::Memory,
                After("'memory/max_mem_active(gib)': "),
                Unit::Gibibytes,
            ),
            // Optimum for Gaudi; divided by 1024^3.
            Field(
                Metric::Memory,
                After("'max_memory_allocated (GB)': "),
                Unit::Gibibytes,
            ),
            // With `include_num_input_tokens_seen`: of all processes, since the start.
            Field(
                Metric::TokensPerSecond,
                After("'train_tokens_per_second': "),
                Unit::Own,
            ),
        ],
    },
    // The last line of a run: means of all of it.
    LogDefinition {
        format: LogFormat::HuggingFace,
        signature: "'train_samples_per_second': ",
        any_of: &[],
        step: &[],
        fields: &[
            Field(
                Metric::SamplesPerSecond,
                After("'train_samples_per_second': "),
                Unit::Own,
            ),
            Field(
                Metric::StepSeconds,
                After("'train_steps_per_second': "),
                Unit::StepsPerSecond,
            ),
            Field(
                Metric::TokensPerSecond,
                After("'train_tokens_per_second': "),
                Unit::Own,
            ),
        ],
    },
    LogDefinition {
        format: LogFormat::Fairseq,
        signature: "\"num_updates\": ",
        any_of: &["\"loss\": "],
        step: &[At(After("\"num_updates\": "))],
        fields: &[
            Field(Metric::Loss, After("\"loss\": "), Unit::Own),
            Field(Metric::LearningRate, After("\"lr\": "), Unit::Own),
            Field(Metric::GradNorm, After("\"gnorm\": "), Unit::Own),
            Field(Metric::TokensPerSecond, After("\"wps\": "), Unit::Own),
        ],
    },
    LogDefinition {
        format: LogFormat::Fairseq,
        signature: "num_updates=",
        // With the space: `nll_loss=` is another number.
        any_of: &[" loss="],
        step: &[At(After("num_updates="))],
        fields: &[
            Field(Metric::Loss, After("loss="), Unit::Own),
            Field(Metric::LearningRate, After("lr="), Unit::Own),
            Field(Metric::GradNorm, After("gnorm="), Unit::Own),
            Field(Metric::TokensPerSecond, After("wps="), Unit::Own),
        ],
    },
    LogDefinition {
        format: LogFormat::Torchtune,
        signature: "Step ",
        any_of: &[" | loss:"],
        step: &[At(After("Step "))],
        fields: &[
            Field(Metric::Loss, After("loss:"), Unit::Own),
            Field(Metric::LearningRate, After("lr:"), Unit::Own),
            Field(Metric::GradNorm, After("grad_norm:"), Unit::Own),
            Field(
                Metric::TokensPerSecondPerDevice,
                After("tokens_per_second_per_gpu:"),
                Unit::Own,
            ),
            Field(
                Metric::Memory,
                After("peak_memory_active:"),
                Unit::Gibibytes,
            ),
        ],
    },
];
