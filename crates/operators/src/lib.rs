//! Single operators: their calls, and with the feature `cases` the results that are right.
//!
//! Without features a suite or the command line can name a call, keep it in a file and send it to
//! an engine. Depends on no backend, so that the reference shares no code with what it is compared
//! with.

pub mod calls;
#[cfg(feature = "cases")]
pub mod cases;
