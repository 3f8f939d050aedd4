//! The list of a library: what it computes with every algorithm that it offers.

use crate::{
    convolution_library::ConvolutionLibrary,
    convolutions::{ConvolutionPlan, OpenedConvolutions, run_convolutions},
    open::{Opened, OpenedLibrary},
    primitives::{PrimitivePlan, run_primitives},
    products::{ProductPlan, run_products},
    report::{InterruptedComputation, LibraryReport, Reporter},
};
use testgen_types::{Operator, Precision};

/// Computes the list of a library with every algorithm that it offers, and compares each result.
/// Of `operators`, `gemm` has the list of products, `conv2d` the list of convolutions, and each of
/// the others its own. `reduced` selects a part of the list, which takes seconds on a processor,
/// and `precision` the results of one precision.
pub fn compare_algorithms(
    opened: &Opened,
    operators: &[Operator],
    reduced: bool,
    precision: Option<Precision>,
) -> LibraryReport {
    match &opened.library {
        OpenedLibrary::Products(blas) if operators.contains(&Operator::Gemm) => {
            let plan = if reduced {
                ProductPlan::reduced(blas.name())
            } else {
                ProductPlan::full(blas.name())
            };
            let plan = match precision {
                Some(precision) => plan.of_precision(precision),
                None => plan,
            };
            run_products(opened, &**blas, &plan)
        }
        // A library of products has a list for `gemm` only.
        OpenedLibrary::Products(_) => Reporter::new(opened).finish(0),
        OpenedLibrary::Convolutions(library) => {
            let mut reporter = Reporter::new(opened);
            let lists = OperatorLists {
                convolutions: operators
                    .contains(&Operator::Conv2d)
                    .then(|| ConvolutionPlan::new(reduced, precision)),
                primitives: PrimitivePlan::new(operators, precision),
            };
            match lists.run(opened, &**library, &mut reporter) {
                Ok(()) => reporter.finish(opened.gpu.account().peak()),
                Err(interrupted) => reporter.aborted(&interrupted.computation, &interrupted.error),
            }
        }
    }
}

/// The lists of a library of convolutions.
struct OperatorLists {
    convolutions: Option<ConvolutionPlan>,
    primitives: PrimitivePlan,
}

impl OperatorLists {
    fn run(
        &self,
        opened: &Opened,
        library: &dyn ConvolutionLibrary,
        reporter: &mut Reporter,
    ) -> Result<(), Box<InterruptedComputation>> {
        let gpu = &*opened.gpu;
        if let Some(plan) = &self.convolutions {
            run_convolutions(OpenedConvolutions { gpu, library }, plan, reporter)?;
        }
        run_primitives(gpu, library, &self.primitives, reporter)
    }
}
