//! A JSON object of a checkpoint with errors that name file and field. `null` counts as absent, as
//! in transformers.

use crate::error::PreprocessError;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use testgen_types::{
    bounded_file::{self, limit},
    excerpt, from_python,
};

/// The fields of one file.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    path: PathBuf,
    fields: Map<String, Value>,
}

impl ConfigFile {
    /// Reads `directory/name`; `None` if the file does not exist.
    pub(crate) fn read(directory: &Path, name: &str) -> Result<Option<Self>, PreprocessError> {
        let path = directory.join(name);
        // Vocabularies are objects as configurations are, and larger.
        let limit = if name.contains("vocab") {
            limit::TOKENIZER
        } else {
            limit::CONFIG
        };
        let Some(text) = read_text(&path, limit)? else {
            return Ok(None);
        };
        // Python's `json` also writes `NaN` and `Infinity`, which JSON does not have.
        match serde_json::from_slice(&from_python(text.as_bytes())) {
            Ok(Value::Object(fields)) => Ok(Some(Self { path, fields })),
            Ok(_) => Err(PreprocessError::Unreadable {
                path,
                message: "it is not a JSON object".to_owned(),
            }),
            Err(error) => Err(PreprocessError::Unreadable {
                path,
                message: excerpt(&error.to_string()).into_owned(),
            }),
        }
    }

    /// As [`ConfigFile::read`], without any field where there is no file.
    pub(crate) fn read_or_empty(directory: &Path, name: &str) -> Result<Self, PreprocessError> {
        Ok(Self::read(directory, name)?.unwrap_or_else(|| Self {
            path: directory.join(name),
            fields: Map::new(),
        }))
    }

    /// The object in field `name` as a separate file, or `None` if there is no such field.
    pub(crate) fn nested(&self, name: &str) -> Result<Option<Self>, PreprocessError> {
        match self.get(name) {
            None => Ok(None),
            // The path of the whole file, because errors name it.
            Some(Value::Object(fields)) => Ok(Some(Self {
                path: self.path.clone(),
                fields: fields.clone(),
            })),
            Some(other) => Err(self.not_a(name, "an object", other)),
        }
    }

    /// Every field that is not null.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.as_str(), value))
    }

    /// The value of a field that is there and not null.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    /// A string.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, PreprocessError> {
        self.typed(name, "a string", Value::as_str)
    }

    /// A truth value.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, PreprocessError> {
        self.typed(name, "true or false", Value::as_bool)
    }

    /// A finite number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, PreprocessError> {
        self.typed(name, "a number", Value::as_f64)
    }

    /// A number of things, 0 or more.
    pub(crate) fn count(&self, name: &str) -> Result<Option<usize>, PreprocessError> {
        self.typed(name, "a whole number", |value| {
            value.as_u64().and_then(|value| usize::try_from(value).ok())
        })
    }

    fn typed<'a, T>(
        &'a self,
        name: &str,
        expected: &str,
        convert: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, PreprocessError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        convert(value)
            .map(Some)
            .ok_or_else(|| self.not_a(name, expected, value))
    }

    /// The error that field `name` has the wrong type.
    pub(crate) fn not_a(&self, name: &str, expected: &str, found: &Value) -> PreprocessError {
        self.wrong(
            name,
            &format!("is `{}`, expected {expected}", shorten(found)),
            "correct it",
        )
    }

    /// The error that `field` has a problem.
    pub(crate) fn wrong(&self, field: &str, problem: &str, hint: &str) -> PreprocessError {
        PreprocessError::Field {
            path: self.path.clone(),
            field: field.to_owned(),
            problem: problem.to_owned(),
            hint: hint.to_owned(),
        }
    }
}

/// The text of a file of at most `limit` bytes; `None` if it does not exist.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<Option<String>, PreprocessError> {
    match bounded_file::read_text(path, limit) {
        Ok(text) => Ok(Some(text)),
        // Any other error is reported: a file without read permission must not count as absent.
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A value for a message, at most 60 characters of it.
fn shorten(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}
