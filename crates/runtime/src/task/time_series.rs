//! Forecasts, labels and numbers of series.

use super::{
    LabelScore, Request, Response, TimeSeries,
    call::{HandlerError, TaskCall},
    scores::{ranked, softmax},
    text_embedding::vector,
};
use testgen_nn::{
    array::{Array, Arrays},
    forward::Forward,
};

pub(super) fn answer_forecast(
    call: &TaskCall<'_>,
    request: Request,
) -> Result<Response, HandlerError> {
    let (batch, forward) = read(call, request)?;
    let output = ("prediction_outputs", 3);
    let forecast = call.output(
        &forward,
        output,
        &[batch],
        "a class such as `PatchTSTForPrediction`",
    )?;
    Ok(Response::Forecasts(
        (0..batch)
            .map(|index| Array::floats(&forecast.shape[1..], forecast.row(index).to_vec()))
            .collect(),
    ))
}

pub(super) fn answer_labels(
    call: &TaskCall<'_>,
    request: Request,
) -> Result<Response, HandlerError> {
    let (batch, forward) = read(call, request)?;
    let output = ("prediction_logits", 2);
    let logits = call.output(
        &forward,
        output,
        &[batch],
        "a class such as `PatchTSTForClassification`",
    )?;
    Ok(Response::Labels(
        (0..batch)
            .map(|index| {
                let ranked = ranked(softmax(logits.row(index))).into_iter();
                ranked
                    .map(|(label, score)| LabelScore {
                        label: call.label(label),
                        score,
                    })
                    .collect()
            })
            .collect(),
    ))
}

pub(super) fn answer_numbers(
    call: &TaskCall<'_>,
    request: Request,
) -> Result<Response, HandlerError> {
    let (batch, forward) = read(call, request)?;
    let output = ("regression_outputs", 2);
    let numbers = call.output(
        &forward,
        output,
        &[batch],
        "a class such as `PatchTSTForRegression`",
    )?;
    Ok(Response::Regressions(
        (0..batch)
            .map(|index| vector(numbers.row(index).to_vec()))
            .collect(),
    ))
}

/// The number of series, and the model's outputs for them.
fn read(call: &TaskCall<'_>, request: Request) -> Result<(usize, Forward), HandlerError> {
    let series = call.series(request)?;
    let shape = series[0].values.shape().to_vec();
    let (mut values, mut observed) = (Vec::new(), Vec::new());
    for (
        index,
        TimeSeries {
            values: floats,
            observed: mask,
        },
    ) in series.iter().enumerate()
    {
        let fits = shape.len() == 2 && floats.shape() == shape;
        let floats = floats.as_floats().filter(|_| fits);
        values.extend_from_slice(floats.ok_or_else(|| {
            bad_input("is not floats [time, channels] as the first series", index)
        })?);
        match mask {
            // Without a mask every value counts as observed.
            None => observed.extend(std::iter::repeat_n(1, shape.iter().product())),
            Some(mask) => {
                let integers = mask.as_integers().filter(|_| mask.shape() == shape);
                observed.extend_from_slice(
                    integers
                        .ok_or_else(|| bad_input("has a mask of another shape or type", index))?,
                );
            }
        }
    }
    let whole: Vec<usize> = [series.len()].into_iter().chain(shape).collect();
    let inputs = Arrays::from([
        (
            "past_values".to_owned(),
            Array::floats(whole.clone(), values),
        ),
        (
            "past_observed_mask".to_owned(),
            Array::integers(whole, observed),
        ),
    ]);
    Ok((series.len(), call.model.forward(&inputs)?))
}

fn bad_input(problem: &str, index: usize) -> HandlerError {
    HandlerError::BadInput {
        index,
        problem: problem.to_owned(),
    }
}
