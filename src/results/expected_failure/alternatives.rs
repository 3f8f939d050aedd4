//! A key that takes one value or a list of values.

use serde::{
    Deserialize, Deserializer,
    de::{Error, IntoDeserializer, SeqAccess, Visitor},
};
use std::{fmt, marker::PhantomData};

/// The values of a key, one at least: `"a"` or `["a", "b"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternatives<T>(Vec<T>);

impl<T> Alternatives<T> {
    /// Whether `matches` accepts one of the values.
    pub fn any(&self, matches: impl FnMut(&T) -> bool) -> bool {
        self.0.iter().any(matches)
    }
}

impl<T> From<T> for Alternatives<T> {
    fn from(value: T) -> Self {
        Self(vec![value])
    }
}

impl<'de, T: Deserialize<'de> + PartialEq + fmt::Display> Deserialize<'de> for Alternatives<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Not an untagged enum, whose error names neither the value nor its place in a list.
        deserializer.deserialize_any(TextOrList(PhantomData))
    }
}

struct TextOrList<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + PartialEq + fmt::Display> Visitor<'de> for TextOrList<T> {
    type Value = Alternatives<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a text or a list of texts")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        T::deserialize(text.into_deserializer()).map(Alternatives::from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element::<T>()? {
            if values.contains(&value) {
                return Err(A::Error::custom(format!(
                    "`{value}` is in the list twice; remove one"
                )));
            }
            values.push(value);
        }
        // An empty list would match nothing, and its entry would never be noticed.
        if values.is_empty() {
            return Err(A::Error::custom(
                "the list is empty; write one value at least, or remove the key",
            ));
        }
        Ok(Alternatives(values))
    }
}
