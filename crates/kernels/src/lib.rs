//! Every kernel of cubek-matmul that burn's autotuner could choose, computed and compared with f64.
//!
//! The rule of `testgen-gpu` chooses four of them. The others are compiled here, in a crate that
//! only `testgen kernels` builds: they would make every other suite slower to build. A kernel is
//! examined on one product at a time; which products, and what happens when a kernel ends the
//! process, is up to the caller.

#[cfg(not(any(feature = "cuda", feature = "rocm")))]
compile_error!("testgen-kernels needs the feature `cuda`, `rocm` or both");

mod arithmetic;
mod bound;
mod candidate;
mod examine;
mod guarded;
mod launch;
mod values;

pub use arithmetic::arithmetic;
pub use candidate::Candidate;
pub use examine::{CandidateResult, examine};
