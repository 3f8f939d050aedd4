//! Trainers that print a heading with the step and one number a line: Composer, OLMo.

use crate::{
    definition::{Field, LinePosition::After, LogBlock},
    format::LogFormat,
    metric::Metric,
    unit::Unit,
};

pub(super) const BLOCKS: &[LogBlock] = &[
    LogBlock {
        format: LogFormat::Composer,
        heading: "[batch=",
        parts: &["Train "],
        fields: &[
            Field(Metric::Loss, After("Train loss/train/total: "), Unit::Own),
            Field(Metric::LearningRate, After("/group0: "), Unit::Own),
            Field(
                Metric::GradNorm,
                After("Train l2_norm/grad/global: "),
                Unit::Own,
            ),
            Field(
                Metric::TokensPerSecond,
                After("Train throughput/tokens_per_sec: "),
                Unit::Own,
            ),
            Field(
                Metric::TokensPerSecondPerDevice,
                After("Train throughput/device/tokens_per_sec: "),
                Unit::Own,
            ),
            Field(
                Metric::SamplesPerSecond,
                After("Train throughput/samples_per_sec: "),
                Unit::Own,
            ),
            Field(
                Metric::Tflops,
                After("Train throughput/device/flops_per_sec: "),
                Unit::Flops,
            ),
            // Divided by 10^9.
            Field(
                Metric::Memory,
                After("Train memory/peak_reserved_mem: "),
                Unit::Gigabytes,
            ),
        ],
    },
    LogBlock {
        format: LogFormat::Olmo,
        heading: "[step=",
        parts: &["train/", "throughput/", "optim/", "System/"],
        fields: &[
            Field(Metric::Loss, After("train/CrossEntropyLoss="), Unit::Own),
            Field(
                Metric::LearningRate,
                After("optim/learning_rate_group0="),
                Unit::Own,
            ),
            Field(Metric::GradNorm, After("optim/total_grad_norm="), Unit::Own),
            Field(
                Metric::TokensPerSecondPerDevice,
                After("throughput/device/tokens_per_second="),
                Unit::Own,
            ),
            // Divided by 10^6.
            Field(
                Metric::Memory,
                After("System/Peak GPU Memory (MB)="),
                Unit::Megabytes,
            ),
        ],
    },
];
