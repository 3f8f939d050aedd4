//! What leaves a check: JSON lines for the report, and what a harness says meanwhile.

mod lines;
pub(crate) mod notes;

pub(crate) use lines::Report;
