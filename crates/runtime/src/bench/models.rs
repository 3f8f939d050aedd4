//! The measurements of a model: load, first answer, forward calls and sequences of every size.

use super::{
    energy::EnergyMeter,
    row::{BenchRow, NoTime},
};
use crate::{check::CorrectModel, endpoint};
use std::time::Duration;
use testgen_nn::{
    forward::ForwardError,
    timing::{CallTimes, CallsByShape, LayerTimes, TimedCall},
};
use testgen_types::{BenchRequest, Measured, Repetitions};

/// The tokens of an input if the request has none, as far as the model has positions.
const TOKENS: usize = 128;

/// The measurements of a model.
pub(super) fn rows(
    model: &CorrectModel<'_>,
    request: &BenchRequest,
    energy: &EnergyMeter,
) -> Vec<BenchRow> {
    let mut rows = vec![
        BenchRow::once(Measured::Load, model.load),
        // The time that a user waits, which includes kernels that the first call compiles.
        BenchRow::once(Measured::FirstAnswer, model.load + model.first_call),
    ];
    #[cfg(feature = "native")]
    if let Some(device) = model.device {
        rows.extend(super::copies::rows(device, request.repetitions));
    }
    let generates = model.model.capabilities().cached_layers.is_some() && request.steps > 0;
    for &batch in &request.batches {
        for tokens in lengths(model, request) {
            let size = GridSize {
                batch,
                tokens,
                longest: model.longest(),
            };
            rows.push(energy.measured(|| forward(model, size, request)));
            rows.extend(layers(model, size, request));
            rows.extend(calls(model, size, request));
            if generates {
                rows.extend(sequence(model, size, request));
            }
        }
    }
    rows
}

/// One size of the grid.
#[derive(Clone, Copy)]
struct GridSize {
    batch: usize,
    /// `None` for a model whose inputs have a fixed size.
    tokens: Option<usize>,
    /// The most tokens that the model reads.
    longest: Option<usize>,
}

impl GridSize {
    fn row(self, measured: Measured, times: Result<Vec<f64>, NoTime>) -> BenchRow {
        BenchRow {
            batch: Some(self.batch),
            tokens: self.tokens,
            ..BenchRow::timed(measured, times)
        }
    }

    /// An error if the model does not read as many tokens, with `more` after the tokens of the
    /// grid.
    fn fits(self, more: usize) -> Result<(), NoTime> {
        let (Some(tokens), Some(longest)) = (self.tokens, self.longest) else {
            return Ok(());
        };
        if tokens + more <= longest {
            return Ok(());
        }
        let needed = tokens + more;
        // Not a failure: one grid is for all models, and some read shorter texts.
        Err(NoTime::NotComputed(format!(
            "{needed} tokens, and the model reads {longest}"
        )))
    }
}

/// The numbers of tokens of the grid.
fn lengths(model: &CorrectModel<'_>, request: &BenchRequest) -> Vec<Option<usize>> {
    let Some(longest) = model.longest() else {
        return vec![None];
    };
    if request.tokens.is_empty() {
        let generates = model.model.capabilities().cached_layers.is_some();
        let steps = if generates { request.steps as usize } else { 0 };
        // The steps follow the prompt, and need positions, too.
        return vec![Some(TOKENS.min(longest.saturating_sub(steps).max(1)))];
    }
    request.tokens.iter().copied().map(Some).collect()
}

fn forward(model: &CorrectModel<'_>, size: GridSize, request: &BenchRequest) -> BenchRow {
    let times = size.fits(0).and_then(|()| {
        let inputs = model.inputs(size.batch, size.tokens);
        time(model, TimedCall::Forward(&inputs), request.repetitions)
    });
    size.row(Measured::Forward, times.map(|times| times.calls))
}

/// The layers of a streamed model: loading them, computing them, and both side by side.
fn layers(model: &CorrectModel<'_>, size: GridSize, request: &BenchRequest) -> Vec<BenchRow> {
    if size.fits(0).is_err() {
        // As the row of the forward call says.
        return Vec::new();
    }
    let inputs = model.inputs(size.batch, size.tokens);
    let times = match model.model.time_layers(&inputs, request.repetitions) {
        Ok(None) => return Vec::new(),
        Ok(Some(times)) => times,
        Err(error) => return vec![size.row(Measured::StreamLayers, Err(no_time(error)))],
    };
    let row = |measured, time: fn(&LayerTimes) -> Duration| {
        let milliseconds = times.iter().map(|times| time(times).as_secs_f64() * 1e3);
        size.row(measured, Ok(milliseconds.collect()))
    };
    let load = row(Measured::LoadLayers, |times| times.load);
    let compute = row(Measured::ComputeLayers, |times| times.compute);
    let stream = row(Measured::StreamLayers, |times| times.together);
    let overlap = overlap([&load, &compute, &stream]);
    vec![load, compute, BenchRow { overlap, ..stream }]
}

