//! Convolutions of a library compared with f64: shapes, windows, groups, types, and every algorithm
//! that the library offers.

mod bound;
mod case;
mod opened;
mod plan;
mod terms;
mod transform;

pub(crate) use bound::{ConvolutionBounds, ConvolutionEvaluation};
pub(crate) use case::ConvolutionCase;
pub(crate) use opened::OpenedConvolutions;
pub(crate) use plan::ConvolutionPlan;

use crate::{
    convolution_library::ConvolutionAlgorithm,
    evaluation::{AlgorithmResult, first_difference},
    gpu::GpuError,
    library_error::LibraryError,
    report::{InterruptedComputation, NamedComputation, Reporter},
};
use plan::PlannedConvolution;

/// The most bytes of workspace of an algorithm: all of them are written before each run that is
/// compared.
pub(crate) const MOST_WORKSPACE: usize = 256 << 20;

/// Computes every convolution of `plan` and compares it.
pub(crate) fn run_convolutions(
    device: OpenedConvolutions<'_>,
    plan: &ConvolutionPlan,
    reporter: &mut Reporter,
) -> Result<(), Box<InterruptedComputation>> {
    for planned in plan.convolutions() {
        let computation = NamedComputation {
            arithmetic: planned.problem.arithmetic(),
            variant: planned.problem.operator.to_string(),
            description: format!("{}, {}", planned.problem, planned.kind),
        };
        // After an invalid access every further call fails, too.
        if let Err(error) = rows(device, &planned, &computation, reporter) {
            return Err(Box::new(InterruptedComputation { computation, error }));
        }
    }
    Ok(())
}

/// Computes a convolution with each algorithm. An error is one of the device, on which no other
/// convolution can be computed.
fn rows(
    device: OpenedConvolutions<'_>,
    planned: &PlannedConvolution,
    computation: &NamedComputation,
    reporter: &mut Reporter,
) -> Result<(), GpuError> {
    let algorithms = match device.library.algorithms(&planned.problem) {
        Ok(algorithms) => algorithms,
        Err(LibraryError::Gpu(error)) => return Err(error),
        Err(LibraryError::Unsupported { reason }) => {
            reporter.unsupported(computation, &reason);
            return Ok(());
        }
        Err(error) => {
            reporter.failed(computation, ["none", ""], error.to_string());
            return Ok(());
        }
    };
    let Some(first) = algorithms.first() else {
        reporter.unsupported(computation, "the library offers no algorithm");
        return Ok(());
    };
    let bounds = ConvolutionBounds::new(planned);
    let case = ConvolutionCase::new(device, &planned.problem, planned.factors())?;
    for algorithm in &algorithms {
        if algorithm.workspace > MOST_WORKSPACE {
            let reason = "an algorithm needs more than 256 MiB of workspace";
            reporter.unsupported(computation, reason);
            continue;
        }
        compare(&case, algorithm, &bounds, computation, reporter)?;
    }
    // Otherwise the loop has skipped it, and its workspace must not be allocated here either.
    if first.workspace <= MOST_WORKSPACE {
        for problem in check_again(&case, first)? {
            reporter.failed(computation, name(first), problem);
        }
    }
    Ok(())
}

fn name(algorithm: &ConvolutionAlgorithm) -> [&str; 2] {
    [&algorithm.id, &algorithm.configuration]
}

fn compare(
    case: &ConvolutionCase<'_>,
    algorithm: &ConvolutionAlgorithm,
    bounds: &ConvolutionBounds,
    computation: &NamedComputation,
    reporter: &mut Reporter,
) -> Result<(), GpuError> {
    match case.compute(algorithm)? {
        AlgorithmResult::Refused(LibraryError::Unsupported { reason }) => {
            reporter.unsupported(computation, &reason);
        }
        AlgorithmResult::Refused(error) => {
            reporter.failed(computation, name(algorithm), error.to_string());
        }
        AlgorithmResult::Computed {
            values,
            overwritten,
        } => match bounds.evaluate(algorithm, &values, overwritten) {
            ConvolutionEvaluation::Decided(evaluation) => {
                reporter.computed(computation, name(algorithm), evaluation);
            }
            ConvolutionEvaluation::Undecided => {
                let reason = format!(
                    "{}: a result without one channel would be within the bound of a transform",
                    algorithm.id
                );
                reporter.unsupported(computation, &reason);
            }
        },
    }
    Ok(())
}

/// After all algorithms: a deterministic one must return the same bits twice, and the factors must
/// be unchanged.
fn check_again(
    case: &ConvolutionCase<'_>,
    algorithm: &ConvolutionAlgorithm,
) -> Result<Vec<String>, GpuError> {
    let mut problems = case.changed_factors()?;
    // Without that promise a library may add in any order, so that bits may differ.
    if !algorithm.deterministic {
        return Ok(problems);
    }
    // A refusal was reported by the comparison of this algorithm.
    if let [
        AlgorithmResult::Computed { values: first, .. },
        AlgorithmResult::Computed { values: second, .. },
    ] = [case.compute(algorithm)?, case.compute(algorithm)?]
    {
        problems.extend(first_difference(&first, &second));
    }
    Ok(problems)
}
