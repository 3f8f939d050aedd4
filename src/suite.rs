//! A suite, from a checkpoint to verified files: specs, settings, templates, writing and verifying.

pub mod add;
pub mod generate;
pub mod settings;
pub mod spec;
pub mod template;
pub mod verification;
