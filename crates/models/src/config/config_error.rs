//! Why a configuration cannot be used.

use std::path::PathBuf;
use testgen_types::excerpt;

/// Each variant names the field or the file.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is not there or not readable.
    #[error(
        "cannot read `{path}`: {message}; a checkpoint directory has a config.json as `save_pretrained` writes it"
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        message: String,
    },
    /// The file is not JSON.
    #[error("`{path}` is not JSON: {message}")]
    NotJson {
        /// The file.
        path: PathBuf,
        /// The parser's message.
        message: String,
    },
    /// A field has a value that this model type cannot have.
    #[error("config.json of a `{}`: {message}", excerpt(model_type))]
    Invalid {
        /// The type in `config.json`.
        model_type: String,
        /// The field and what is wrong with it.
        message: String,
    },
    /// A field that may change the numbers and that the model code does not know.
    #[error(
        "config.json of a `{model_type}` has `{}` = {value}, which is not supported and may change the numbers; \
         null and false are taken as off",
        excerpt(field)
    )]
    UnsupportedField {
        /// The type in `config.json`.
        model_type: String,
        /// The field.
        field: String,
        /// Its value, shortened.
        value: String,
    },
}
