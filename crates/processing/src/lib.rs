//! Converts requests to tensors and outputs to answers, as configured by the files of a checkpoint:
//! tokenizers, image processors, feature extractors, the collator of graphs, passages, generation
//! and noise schedules.
//!
//! Does not know any model: generation runs over a [`Session`](testgen_nn::forward::Session).

pub mod audio;
mod config_file;
pub mod error;
pub mod feature_extractor;
pub mod frame_tokens;
pub mod generation;
pub mod graph;
pub mod graph_collator;
pub mod image;
mod image_config;
pub mod image_processor;
pub mod interpolate;
mod log_mel;
mod picture;
pub mod processor;
mod resample;
pub mod retrieval;
pub mod schedule;
mod sentence_piece;
mod shortest_paths;
pub mod size;
pub mod tokenizer;
