//! One visible-device variable as one library interprets it.

use serde::Serialize;
use std::fmt;

/// The library that reads a variable. The three treat an empty value and a repeated entry
/// differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VisibleReader {
    /// `libhsa-runtime64`, which HIP is built on.
    RocmRuntime,
    /// `libamdhip64`.
    Hip,
    /// `libcuda`.
    Cuda,
}

impl VisibleReader {
    /// The written form.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RocmRuntime => "ROCm runtime",
            Self::Hip => "HIP",
            Self::Cuda => "CUDA driver",
        }
    }
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VisibleEntry {
    /// The ordinal of a GPU.
    Index(u32),
    /// `GPU-...`, or `MIG-...` for CUDA; a prefix is enough.
    Uuid(String),
}

/// A variable as one library interprets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VisibleVariable {
    /// Its name.
    pub name: &'static str,
    /// The library that reads it.
    pub reader: VisibleReader,
    /// Its unchanged value.
    pub value: String,
    /// The entries that apply: those before the first that ends the list.
    pub entries: Vec<VisibleEntry>,
    /// Whether it hides every device.
    pub hides_all: bool,
    /// Its effect, as a phrase.
    pub effect: String,
    /// The error in it; a list that ends in `-1` is valid.
    pub error: Option<String>,
}

impl fmt::Display for VisibleVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}=`{}` ({}): {}",
            self.name,
            self.value,
            self.reader.as_str(),
            self.effect
        )?;
        self.error
            .iter()
            .try_for_each(|error| write!(f, "; error: {error}"))
    }
}
