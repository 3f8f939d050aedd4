//! Ordered YAML values, which the formats build and the YAML library writes.

use serde::{Serialize, Serializer, ser::SerializeMap};

/// A value.
// Mappings keep their order, so that files read from top to bottom.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Yaml {
    Flag(bool),
    Number(u32),
    Text(String),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

/// A mapping of entries in this order.
pub(super) fn map<const N: usize>(entries: [(&str, Yaml); N]) -> Yaml {
    Yaml::Map(
        entries
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

/// A list of anything that is a value.
pub(super) fn list<V: Into<Yaml>>(values: impl IntoIterator<Item = V>) -> Yaml {
    Yaml::List(values.into_iter().map(Into::into).collect())
}

impl Yaml {
    /// Adds an entry to a mapping.
    #[must_use]
    pub(super) fn with(mut self, key: &str, value: impl Into<Yaml>) -> Self {
        if let Self::Map(entries) = &mut self {
            entries.push((key.to_owned(), value.into()));
        }
        self
    }

    /// Adds an entry to a mapping where there is a value.
    #[must_use]
    pub(super) fn with_some(self, key: &str, value: Option<impl Into<Yaml>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// The document, ended by a line break; text of several lines is written as a block.
    pub(super) fn render(&self) -> String {
        // Scripts become blocks and are never folded, because a line break has a meaning in a
        // shell.
        let options =
            serde_yaml::ser_options! { prefer_block_scalars: true, folded_wrap_chars: 100_000 };
        serde_yaml::to_string_with_options(self, options)
            .expect("words, numbers, lists and mappings can be written")
    }
}

impl Serialize for Yaml {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Number(number) => serializer.serialize_u32(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => serializer.collect_seq(values),
            Self::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl From<&str> for Yaml {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Yaml {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&String> for Yaml {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<bool> for Yaml {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u32> for Yaml {
    fn from(number: u32) -> Self {
        Self::Number(number)
    }
}
