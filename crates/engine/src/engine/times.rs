//! Times of repeated calls, which the engine measures.

use super::Engine;
use crate::{
    call::EngineCall, error::EngineError, operator_call, reply::TimeReply, tensors::Tensors,
};
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
        Repetitions { warmup, iterations }: Repetitions,
    ) -> Result<Vec<f64>, EngineError> {
        if !self.hello.times {
            let message = format!("engine {} does not measure times", self.name);
            return Err(EngineError::Unsupported { message });
        }
        let call = EngineCall::Time {
            timed: Box::new(timed),
            warmup,
            iterations,
        };
        let (TimeReply { milliseconds }, _) = self.call(call, inputs)?;
        // A time that was not measured would be taken for one.
        let measured = milliseconds.iter().all(|time| *time > 0.0);
        // As many as were asked for: a mean over fewer would look as certain.
        if measured && milliseconds.len() == iterations as usize {
            return Ok(milliseconds);
        }
        Err(EngineError::Failed {
            call: "time",
            message: format!("it does not have {iterations} times above 0: {milliseconds:?}"),
        })
    }
}
