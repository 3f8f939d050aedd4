//! The `testgen` binary: everything is in the library.

use mimalloc::MiMalloc;
use std::process::ExitCode;

/// A third of the time of `generate` and `verify` goes into small allocations of the parser; this one takes half of that.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    testgen::cli::main()
}
