//! Softmax, activations, pools, reductions and norms of a library compared with f64: shapes,
//! arguments, types, and every algorithm that the library's header names.

mod case;
mod further_reduction;
mod plan;
mod statistics;

pub(crate) use case::PrimitiveCase;
pub(crate) use plan::PrimitivePlan;

use crate::{
    evaluation::{AlgorithmResult, evaluate, first_difference},
    gpu::{GpuError, LibraryGpu},
    library_error::LibraryError,
    primitive::PrimitiveProblem,
    primitive_library::{PrimitiveAlgorithm, PrimitiveLibrary},
    report::{InterruptedComputation, NamedComputation, Reporter},
};
use plan::PlannedPrimitive;
use statistics::NormStatistics;
use testgen_operators::{calls::CallError, cases::Reference};

/// Computes every operator of `plan` and compares it.
pub(crate) fn run_primitives(
    gpu: &dyn LibraryGpu,
    library: &dyn PrimitiveLibrary,
    plan: &PrimitivePlan,
    reporter: &mut Reporter,
) -> Result<(), Box<InterruptedComputation>> {
    for planned in plan.calls() {
        let computation = planned.computation();
        let problem = match planned.problem() {
            Ok(problem) => problem,
            Err(CallError::Unsupported { message, .. }) => {
                reporter.unsupported(&computation, &message);
                continue;
            }
            Err(error) => {
                reporter.failed(&computation, ["none", ""], error.to_string());
                continue;
            }
        };
        let run = PrimitiveRun {
            planned: &planned,
            computation: &computation,
            reporter: &mut *reporter,
        };
        // After an invalid access every further call fails, too.
        if let Err(error) = run.rows(gpu, library, &problem) {
            return Err(Box::new(InterruptedComputation { computation, error }));
        }
    }
    Ok(())
}

/// One operator that is computed with each algorithm.
struct PrimitiveRun<'a> {
    planned: &'a PlannedPrimitive,
    computation: &'a NamedComputation,
    reporter: &'a mut Reporter,
}

impl PrimitiveRun<'_> {
    /// Computes the operator with each algorithm. An error is one of the device, on which nothing
    /// else can be computed.
    fn rows(
        mut self,
        gpu: &dyn LibraryGpu,
        library: &dyn PrimitiveLibrary,
        problem: &PrimitiveProblem,
    ) -> Result<(), GpuError> {
        let mut algorithms = match library.primitive_algorithms(problem) {
            Ok(algorithms) => algorithms,
            Err(LibraryError::Gpu(error)) => return Err(error),
            Err(LibraryError::Unsupported { reason }) => {
                self.reporter.unsupported(self.computation, &reason);
                return Ok(());
            }
            Err(error) => {
                let problem = error.to_string();
                self.reporter
                    .failed(self.computation, ["none", ""], problem);
                return Ok(());
            }
        };
        // Without the subtracted maximum, large inputs overflow in a correct library, too.
        algorithms.retain(|algorithm| !(algorithm.overflows && self.planned.is_large));
        let (call, precision) = (&self.planned.call, self.planned.precision);
        let reference = self.planned.reference();
        let statistics = NormStatistics::new(call, precision);
        let case = PrimitiveCase::new(gpu, library, problem, call)?;
        for algorithm in &algorithms {
            self.compare(&case, algorithm, &reference, statistics.as_ref())?;
        }
        if let Some(first) = algorithms.first() {
            for problem in check_again(&case, first)? {
                self.reporter
                    .failed(self.computation, [first.id.as_str(), ""], problem);
            }
        }
        Ok(())
    }

    fn compare(
        &mut self,
        case: &PrimitiveCase<'_>,
        algorithm: &PrimitiveAlgorithm,
        reference: &Reference,
        statistics: Option<&NormStatistics>,
    ) -> Result<(), GpuError> {
        let name = [algorithm.id.as_str(), ""];
        let (result, written) = case.compute_with_statistics(algorithm)?;
        match result {
            AlgorithmResult::Refused(LibraryError::Unsupported { reason }) => {
                self.reporter.unsupported(self.computation, &reason);
            }
            AlgorithmResult::Refused(error) => {
                self.reporter
                    .failed(self.computation, name, error.to_string());
            }
            AlgorithmResult::Computed {
                values,
                overwritten,
            } => {
                let mut evaluation = evaluate(reference, &values, overwritten);
                if let Some(statistics) = statistics {
                    evaluation = evaluation.and(statistics.evaluate(&written));
                }
                self.reporter.computed(self.computation, name, evaluation);
            }
        }
        Ok(())
    }
}

/// After all algorithms: the first one must return the same bits twice, and the inputs must be
/// unchanged.
fn check_again(
    case: &PrimitiveCase<'_>,
    algorithm: &PrimitiveAlgorithm,
) -> Result<Vec<String>, GpuError> {
    let mut problems = Vec::new();
    if case.is_input_changed()? {
        problems.push("the operator has changed the memory of an input, or around it".to_owned());
    }
    if let [
        AlgorithmResult::Computed { values: first, .. },
        AlgorithmResult::Computed { values: second, .. },
    ] = [case.compute(algorithm)?, case.compute(algorithm)?]
    {
        problems.extend(first_difference(&first, &second));
    }
    Ok(problems)
}
