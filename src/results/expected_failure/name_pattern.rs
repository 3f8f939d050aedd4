//! Patterns of names: `llama*`.

use glob::Pattern;
use serde::{Deserialize, Deserializer, de::Error as _};
use std::fmt;

/// A pattern that names of models or engines match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern(Pattern);

impl NamePattern {
    /// The pattern that `name` alone matches.
    pub fn exactly(name: &str) -> Self {
        Self(Pattern::new(&Pattern::escape(name)).expect("an escaped text is a pattern"))
    }

    /// Whether `name` matches.
    pub fn matches(&self, name: &str) -> bool {
        self.0.matches(name)
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for NamePattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Pattern::new(&text)
            .map(Self)
            .map_err(|error| D::Error::custom(format!("`{text}` is not a pattern: {error}")))
    }
}
