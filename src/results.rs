//! Results of suites: reports are read and merged, and shown as tables.

pub mod expected_failure;
mod headrooms;
pub mod kernels;
pub mod model_table;
pub mod operator_table;
pub mod read;
pub mod stress_table;
mod table_parts;
pub mod tuning;
