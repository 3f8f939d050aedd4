//! Suites in other processes: built and run, and a failed call computed again.

pub mod replay;
pub mod run;
