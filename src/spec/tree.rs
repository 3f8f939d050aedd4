//! The tree of a YAML document, every node with its position, so that errors can point at it.

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_yaml::Spanned;
use std::{fmt, ops::Range};

/// A value and its position.
pub(super) type Node = Spanned<YamlValue>;

/// The value of a YAML node.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum YamlValue {
    Null,
    Boolean(bool),
    Integer(u64),
    // No key of a spec takes a negative integer; only a configuration has some.
    Negative(i64),
    Number(f64),
    Text(String),
    Sequence(Vec<Node>),
    // In the order of the file, with the position of each key for errors.
    Mapping(Vec<(Spanned<String>, Node)>),
}

impl YamlValue {
    /// The kind, as an error names it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Boolean(_) => "a boolean",
            Self::Integer(_) | Self::Negative(_) | Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::Sequence(_) => "a list",
            Self::Mapping(_) => "a mapping",
        }
    }
}

/// The bytes of `source` at which a node is used; for an alias the position of its `*name`. Never
/// longer than the first line.
pub(super) fn span<T>(node: &Spanned<T>, source: &str) -> Range<usize> {
    let location = node.referenced.span();
    let start = usize::try_from(location.byte_offset().unwrap_or(0))
        .unwrap_or(0)
        .min(source.len());
    let length = usize::try_from(location.byte_len().unwrap_or(0)).unwrap_or(0);
    let rest = source.get(start..).unwrap_or("");
    let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
    // The span of a block reaches to its last line, and the renderer would mark them all.
    start..start + length.min(line)
}

impl<'de> Deserialize<'de> for YamlValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = YamlValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E: Error>(self) -> Result<YamlValue, E> {
        Ok(YamlValue::Null)
    }

    fn visit_none<E: Error>(self) -> Result<YamlValue, E> {
        Ok(YamlValue::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<YamlValue, D::Error> {
        YamlValue::deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<YamlValue, E> {
        Ok(YamlValue::Boolean(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<YamlValue, E> {
        Ok(YamlValue::Integer(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<YamlValue, E> {
        Ok(u64::try_from(value).map_or(YamlValue::Negative(value), YamlValue::Integer))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<YamlValue, E> {
        Ok(YamlValue::Number(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<YamlValue, E> {
        Ok(YamlValue::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<YamlValue, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(YamlValue::Sequence(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<YamlValue, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(YamlValue::Mapping(entries))
    }
}
