//! Products of a library compared with f64: shapes, transposes, factors, types, and every algorithm
//! that the library offers.

mod case;
mod factors;
mod opened;
mod plan;
mod shape;
mod variants;

pub(crate) use factors::{bounds, element};
pub(crate) use plan::ProductPlan;

use crate::{
    blas::Blas,
    epilogue::Epilogue,
    evaluation::{AlgorithmResult, evaluate},
    gpu::GpuError,
    library_error::LibraryError,
    open::Opened,
    product::{Gemm, GemmCall},
    report::{LibraryReport, NamedComputation, Reporter},
};
use case::GemmCase;
use factors::Factors;
use opened::OpenedProducts;

/// Computes every product of `plan` and compares it.
pub(crate) fn run_products(opened: &Opened, blas: &dyn Blas, plan: &ProductPlan) -> LibraryReport {
    let mut reporter = Reporter::new(opened);
    let gpu = &*opened.gpu;
    // The plan ends early when the device fails, because after an invalid access every further call
    // fails, too; the report says so.
    for arithmetic in &plan.arithmetics {
        for (index, shape) in plan
            .shapes
            .iter()
            .enumerate()
            .filter(|(_, shape)| shape.fits(*arithmetic))
        {
            let factors = Factors::new(*shape, *arithmetic, index);
            for product in variants::products(plan, *shape, *arithmetic, index) {
                let products = OpenedProducts { gpu, blas };
                if let Err(error) = product_rows(products, &product, &factors, &mut reporter) {
                    return reporter.aborted(&computation(&product), &error);
                }
            }
        }
    }
    reporter.finish(gpu.account().peak())
}

fn computation(product: &Gemm) -> NamedComputation {
    NamedComputation {
        arithmetic: product.arithmetic.to_string(),
        variant: variant(product),
        description: product.to_string(),
    }
}

/// The name of the rows of a product.
fn variant(product: &Gemm) -> String {
    match (product.inner, product.alpha) {
        (0, _) => "K 0".to_owned(),
        (_, 0.0) if product.epilogue == Epilogue::NONE => "alpha 0".to_owned(),
        _ if product.epilogue == Epilogue::NONE => product.transposes(),
        _ => product.epilogue.to_string(),
    }
}

/// Why a library does not compute a product, if `error` is not a failure.
fn unsupported(product: &Gemm, error: &LibraryError) -> Option<String> {
    match error {
        LibraryError::Unsupported { reason } => Some(reason.clone()),
        // BLAS allows it; the documentation of the libraries does not say that they do.
        error if product.inner == 0 && error.is_invalid_argument() => Some(error.to_string()),
        _ => None,
    }
}

/// Computes a product with each algorithm. An error is one of the device, on which no other product
/// can be computed.
fn product_rows(
    opened: OpenedProducts<'_>,
    product: &Gemm,
    factors: &Factors,
    reporter: &mut Reporter,
) -> Result<(), GpuError> {
    let computation = computation(product);
    let algorithms = match opened.blas.algorithms(&GemmCall::from(product)) {
        Ok(algorithms) => algorithms,
        Err(LibraryError::Gpu(error)) => return Err(error),
        Err(error) => {
            match unsupported(product, &error) {
                Some(reason) => reporter.unsupported(&computation, &reason),
                None => reporter.failed(&computation, ["none", ""], error.to_string()),
            }
            return Ok(());
        }
    };
    let Some(first) = algorithms.first() else {
        reporter.unsupported(&computation, "the library offers no algorithm");
        return Ok(());
    };
    let case = match GemmCase::new(opened, product, factors) {
        // On a GPU with more memory the same product may be right: the library is not wrong.
        Err(error) if error.is_out_of_memory() => {
            reporter.unsupported(&computation, "not enough memory is free");
            return Ok(());
        }
        case => case?,
    };
    let reference = factors.reference(product);
    for algorithm in &algorithms {
        let name = [algorithm.id.as_str(), &algorithm.configuration];
        match case.compute(algorithm)? {
            AlgorithmResult::Refused(error) => match unsupported(product, &error) {
                Some(reason) => reporter.unsupported(&computation, &reason),
                None => reporter.failed(&computation, name, error.to_string()),
            },
            AlgorithmResult::Computed {
                values,
                overwritten,
            } => {
                let evaluation = evaluate(&reference, &values, overwritten);
                reporter.computed(&computation, name, evaluation);
            }
        }
    }
    for problem in case.check_again(first)? {
        reporter.failed(&computation, [&first.id, &first.configuration], problem);
    }
    Ok(())
}
