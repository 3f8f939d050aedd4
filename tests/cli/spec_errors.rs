//! Errors of specs: where, what, and the nearest valid word.
