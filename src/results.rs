//! Results of suites: reports are read and merged, and shown as pages, tables and changes.

pub mod bench;
pub mod compare;
pub mod expected_failure;
pub mod kernels;
pub mod model_table;
pub mod operator_table;
pub mod read;
pub mod report;
pub mod stress_table;
