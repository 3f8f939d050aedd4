//! The `testgen` binary: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    testgen::cli::main()
}
