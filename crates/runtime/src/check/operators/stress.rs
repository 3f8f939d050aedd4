//! `stress`: operators on sizes that no fixture has, against the reference of one period, in
//! several runs.
//!
//! Owns what runs on this device: the memory and the time that a case may take, and for how long
//! cases are repeated. The cases and their comparison are in `testgen_operators`.

mod limits;
mod note;
mod soak;

use super::{
    super::run::{Abort, CheckResult, CheckRun, Failures},
    calls::{
        evidence::{exact, output_error},
        under_test::{OperatorsUnderTest, shapes},
    },
};
#[cfg(test)]
use crate::check::tests::faulty::{Detected, Fault};
use crate::{
    memory::cleanup,
    open::OpenDevice,
    stress_request::StressRequest,
    subject::{LoadedSubject, OperatorSet, OperatorShapes},
};
use limits::DeviceLimits;
use note::Note;
use soak::Soaked;
use testgen_operators::{
    calls::{Call, CallError, Computed, Execute, PeriodicCall, PeriodicResult, Piece},
    cases::{Stress, StressCase, stress_cases},
};

#[cfg(test)]
pub(in crate::check) const FAULT: Detected = Detected::new(
    Fault::OutputOff,
    "one element of each output off by 1 %",
    "1 of 7070 elements are wrong",
);

/// Large shapes, each with the reference of one period.
pub(in crate::check) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let loaded = run.subject_under_test()?;
    let tested = OperatorsUnderTest::new(run, &loaded);
    let endpoint = loaded.endpoint();
    let (Some(set), Some(device), Some(kind)) = (
        endpoint.loaded().and_then(LoadedSubject::operators),
        endpoint.open_device(),
        tested.tensor_kind(),
    ) else {
        return Err(Abort::Fail(
            "the endpoint names no operators or no device".to_owned(),
        ));
    };
    let operators = shapes(run)?;
    if operators.iter().all(|shapes| shapes.stress.is_empty()) {
        return Err(Abort::Skip("the spec has no shapes in `stress`".to_owned()));
    }
    // Not through the handler: it would copy a large tensor to the host, which this check reads in
    // parts.
    let executor = Released { set, device };
    let stress = Stress {
        executor: &executor,
        arithmetic: tested.arithmetic(),
        device: kind,
    };
    let request = StressRequest::from_environment().map_err(Abort::Fail)?;
    let mut cases = Cases {
        run,
        stress,
        device,
        note: Note::default(),
        failures: Failures::default(),
        soaked: Soaked::new(request.soak()),
    };
    operators
        .into_iter()
        .for_each(|shapes| cases.of_operator(shapes));
    // After all first runs: repetitions use up the time, and each case needs its first bits.
    cases.soaked.repeat(&cases.stress, &mut cases.failures);
    cases.failures.conclude()?;
    cases.note.result(&cases.soaked)
}

/// The cases of a check while they run.
struct Cases<'c, 'r> {
    run: &'c mut CheckRun<'r>,
    stress: Stress<'c>,
    device: &'c OpenDevice,
    note: Note,
    failures: Failures,
    soaked: Soaked,
}

impl Cases<'_, '_> {
    fn of_operator(&mut self, shapes: &OperatorShapes) {
        let element = self.stress.arithmetic.element();
        for group in shapes.stress {
            for sizes in group.shapes {
                let cases = stress_cases(shapes.operator, sizes, element);
                if cases.is_empty() {
                    self.failures.push(format!(
                        "`{}` of {sizes:?}: no variant of it can be repeated",
                        shapes.operator
                    ));
                }
                cases
                    .into_iter()
                    .for_each(|case| self.case(group.issue, case));
            }
        }
    }

    fn case(&mut self, issue: &str, case: StressCase) {
        let (operator, name) = (
            case.operator(),
            format!("`{}` of {} ({issue})", case.operator(), case.description()),
        );
        // Before each case: what earlier ones released may be in use by other programs meanwhile.
        let limits = DeviceLimits::for_device(self.device);
        if let Some(refusal) = limits.refuses(&case, 1) {
            return self.note.refused(&name, refusal);
        }
        // Two runs at once need twice the memory; a case that fits once is run without the second
        // stream.
        let alone = limits.refuses(&case, 2);
        match self.stress.run(&case, alone.is_none()) {
            Ok(result) => {
                self.failures.extend(
                    result
                        .failure
                        .as_ref()
                        .map(|failure| format!("{name}: {failure}")),
                );
                let mut evaluation = result.evaluation;
                if result.failure.is_some() && evaluation.headroom >= 1.0 {
                    // The numbers are right, and the runs differ.
                    evaluation.headroom = 0.0;
                }
                self.run
                    .evidence
                    .add(output_error(operator, &case.call.result, evaluation));
                self.note.computed(&name, alone);
                self.soaked.add(case, result.bits, name);
            }
            Err(CallError::Unsupported { message, .. }) => {
                self.note.unsupported.add(operator, &message)
            }
            Err(error) => {
                self.failures.push(format!("{name}: {error}"));
                self.run.evidence.add(exact(operator, false));
            }
        }
    }
}

/// The operators of an endpoint; each run returns its memory to the driver.
// Every thread has a stream with separate memory.
struct Released<'e> {
    set: &'e OperatorSet,
    device: &'e OpenDevice,
}

impl Execute for Released<'_> {
    fn execute(&self, call: &Call) -> Result<Computed, CallError> {
        self.set.execute(call)
    }

    fn execute_periodic(
        &self,
        call: &PeriodicCall,
        read: &mut dyn FnMut(Piece<'_>),
    ) -> Result<PeriodicResult, CallError> {
        let result = self.set.execute_periodic(call, read);
        cleanup(self.device);
        result
    }
}
