//! Tests of the verifier: fixtures of every rule, mutants, harmless variants, output,
//! documentation.

mod agreement;
mod autofix;
mod document;
mod edited;
mod fixture;
mod good_harness;
mod harmless;
mod hostile;

mod mutation;
mod mutator;
mod output;
mod predecessor;
mod proof;
mod reading;
