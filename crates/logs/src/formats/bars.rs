//! Progress bars and printers with the numbers of a step: NeMo, Lightning, torchtune.

use crate::{
    definition::{
        Field,
        LinePosition::{After, Before},
        LogDefinition,
        StepSource::{At, Bar},
    },
    format::LogFormat,
    metric::Metric,
    unit::Unit,
};

pub(super) const DEFINITIONS: &[LogDefinition] = &[
    LogDefinition {
        format: LogFormat::Nemo,
        signature: "Training epoch ",
        any_of: &["reduced_train_loss: "],
        // The counter of the run first: `iteration` begins anew with each epoch.
        step: &[At(After("global_step: ")), At(After("iteration "))],
        fields: &[
            Field(Metric::Loss, After("reduced_train_loss: "), Unit::Own),
            Field(Metric::LearningRate, After("lr: "), Unit::Own),
            Field(Metric::GradNorm, After("grad_norm: "), Unit::Own),
            Field(
                Metric::StepSeconds,
                After("train_step_timing in s: "),
                Unit::Own,
            ),
        ],
    },
    LogDefinition {
        format: LogFormat::Lightning,
        signature: "Epoch ",
        any_of: &["loss=", "loss_step="],
        // Bars of a sanity check or a validation have other names.
        step: &[At(After("global_step=")), Bar],
        fields: &[
            Field(Metric::Loss, After("reduced_train_loss="), Unit::Own),
            Field(Metric::Loss, After("train_loss_step="), Unit::Own),
            Field(Metric::Loss, After("train_loss="), Unit::Own),
            Field(Metric::Loss, After("loss="), Unit::Own),
            Field(Metric::LearningRate, After("lr="), Unit::Own),
            Field(
                Metric::StepSeconds,
                After("train_step_timing in s="),
                Unit::Own,
            ),
            Field(Metric::StepSeconds, Before("s/it"), Unit::Own),
            Field(Metric::StepSeconds, Before("it/s"), Unit::StepsPerSecond),
        ],
    },
    LogDefinition {
        format: LogFormat::Torchtune,
        signature: "|Loss: ",
        any_of: &[],
        step: &[At(Before("|Loss: "))],
        fields: &[
            Field(Metric::Loss, After("|Loss: "), Unit::Own),
            Field(Metric::StepSeconds, Before("s/it"), Unit::Own),
            Field(Metric::StepSeconds, Before("it/s"), Unit::StepsPerSecond),
        ],
    },
];
