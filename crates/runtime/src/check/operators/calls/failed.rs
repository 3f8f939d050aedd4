//! Failed calls of a check: computed again, and written to files that `testgen replay` computes
//! anywhere.

use super::{super::super::run::CheckRun, under_test::OperatorsUnderTest};
use crate::{
    kernels,
    repetition::{Runs, arithmetic, expected, repetition, run_twice},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use testgen_operators::{
    calls::{Actual, Again, Call, CallError, Computed, Execute, FailedCall, Repetition},
    cases::reference,
};
use testgen_types::Registration;

/// The variable with the folder for the files; without it none is written.
const FOLDER_VARIABLE: &str = "TESTGEN_FAILURES";

/// Calls of a check that are computed again and kept.
// As many as a check reports failures with their reasons.
pub(in crate::check::operators) const LIMIT: usize = 6;

/// The failed calls of a check.
pub(in crate::check::operators) struct FailedCalls {
    folder: Option<PathBuf>,
    /// The start of the names of the files.
    stem: String,
    /// The facts that all files of the check have in common.
    facts: FailedCallFacts,
    count: usize,
}

struct FailedCallFacts {
    subject: String,
    registration: Registration,
    tf32: bool,
    device_name: Option<String>,
    simulated: bool,
    engine: Option<String>,
}

/// A call that failed.
pub(in crate::check::operators) struct Failing<'a> {
    /// The operator with shapes and variant.
    pub(in crate::check::operators) case: String,
    pub(in crate::check::operators) call: &'a Call,
    pub(in crate::check::operators) result: Result<&'a Computed, &'a CallError>,
    /// Why.
    pub(in crate::check::operators) failure: &'a str,
}

impl FailedCalls {
    /// The failed calls of a check that begins. Deletes the files of its last run.
    pub(in crate::check::operators) fn new(
        run: &CheckRun<'_>,
        tested: &OperatorsUnderTest<'_>,
    ) -> Self {
        let device = tested.device();
        let engine = run.engine.name().in_report();
        let facts = FailedCallFacts {
            subject: run.spec().name.to_owned(),
            registration: run.registration,
            tf32: tested.tf32(),
            device_name: device.map(|device| device.name.clone()),
            simulated: device.is_some_and(|device| device.simulated),
            engine,
        };
        let index = run.context.index.chosen();
        let folder = std::env::var_os(FOLDER_VARIABLE)
            .filter(|folder| !folder.is_empty())
            .map(PathBuf::from);
        Self::in_folder(folder.filter(|_| !kernels::compiles_only()), facts, index)
    }

    fn in_folder(folder: Option<PathBuf>, facts: FailedCallFacts, index: Option<u32>) -> Self {
        let Registration {
            device,
            check,
            precision,
        } = facts.registration;
        // Runs on several devices of one kind write to the same folder.
        let index = index.map(|index| format!("-{index}")).unwrap_or_default();
        // The name of an engine may have characters that a file name must not have.
        let engine = facts
            .engine
            .iter()
            .map(|name| name.replace(|c: char| !c.is_ascii_alphanumeric(), "-") + "-");
        let stem = format!(
            "{}-{check}-{}{device}{index}-{precision}",
            facts.subject,
            engine.collect::<String>()
        );
        let failed = Self {
            folder,
            stem,
            facts,
            count: 0,
        };
        for number in 1..=LIMIT {
            // A file that is not there is the usual case; what cannot be deleted is replaced.
            failed
                .folder
                .iter()
                .for_each(|folder| drop(fs::remove_file(folder.join(failed.name(number)))));
        }
        failed
    }

    fn name(&self, number: usize) -> String {
        format!("{}-{number}.json", self.stem)
    }

    /// Computes a failed call again on `executor` and writes it to a file. Returns what to add to
    /// the message of the failure.
    pub(in crate::check::operators) fn keep(
        &mut self,
        failing: &Failing<'_>,
        executor: &dyn Execute,
    ) -> String {
        // A process that compiles kernels computes nothing, so that everything fails there.
        if self.count == LIMIT || kernels::compiles_only() {
            return String::new();
        }
        self.count += 1;
        let failed = self.failed_call(failing, &run_twice(executor, failing.call));
        let again = description(failed.again, failing.result.is_err());
        match self.write(&failed) {
            None => format!("; {again}"),
            Some(Ok(file)) => {
                format!("; {again}; `testgen replay` computes `{file}` beside the report")
            }
            Some(Err(problem)) => format!("; {again}; no file for `testgen replay`: {problem}"),
        }
    }

