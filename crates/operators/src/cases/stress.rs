//! Stress: operators on sizes that no fixture has, of which the host holds one period.
//!
//! Sizes that an operator treats alike, such as the rows of a product, repeat a period; sizes that
//! it sums over, such as the inner one, are never repeated: their sums have all terms, all of them
//! different. So the reference of one period is the reference of every repetition. Periods are
//! prime, so that an address that is wrong by a power of two reads another element.

mod case;
mod comparison;
mod digest;
mod memory;
mod period;
mod result;
mod run;
mod tail;

pub use case::{StressCase, stress_cases};
pub use run::{ResultDigests, Stress, StressResult};
