//! The simulator alone, without burn: hand-written kernels against plain Rust, faults, and the layout of its structures.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arithmetic;
mod barriers;
mod faults;
mod laboratory;
mod layout;
mod matrix;
mod store;
mod waves;
