//! Operators on the host processor: without a fault all checks pass, with each of hundreds of
//! faults one fails, and variants that round in another order pass.

mod checks;
mod emulated;
mod faults;
mod harmless;
mod host;
mod shapes;
mod stress;
