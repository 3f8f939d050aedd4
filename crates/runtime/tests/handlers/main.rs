//! Handlers with real models: a fixture's checkpoint and plain text or images in, the answers of
//! transformers' pipelines out.
//!
//! `expected.json` is recorded by `record.py` in this folder. Question answering has no case: its
//! fixture has no tokenizer.

mod generated;
mod graph;
mod image;
mod image_text;
mod support;
#[expect(dead_code, reason = "metadata is read by the tests of preprocessing")]
#[path = "../preprocess/tensors.rs"]
mod tensors;
mod text;
mod time_series;
