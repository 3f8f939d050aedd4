//! The heads of patches: a forecast, classes or numbers.

use super::config::{PatchPooling, PatchTstConfig};
use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    layer::Linear,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

pub(super) struct SeriesHead<B: Ops> {
    projection: Linear<B>,
    read: Read,
    kind: HeadKind,
}

/// How a channel is pooled.
#[derive(Clone, Copy)]
enum Read {
    ClassToken,
    Pooled(PatchPooling),
    AllPatches,
}

#[derive(Clone, Copy)]
enum HeadKind {
    Forecast,
    Logits,
    /// Bounded by a sigmoid where there is a range.
    Regression(Option<[f32; 2]>),
}

/// The output of a head.
pub(super) enum HeadOutput<B: Ops> {
    /// [batch, prediction_length, channels], in the unit of the scaler.
    Forecast(Tensor<B, 3>),
    /// [batch, classes].
    Logits(Tensor<B, 2>),
    /// [batch, targets].
    Regression(Tensor<B, 2>),
}

impl<B: Ops> SeriesHead<B> {
    pub(super) fn load(
        config: &PatchTstConfig,
        head: Head,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let (width, all) = (config.d_model, config.num_input_channels * config.d_model);
        // As in transformers, a class token counts before the type of pooling.
        let read = match config.pooling_type {
            _ if config.use_cls_token => Read::ClassToken,
            Some(pool) => Read::Pooled(pool),
            None => Read::AllPatches,
        };
        let projection = |inner, out| Linear::load(&w.module("projection"), inner, out);
        let (projection, kind) = match head {
            Head::Prediction => {
                let inner = if config.pooled() {
                    width
                } else {
                    width * config.patches()
                };
                (
                    projection(inner, config.prediction_length)?,
                    HeadKind::Forecast,
                )
            }
            Head::Regression => (
                projection(all, config.num_targets)?,
                HeadKind::Regression(config.output_range),
            ),
            _ => (
                // `PatchTSTClassificationHead` has this name, the other heads `projection`.
                Linear::load(&w.module("linear"), all, config.num_targets)?,
                HeadKind::Logits,
            ),
        };
        Ok(Self {
            projection,
            read,
            kind,
        })
    }

    /// Of [batch, channels, positions, width].
    pub(super) fn forward(&self, hidden: Tensor<B, 4>) -> HeadOutput<B> {
        let [batch, channels, places, width] = hidden.dims();
        let read = match self.read {
            Read::ClassToken => hidden.narrow(2, 0, 1).reshape([batch, channels, width]),
            Read::Pooled(PatchPooling::Mean) => {
                hidden.mean_dim(2).reshape([batch, channels, width])
            }
            Read::Pooled(PatchPooling::Max) => hidden.max_dim(2).reshape([batch, channels, width]),
            Read::AllPatches => hidden.reshape([batch, channels, places * width]),
        };
        match self.kind {
            HeadKind::Forecast => {
                HeadOutput::Forecast(self.projection.forward(read).swap_dims(1, 2))
            }
            HeadKind::Logits => HeadOutput::Logits(self.of_all_channels(read)),
            HeadKind::Regression(None) => HeadOutput::Regression(self.of_all_channels(read)),
            HeadKind::Regression(Some([low, high])) => {
                // `PatchTSTRegressionHead` maps the sigmoid onto the range.
                let share = activate(self.of_all_channels(read), Activation::Sigmoid);
                HeadOutput::Regression(share * (high - low) + low)
            }
        }
    }

    fn of_all_channels(&self, read: Tensor<B, 3>) -> Tensor<B, 2> {
        let [batch, channels, width] = read.dims();
        self.projection
            .forward(read.reshape([batch, channels * width]))
    }
}
