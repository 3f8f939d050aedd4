//! Fuzzing of functions that read untrusted input: mutated inputs, a limit of time, counted
//! executions.
//!
//! Owns: the loop ([`Target`]), the mutations, what holds for every message, and the repair of
//! safetensors files after a mutation. Does not own: the functions that are fuzzed and their
//! properties, which are in the unit tests of their crates (`src/fuzz.rs`). Ordinary tests run a
//! fixed number of executions with fixed seeds. `just fuzz` sets `TESTGEN_FUZZ_SECONDS`: each
//! target then runs for so long, with seeds that continue, and writes inputs with a new behaviour
//! and inputs that fail below `target/fuzz/`.

mod directories;
mod header_mutation;
mod message;
mod mutation;
mod safetensors_repair;
mod scratch;
mod seeds;
mod target;
mod watch;

pub use message::assert_message;
pub use mutation::Random;
pub use safetensors_repair::{json_length, repair_safetensors};
pub use scratch::scratch_directory;
pub use seeds::seeds;
pub use target::Target;
