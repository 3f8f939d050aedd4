//! Relations between results that hold bit for bit, whatever the order of sums and the accuracy of
//! functions.

mod algebra;
mod fused;
mod integers;
mod property;
mod rows;
mod scaling;

pub use property::Relation;

use crate::{
    calls::Element,
    cases::sizes::{cases, odd_sizes},
};
use testgen_types::{Operator, Precision};

/// Every relation of `operator` in a precision.
pub fn relations(operator: Operator, precision: Precision) -> Vec<Relation> {
    let element = Element::for_precision(precision);
    let cases = cases(operator, &odd_sizes(operator), element);
    let mut relations = Vec::new();
    for case in &cases {
        relations.extend(integers::small(case));
        relations.extend(scaling::by_a_power_of_two(case));
        relations.extend(rows::equal(case));
        relations.extend(rows::reversed(case));
        relations.extend(algebra::relation(case));
    }
    relations.extend(integers::cancelling(operator, element));
    relations.extend(algebra::identity(operator, precision));
    relations.extend(cases.first().and_then(|case| fused::unfused(case, element)));
    relations
}
