//! The list of a library: what it computes with every algorithm that it offers.

use crate::{
    convolutions::{ConvolutionPlan, run_convolutions},
    open::{Opened, OpenedLibrary},
    products::{ProductPlan, run_products},
    report::LibraryReport,
};
use testgen_types::Precision;

/// Computes the list of a library with every algorithm that it offers, and compares each result.
/// `reduced` selects a part of the list, which takes seconds on a processor, and `precision` the
/// results of one precision.
pub fn compare_algorithms(
    opened: &Opened,
    reduced: bool,
    precision: Option<Precision>,
) -> LibraryReport {
    match &opened.library {
        OpenedLibrary::Products(blas) => {
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
        OpenedLibrary::Convolutions(library) => {
            let plan = ConvolutionPlan::new(reduced, precision);
            run_convolutions(opened, &**library, &plan)
        }
    }
}
