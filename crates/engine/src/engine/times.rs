//! Times of repeated calls, which the engine measures.

use super::Engine;
use crate::{
    call::EngineCall, error::EngineError, operator_call, reply::TimeReply, tensors::Tensors,
};
use std::time::{Duration, Instant};
use testgen_operators::calls::Call as OperatorCall;
use testgen_types::{Precision, Repetitions};

impl Engine {
    /// The milliseconds of repeated forward calls.
    ///
    /// # Errors
    ///
    /// `unsupported` for an engine that does not measure; see also `EngineProcess::call`.
    pub fn time_forward(
        &self,
        model: u64,
        inputs: &Tensors,
        repetitions: Repetitions,
    ) -> Result<Vec<f64>, EngineError> {
        // Hidden states would be copied to the host within the measured time.
        let traced = false;
        self.time(EngineCall::Forward { model, traced }, inputs, repetitions)
    }

    /// The milliseconds of a step of a sequence that is read repeatedly, after what was read
    /// before.
    ///
    /// # Errors
    ///
    /// As [`Engine::time_forward`].
    pub fn time_step(
        &self,
        session: u64,
        inputs: &Tensors,
        repetitions: Repetitions,
    ) -> Result<Vec<f64>, EngineError> {
        self.time(EngineCall::Step { session }, inputs, repetitions)
    }

    /// The milliseconds of a repeated call of an operator.
    ///
    /// # Errors
    ///
    /// As [`Engine::time_forward`].
    pub fn time_operator(
        &self,
        call: &OperatorCall,
        dtype: Precision,
        repetitions: Repetitions,
    ) -> Result<Vec<f64>, EngineError> {
        let header = operator_call::header(call, dtype);
        self.time(header, &operator_call::tensors(call), repetitions)
    }

    fn time(
        &self,
        timed: EngineCall,
        inputs: &Tensors,
        repetitions: Repetitions,
    ) -> Result<Vec<f64>, EngineError> {
        if !self.hello.times {
            let message = format!("engine {} does not measure times", self.name);
            return Err(EngineError::Unsupported { message });
        }
        let call = EngineCall::Time {
            timed: Box::new(timed),
            warmup: repetitions.warmup,
            iterations: repetitions.iterations,
            min_time_ms: repetitions.min_time_ms,
        };
        // By the clock of this process, because the times of the engine are what is confirmed.
        let start = Instant::now();
        let (TimeReply { milliseconds }, _) = self.call(call, inputs)?;
        confirmed(milliseconds, repetitions, start.elapsed()).map_err(|message| {
            EngineError::Failed {
                call: "time",
                message,
            }
        })
    }
}

/// The times of an engine whose reply took `elapsed`, if they can be what was requested.
fn confirmed(
    milliseconds: Vec<f64>,
    repetitions: Repetitions,
    elapsed: Duration,
) -> Result<Vec<f64>, String> {
    let (count, [fewest, most]) = (milliseconds.len(), repetitions.counts());
    // A time that was not measured would be taken for one, and a mean over fewer than were asked for
    // would look as certain.
    let measured = milliseconds.iter().filter(|time| **time > 0.0).count();
    if measured < count || !(fewest..=most).contains(&count) {
        return Err(format!(
            "{measured} of its {count} times are above 0, expected {fewest} to {most} of them"
        ));
    }
    // The report says that the calls went on for this time.
    if count < most && elapsed < repetitions.min_time() {
        return Err(format!(
            "it ended after {count} calls in {:.0} ms, before `min_time_ms` {}",
            elapsed.as_secs_f64() * 1e3,
            repetitions.min_time_ms
        ));
    }
    Ok(milliseconds)
}

#[cfg(test)]
mod tests {
    use super::{Duration, Repetitions, confirmed};

    #[test]
    fn times_are_as_many_as_requested_by_number_and_for_a_time() {
        let confirmed = |count: usize, min_time_ms, elapsed| {
            let repetitions = Repetitions {
                min_time_ms,
                ..Repetitions::exactly(3)
            };
            confirmed(
                vec![0.5; count],
                repetitions,
                Duration::from_millis(elapsed),
            )
        };
        let ended = |count, min_time_ms, elapsed| confirmed(count, min_time_ms, elapsed).is_ok();
        assert_eq!(
            [2, 3, 4].map(|count| ended(count, 0, 1)),
            [false, true, false]
        );
        assert_eq!(
            [2, 3, 4].map(|count| ended(count, 300, 300)),
            [false, true, true]
        );
        assert_eq!(
            confirmed(4, 300, 299),
            Err("it ended after 4 calls in 299 ms, before `min_time_ms` 300".to_owned())
        );
        let most = Repetitions::MOST_TIMES;
        assert_eq!(
            [most, most + 1].map(|count| ended(count, 300, 1)),
            [true, false]
        );
        let text = "2 of its 3 times are above 0, expected 3 to 3 of them";
        let zero = super::confirmed(vec![0.5, 0.0, 0.5], Repetitions::exactly(3), Duration::ZERO);
        assert_eq!(zero, Err(text.to_owned()));
    }
}
