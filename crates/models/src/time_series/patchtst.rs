//! PatchTST (Nie et al. 2022): `transformers.models.patchtst`.

mod config;
mod encoder;
mod head;
mod scaler;

use crate::{
    model_def::{LoadedNetwork, ModelDef},
    network::Network,
};
use config::PatchTstConfig;
use encoder::PatchTstEncoder;
use head::{HeadOutput, SeriesHead};
use scaler::{Scaled, Scaler};
use testgen_nn::{
    backend::Ops, context::ForwardContext, forward::ForwardError, inputs::Inputs, weights::Weights,
};
use testgen_types::Head;

/// `model_type` `patchtst`.
pub(crate) struct PatchTst;

impl ModelDef for PatchTst {
    type Config = PatchTstConfig;

    fn load<B: Ops>(
        config: &PatchTstConfig,
        head: Head,
        _: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        Ok(Box::new(PatchTstModel {
            scaler: config.scaling,
            encoder: PatchTstEncoder::load(config, &w.module("model.encoder"))?,
            head: SeriesHead::load(config, head, &w.module("head"))?,
            shape: [config.context_length, config.num_input_channels],
        }))
    }
}

struct PatchTstModel<B: Ops> {
    scaler: Scaler,
    encoder: PatchTstEncoder<B>,
    head: SeriesHead<B>,
    /// The length of a series, and its channels.
    shape: [usize; 2],
}

impl<B: Ops> Network<B> for PatchTstModel<B> {
    /// `prediction_outputs` [batch, prediction_length, channels] in the unit of the input, with
    /// `loc` and `scale` [batch, 1, channels]; or `prediction_logits` or `regression_outputs`
    /// [batch, targets].
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let series = inputs.floats::<3>("past_values")?;
        if series.dims()[1..] != self.shape {
            return Err(ForwardError::WrongInput {
                name: "past_values".to_owned(),
                found: format!("a tensor of shape {:?}", series.dims()),
                expected: format!(
                    "floats of shape [batch, {}, {}]",
                    self.shape[0], self.shape[1]
                ),
            });
        }
        let Scaled { values, loc, scale } = self.scaler.apply(series, scaler::observed(inputs)?);
        let hidden = self.encoder.forward(values, context)?;
        match self.head.forward(hidden) {
            HeadOutput::Logits(logits) => context.output("prediction_logits", logits),
            HeadOutput::Regression(numbers) => context.output("regression_outputs", numbers),
            // Only a forecast is a series, so that only it goes back to the unit of the input.
            HeadOutput::Forecast(forecast) => {
                context.output("prediction_outputs", forecast * scale.clone() + loc.clone())?;
                context.output("loc", loc)?;
                context.output("scale", scale)
            }
        }
    }
}
