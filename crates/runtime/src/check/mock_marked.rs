//! `mock_marked`: the endpoint of a checkpoint that cannot be loaded is marked as a mock, with the
//! reason in every answer.

mod smallest_request;

use super::run::{CheckResult, CheckRun, Failures, MISSING};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use crate::{
    endpoint::{Endpoint, Status},
    task::{Request, Response},
};
use smallest_request::smallest_request;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::OtherCheckpointLoaded,
    "another checkpoint is loaded",
    "but the endpoint is real",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let missing = run.context.missing_checkpoint();
    let mut endpoint = run.endpoint(Some(&missing), run.registration.precision);
    let mut failures = Failures::default();
    let why = match endpoint.status() {
        Status::Mock { why, .. } => why.clone(),
        other => {
            failures.push(format!(
                "the checkpoint does not exist, but the endpoint is {other}"
            ));
            String::new()
        }
    };
    // A real endpoint has no reason, and is a failure already.
    if !why.contains(MISSING) && failures.is_empty() {
        failures.push(format!(
            "the reason does not name the missing checkpoint: {why}"
        ));
    }
    if endpoint.loaded().is_some() || endpoint.device().is_some() {
        failures.push("the mock returns a model or a device");
    }
    let request = smallest_request(run.spec().task);
    // Also after a failure, because both are independent properties of the endpoint.
    failures.extend(unmarked_answer(&mut endpoint, request));
    failures.conclude()?;
    Ok(Some(format!("marked as mock: {why}")))
}

/// The failure if an answer, direct or from the queue, does not say that it comes from a mock.
fn unmarked_answer(endpoint: &mut Endpoint, request: Request) -> Option<String> {
    // Both ways, because the queue joins requests and has its own path to the handler.
    let at_once = endpoint.handle(request.clone());
    if !matches!(&at_once, Ok(Response::Mock { why }) if !why.is_empty()) {
        return Some(format!("the mock answers {at_once:?}"));
    }
    if let Err(full) = endpoint.submit(request) {
        return Some(full.to_string());
    }
    let queued = endpoint.process();
    let is_mock = queued.len() == 1 && matches!(&queued[0].response, Ok(Response::Mock { .. }));
    (!is_mock).then(|| format!("the mock answers {queued:?} from its queue"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::label::Label;
    use testgen_types::{DeviceKind, Task};

    /// The answer to the request that the check submits, and no other.
    #[test]
    fn one_answer_comes_from_the_queue() {
        let error = std::io::Error::other("a test has no model");
        let mut mock = Endpoint::mock(
            &Label::new("bert", DeviceKind::Cpu),
            DeviceKind::Cpu,
            &error,
        );
        let request = smallest_request(Task::FillMask);
        assert_eq!(unmarked_answer(&mut mock, request.clone()), None);
        mock.submit(request.clone()).unwrap();
        assert!(
            unmarked_answer(&mut mock, request)
                .unwrap()
                .contains("from its queue")
        );
    }
}
