//! Work of Hugging Face transformers in Python: goldens are recorded, and graphs exported.

pub mod export;
pub mod python_program;
pub mod record;
