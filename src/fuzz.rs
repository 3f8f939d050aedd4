//! The fuzz targets of what the command line reads: specs, settings, templates, reports and
//! configurations.
//!
//! Owns: the functions that are fuzzed and their properties. Does not own: the loop and the
//! mutations (`testgen-fuzz`), and the targets for the files of a running suite, which are beside
//! their readers (`run/execution/followed/tests.rs`, `run/log_end.rs`).

mod inverse;
mod property;
mod target;
