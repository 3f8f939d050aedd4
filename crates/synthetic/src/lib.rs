//! Checkpoints whose weights are computed from a seed: the same bytes on every machine, in place of
//! a download.
//!
//! Owns: the recipe of such a checkpoint (`synthetic.json`), the values of its tensors, and the
//! directories in the cache that are made from recipes. Does not own: which tensors a model has,
//! which the recorder lists with transformers.

mod cache;
mod error;
mod philox;
mod recipe;
mod tensor_values;
mod weights_file;

pub use cache::{checkpoint, complete, temporary};
pub use error::SyntheticError;
pub use recipe::{FILE, Recipe};

#[cfg(test)]
mod tests;
