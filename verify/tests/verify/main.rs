//! Tests of the verifier: fixtures of every rule, mutants, harmless variants, output, documentation.

mod base;
mod document;
mod fixture;
mod harmless;
mod hostile;
mod mutation;
mod mutator;
mod output;
mod predecessor;
mod reading;
