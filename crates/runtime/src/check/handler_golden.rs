//! `handler_golden`: the endpoint that the harness creates answers the recorded request of its
//! modality as transformers does.
//!
//! The request goes through `create_<device>_<task>_endpoint_handler` on the device and in the
//! precision of the check. Vectors, scores and boxes are compared with thresholds from the recorded
//! noise of the answer. Choices (labels, tokens, spans) may differ only if the recorded scores of
//! both are closer than the thresholds allow.

mod candidates;
mod choices;
mod comparison;
mod detections;
mod segments;
mod tokens;
mod vectors;

use super::run::{Abort, CheckResult, CheckRun};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use crate::{
    recorded_answer::{AnswerEntries, RecordedAnswer},
    task::Response,
    tolerance::Tolerance,
};
use comparison::AnswerComparison;

pub(super) use crate::recorded_answer::inapplicable;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::OutputReversed,
    "each row of an output is reversed",
    "`answer.|instead of|expected|is not among|is recorded",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let (directory, task) = (run.checkpoint().directory().to_owned(), run.spec().task);
    // Before the load, so that a checkpoint without answers costs nothing.
    Abort::skip_if(inapplicable(&directory, task))?;
    let recorded = RecordedAnswer::read(&directory, task)?;
    let request = (run.harness.request)(&recorded.request)?;
    let tested = run.subject_under_test()?;
    let (precision, tf32) = (tested.precision(), tested.endpoint().tf32());
    // From the noise of the answer, not of the golden: the handler's pooling or softmax changes
    // errors.
    let tolerance = Tolerance::new(&recorded.noise, run.spec().tolerances, precision, tf32);
    let response = tested.endpoint().handle(request)?;
    let mut comparison = AnswerComparison::new(run, tolerance);
    match compare(&mut comparison, &recorded.answer, &response) {
        Ok(summary) => comparison.conclude().map(|()| summary),
        // Differences that were found before the abort are part of the failure.
        Err(abort) => Err(comparison.failures.before(abort)),
    }
}

/// Compares the answer; returns what a report shows of it.
fn compare(
    comparison: &mut AnswerComparison<'_, '_, '_>,
    expected: &AnswerEntries,
    got: &Response,
) -> CheckResult {
    match (expected, got) {
        (AnswerEntries::Labels(expected), Response::Labels(got)) => {
            comparison.labels(expected, got)
        }
        (AnswerEntries::Filled(expected), Response::FilledMasks(got)) => {
            comparison.filled(expected, got)
        }
        (AnswerEntries::TokenLabels(expected), Response::TokenLabels(got)) => {
            comparison.token_labels(expected, got)
        }
        (AnswerEntries::Spans(expected), Response::Answers(got)) => comparison.spans(expected, got),
        (AnswerEntries::Detections(expected), Response::Detections(got)) => {
            comparison.detections(expected, got)
        }
        (AnswerEntries::Segments(expected), Response::Segments(got)) => {
            comparison.segments(expected, got)
        }
        (AnswerEntries::Generated(expected), Response::Generations(got)) => {
            comparison.generated(expected, got)
        }
        (AnswerEntries::Transcripts(expected), Response::Transcriptions(got)) => {
            comparison.transcripts(expected, got)
        }
        (AnswerEntries::Frames(expected), Response::Transcriptions(got)) => {
            comparison.frames(expected, got)
        }
        (AnswerEntries::Retrieved(expected), Response::RetrievedAnswers(got)) => {
            comparison.retrieved(expected, got)
        }
        (AnswerEntries::Vectors(expected), got) => comparison.vectors(expected, got),
        (_, Response::Mock { why }) => Err(Abort::Fail(format!(
            "the endpoint answers as a mock: {why}"
        ))),
        _ => Err(Abort::Fail(
            "the answer is not of the kind that is recorded for the task".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests;
