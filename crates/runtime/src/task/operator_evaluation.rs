//! `operator_evaluation`: calls of operators in, their results out.

use super::{HandlerError, Request, Response};
use crate::subject::LoadedSubject;
use testgen_operators::calls::Execute;
use testgen_types::Task;

const TASK: Task = Task::OperatorEvaluation;
const EXPECTED: &str = "calls of operators";

pub(super) fn answer(loaded: &LoadedSubject, request: Request) -> Result<Response, HandlerError> {
    let Some(operators) = loaded.operators() else {
        return Err(HandlerError::WrongSubject {
            task: TASK,
            expected: "operators",
        });
    };
    match request {
        Request::Calls(calls) if calls.is_empty() => Err(HandlerError::EmptyRequest {
            task: TASK,
            expected: EXPECTED,
        }),
        Request::Calls(calls) => {
            let computed = calls
                .iter()
                .map(|call| operators.execute(call))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(Response::Computed(computed))
        }
        other => Err(HandlerError::WrongRequest {
            task: TASK,
            expected: EXPECTED,
            found: other.kind(),
        }),
    }
}