    fn failed_call(&self, failing: &Failing<'_>, runs: &Runs) -> FailedCall {
        let FailedCallFacts {
            subject,
            registration,
            tf32,
            device_name,
            simulated,
            engine,
        } = &self.facts;
        let actual = match failing.result {
            Ok(computed) => Actual::Computed(computed.tensor.clone()),
            Err(error) => Actual::Error(error.to_string()),
        };
        let arithmetic = arithmetic(registration.check, registration.precision, *tf32);
        // Computed again from the facts of the file, as a replay does, so that both have the same
        // bounds.
        let reference = reference(failing.call, arithmetic);
        let compared = |result: &Actual| repetition(&reference, &actual, result);
        let again = Again {
            plain: compared(&runs.plain),
            blocking: runs.blocking.as_ref().map(compared),
        };
        FailedCall {
            version: FailedCall::VERSION,
            subject: subject.clone(),
            check: registration.check,
            case: failing.case.clone(),
            precision: registration.precision,
            tf32: *tf32,
            device: registration.device,
            device_name: device_name.clone(),
            simulated: *simulated,
            engine: engine.clone(),
            failure: failing.failure.to_owned(),
            again,
            kernels: runs.kernels.clone(),
            call: failing.call.clone(),
            expected: expected(&reference),
            actual,
        }
    }

    /// The file in the folder, as a path from the report. None without a folder.
    fn write(&self, failed: &FailedCall) -> Option<Result<String, String>> {
        let folder = self.folder.as_deref()?;
        let elements = elements(failed);
        if elements > FailedCall::ELEMENTS {
            let limit = FailedCall::ELEMENTS;
            return Some(Err(format!(
                "the call has {elements} elements, a file has at most {limit}"
            )));
        }
        let name = self.name(self.count);
        let written = replace(folder, &name, failed.to_json().as_bytes());
        let shown = folder
            .file_name()
            .map(|folder| format!("{}/{name}", folder.to_string_lossy()));
        Some(
            written
                .map(|()| shown.unwrap_or_else(|| name.clone()))
                .map_err(|error| {
                    format!(
                        "`{}` cannot be written: {error}",
                        folder.join(&name).display()
                    )
                }),
        )
    }
}

/// The number of elements of all tensors of a file.
fn elements(failed: &FailedCall) -> usize {
    let inputs: usize = failed
        .call
        .inputs
        .iter()
        .map(|input| input.tensor.len())
        .sum();
    let actual = match &failed.actual {
        Actual::Computed(tensor) => tensor.len(),
        Actual::Error(_) => 0,
    };
    inputs + failed.expected.values.len() + actual
}

/// Writes a file completely or not at all: a run at the same time may read it.
fn replace(folder: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let written =
        fs::write(&temporary, content).and_then(|()| fs::rename(&temporary, folder.join(name)));
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written
}

/// Whether the result changes.
fn description(again: Again, is_error: bool) -> String {
    let plain = described(again.plain, is_error);
    match again.blocking {
        None => format!("computed again: {plain}"),
        Some(blocking) if described(blocking, is_error) == plain => {
            format!("computed again: {plain}, also with blocking launches")
        }
        Some(blocking) => format!(
            "computed again: {plain}; with blocking launches: {}",
            described(blocking, is_error)
        ),
    }
}

#[cfg(test)]
#[path = "failed/tests.rs"]
mod tests;

fn described(repetition: Repetition, is_error: bool) -> &'static str {
    match repetition {
        Repetition::Same if is_error => "the same error",
        Repetition::Same => "the same bits",
        Repetition::OtherFailure if is_error => "another error or a wrong result",
        Repetition::OtherFailure => "another wrong result",
        Repetition::Correct => "a correct result",
    }
}
