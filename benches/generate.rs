//! How long generating takes: one file, the whole corpus, one call.

fn main() {}
