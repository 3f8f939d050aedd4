//! The `testgen` binary: everything is in the library.

use mimalloc::MiMalloc;
use std::process::ExitCode;

#[global_allocator]
// A third of the time of `generate` and `verify` is spent in small allocations of the parser;
// mimalloc halves it.
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    testgen::cli::main()
}
