//! The simulator without burn: hand-written kernels compared with plain Rust, faults, and the
//! layout of its structures.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arithmetic;
mod barriers;
mod faults;
mod layout;
mod matrix;
mod store;
mod test_device;
mod waves;
