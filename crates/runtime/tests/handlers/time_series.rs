//! Time series: forecasts in the unit of the series.

use crate::support::{answer, assert_rows, recorded};
use testgen_runtime::{
    Array, ModelType, Task,
    task::{self, Request, Response, TimeSeries},
};

#[test]
fn time_series_forecasting_goes_on_in_the_unit_of_the_series() {
    let series = recorded("patchtst", "case.1.input.past_values");
    let of_row = |row: usize| {
        let values = series
            .select_rows(&[row])
            .as_floats()
            .expect("floats")
            .to_vec();
        TimeSeries {
            values: Array::floats(&series.shape()[1..], values),
            observed: None,
        }
    };
    let request = Request::Series((0..series.shape()[0]).map(of_row).collect());
    let task = Task::TimeSeriesForecasting;
    let response = answer(
        "patchtst",
        ModelType::PatchTst,
        task,
        task::time_series_forecasting,
        request,
    );
    let Response::Forecasts(forecasts) = response else {
        panic!("it is {response:?}")
    };
    assert_rows(
        &forecasts,
        &recorded("patchtst", "case.1.output.prediction_outputs"),
    );
}
