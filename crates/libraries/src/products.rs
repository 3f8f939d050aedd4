//! Products of a library compared with f64: shapes, transposes, factors, types, and every algorithm
//! that the library offers.

mod case;
mod evaluation;
mod factors;
mod plan;
mod report;
mod shape;

pub use plan::{ProductPlan, shapes};
pub use report::{AlgorithmRow, ProductFailure, ProductsReport, UnsupportedGroup};
pub use shape::ProductShape;

use crate::{
    blas::BlasError,
    gpu::GpuError,
    open::Opened,
    product::{Gemm, GemmCall},
};
use case::GemmCase;
use evaluation::{CaseResult, evaluate};
use factors::Factors;
use report::Reporter;

/// Computes every product of `plan` and compares it.
///
/// Ends early when the device fails, because after an invalid access every further call fails, too;
/// the report says so.
pub fn run_products(opened: &Opened, plan: &ProductPlan) -> ProductsReport {
    let mut reporter = Reporter::new(opened);
    for arithmetic in &plan.arithmetics {
        for (index, shape) in plan
            .shapes
            .iter()
            .enumerate()
            .filter(|(_, shape)| shape.fits(*arithmetic))
        {
            let factors = Factors::new(*shape, *arithmetic, index);
            for product in case::products(*shape, *arithmetic, index) {
                if let Err(error) = product_rows(opened, plan, &product, &factors, &mut reporter) {
                    return reporter.aborted(&product, &error);
                }
            }
        }
    }
    reporter.finish(opened.gpu.account().peak())
}

/// Computes a product with each algorithm. An error is one of the device, on which no other product
/// can be computed.
fn product_rows(
    opened: &Opened,
    plan: &ProductPlan,
    product: &Gemm,
    factors: &Factors,
    reporter: &mut Reporter,
) -> Result<(), GpuError> {
    let algorithms = match opened.blas.algorithms(&GemmCall::from(product)) {
        Ok(algorithms) => algorithms,
        Err(BlasError::Gpu(error)) => return Err(error),
        Err(error) => {
            reporter.failed(product, "none", String::new(), error.to_string());
            return Ok(());
        }
    };
    if algorithms.is_empty() {
        reporter.unsupported(product, "the library offers no algorithm");
        return Ok(());
    }
    let case = match GemmCase::new(opened, product, factors) {
        Err(error) if error.is_out_of_memory() => {
            reporter.unsupported(product, "not enough memory is free");
            return Ok(());
        }
        case => case?,
    };
    let reference = factors.reference(product);
    for algorithm in algorithms.iter().take(plan.algorithms) {
        match case.compute(algorithm)? {
            CaseResult::Refused(BlasError::Unsupported { reason }) => {
                reporter.unsupported(product, &reason)
            }
            CaseResult::Refused(error) => {
                reporter.failed(
                    product,
                    &algorithm.id,
                    algorithm.configuration.clone(),
                    error.to_string(),
                );
            }
            CaseResult::Computed {
                values,
                overwritten,
            } => {
                reporter.computed(
                    product,
                    algorithm,
                    evaluate(product, &reference, &values, overwritten),
                );
            }
        }
    }
    case.check_again(&algorithms[0])?
        .into_iter()
        .for_each(|problem| {
            reporter.failed(
                product,
                &algorithms[0].id,
                algorithms[0].configuration.clone(),
                problem,
            );
        });
    Ok(())
}
