//! Checkpoints whose weights are computed: from a seed, the same bytes on every machine, in place
//! of a download; or from quantized ones, as the library of their method computes them.
//!
//! Owns: the recipe of a synthetic checkpoint (`synthetic.json`), the values of its tensors and
//! other random numbers that are the same on every machine; the layouts of quantized tensors, which
//! are read and, for synthetic weights, written; the
//! directories in the cache with such weights. Does not own: which tensors a model has, which the
//! recorder lists with transformers, and how a method of quantization is recognised.

mod cache;
mod computed_weights;
mod error;
mod float_type;
mod parallel;
mod philox;
mod quantized;
mod quantized_file;
mod random_words;
mod recipe;
mod tensor_values;
mod weights_file;

pub use cache::{checkpoint, complete, dequantized, is_dequantized, quantized, temporary};
pub use error::SyntheticError;
pub use random_words::RandomWords;
pub use recipe::{FILE, Recipe};
pub use tensor_values::nearly_normal;

#[cfg(test)]
mod tests;
