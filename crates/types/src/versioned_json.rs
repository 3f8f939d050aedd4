//! Parses JSON that states its version.

use serde::{Deserialize, de::DeserializeOwned};

#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// Parses a text of version `known`.
///
/// # Errors
///
/// The text has another version, or is not JSON of the type.
pub fn parse_versioned<T: DeserializeOwned>(text: &str, known: u32) -> Result<T, String> {
    // Read alone: a later version may have other fields, and a missing field would be the error.
    let Version { version } = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if version != known {
        return Err(format!(
            "version {version}, but this testgen reads version {known}"
        ));
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}
