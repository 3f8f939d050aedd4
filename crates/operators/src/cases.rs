//! Cases of single operators, their reference in f64 with a bound for every element, exact
//! relations, and the evaluation of results; and the smallest call that still fails.
//!
//! Owns what is right and how far a device may be from it. Does not own how a device computes:
//! calls are computed through [`crate::calls::Execute`].

mod arithmetic;
mod case;
mod dimensions;
mod evaluate;
#[cfg(test)]
mod fuzz;
mod group;
mod integers;
mod number;
mod reduce;
mod reference;
mod relation;
mod shapes;
mod sizes;
mod special;
mod stress;
mod values;

pub use arithmetic::Arithmetic;
pub use case::Case;
pub use dimensions::result_elements;
pub use evaluate::{ErrorEvaluation, evaluate};
pub use group::{activated, norm_statistics, reference};
pub use integers::integer_cases;
pub use number::BoundedNumber;
pub use reduce::{ReducedCall, reduce};
pub use reference::Reference;
pub use relation::{Relation, relations};
pub use shapes::shape_cases;
pub use sizes::{cases, odd_sizes};
pub use special::special_cases;
pub use stress::{ResultDigests, Stress, StressCase, StressResult, stress_cases};