/// The products and convolutions of a forward call, a row for each shape.
fn calls(model: &CorrectModel<'_>, size: GridSize, request: &BenchRequest) -> Vec<BenchRow> {
    if size.fits(0).is_err() {
        // As the row of the forward call says.
        return Vec::new();
    }
    let inputs = model.inputs(size.batch, size.tokens);
    match model.model.time_calls(&inputs, request.repetitions) {
        Ok(times) => call_rows(size, times.unwrap_or_default()),
        Err(error) => vec![size.row(Measured::ModelCall, Err(no_time(error)))],
    }
}

/// A row for each shape, with the times of all forward calls.
fn call_rows(size: GridSize, forward_calls: Vec<CallsByShape>) -> Vec<BenchRow> {
    // The minimum time decides how many there are.
    let count = forward_calls.len();
    let mut by_shape = CallsByShape::new();
    for (shapes, milliseconds) in forward_calls.into_iter().flatten() {
        by_shape.entry(shapes).or_default().extend(milliseconds);
    }
    let rows = by_shape.into_iter().map(|(shapes, milliseconds)| BenchRow {
        case: Some(shapes),
        calls: Some(milliseconds.len() / count),
        ..size.row(Measured::ModelCall, Ok(milliseconds))
    });
    rows.collect()
}

/// See [`testgen_types::BenchEntry::overlap`].
fn overlap(rows: [&BenchRow; 3]) -> Option<f64> {
    let [load, compute, together] = rows.map(|row| Some(row.times.as_ref()?.median));
    let (load, compute) = (load?, compute?);
    Some((load + compute - together?) / load.min(compute))
}

/// The prompt, and the tokens after it.
fn sequence(model: &CorrectModel<'_>, size: GridSize, request: &BenchRequest) -> [BenchRow; 2] {
    let steps = request.steps;
    let times = size.fits(steps as usize).and_then(|()| {
        let prompt = model.prompt(size.batch, size.tokens);
        let call = TimedCall::Decode {
            prompt: &prompt,
            steps,
        };
        time(model, call, request.repetitions)
    });
    let (calls, steps) = match times {
        Ok(CallTimes { calls, steps }) => (Ok(calls), Ok(steps)),
        Err(problem) => (Err(problem.clone()), Err(problem)),
    };
    let row = |measured, times| BenchRow {
        steps: Some(request.steps),
        ..size.row(measured, times)
    };
    [row(Measured::Prefill, calls), row(Measured::Decode, steps)]
}

fn time(
    model: &CorrectModel<'_>,
    call: TimedCall<'_>,
    repetitions: Repetitions,
) -> Result<CallTimes, NoTime> {
    model.model.time(call, repetitions).map_err(no_time)
}

fn no_time(error: ForwardError) -> NoTime {
    match endpoint::unsupported(&error) {
        Some(feature) => NoTime::NotComputed(format!("the engine does not support it: {feature}")),
        None => NoTime::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{CallsByShape, GridSize, call_rows};

    #[test]
    fn a_shape_has_its_calls_in_one_forward_call_and_the_times_of_all() {
        let of_call = |first: f64| {
            CallsByShape::from([
                ("linear".to_owned(), vec![first, first + 1.0]),
                ("matmul".to_owned(), vec![9.0]),
            ])
        };
        let size = GridSize {
            batch: 1,
            tokens: None,
            longest: None,
        };
        let rows = call_rows(size, vec![of_call(1.0), of_call(3.0), of_call(5.0)]);
        let found = rows.into_iter().map(|row| {
            let times = row.times.expect("it is timed").milliseconds;
            (row.case.expect("it has shapes"), row.calls, times)
        });
        let expected = [
            (
                "linear".to_owned(),
                Some(2),
                vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            ),
            ("matmul".to_owned(), Some(1), vec![9.0; 3]),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}
