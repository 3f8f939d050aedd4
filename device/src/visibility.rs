//! The visible-device variables: what each says, who reads it, and what it does.
//!
//! The libraries honour them by themselves; nothing is filtered here. On ROCm, `ROCR_VISIBLE_DEVICES` comes first, in
//! the ROCm runtime; then HIP takes `HIP_VISIBLE_DEVICES` or, where that is unset or empty, `CUDA_VISIBLE_DEVICES`, whose
//! indices count what is left. The CUDA driver reads `CUDA_VISIBLE_DEVICES` alone.

mod parse;

use crate::{DetectionPath, System};
use serde::Serialize;
use std::fmt;

/// The library that reads a variable. The three differ in what they make of an empty value and of a repeated entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VisibleReader {
    /// `libhsa-runtime64`, below HIP.
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

/// A variable as one library reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VisibleVariable {
    /// Its name.
    pub name: &'static str,
    /// Who reads it.
    pub reader: VisibleReader,
    /// Its value, as it is.
    pub value: String,
    /// The entries that count: those before the first that ends the list.
    pub entries: Vec<VisibleEntry>,
    /// Whether no device can be left.
    pub hides_all: bool,
    /// What it does, in words.
    pub effect: String,
    /// What is wrong with it; a list that ends in `-1` is not wrong.
    pub error: Option<String>,
}

impl fmt::Display for VisibleVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=`{}` ({}): {}", self.name, self.value, self.reader.as_str(), self.effect)?;
        self.error.iter().try_for_each(|error| write!(f, "; error: {error}"))
    }
}

/// The variables that are set, in the order in which they apply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Visibility {
    /// One entry for each variable and library that reads it.
    pub variables: Vec<VisibleVariable>,
}

impl Visibility {
    /// Those that apply on a path, in order.
    pub fn on(&self, path: DetectionPath) -> impl Iterator<Item = &VisibleVariable> {
        self.variables.iter().filter(move |variable| match path {
            DetectionPath::HostProcessor => false,
            DetectionPath::HipRuntime => variable.reader != VisibleReader::Cuda,
            DetectionPath::CudaDriver | DetectionPath::CudaCompatibility => variable.reader == VisibleReader::Cuda,
        })
    }

    /// Every error, with the variable's name and value.
    pub fn errors(&self) -> impl Iterator<Item = &VisibleVariable> {
        self.variables.iter().filter(|variable| variable.error.is_some())
    }

    /// What the variables of a path can have to do with there being no device; empty when none is set.
    pub(crate) fn blame(&self, path: DetectionPath) -> String {
        let narrowing = self.on(path).filter(|variable| variable.hides_all || !variable.entries.is_empty());
        let blames: Vec<String> =
            narrowing.map(|variable| format!("; {variable}; unset {} to see every device", variable.name)).collect();
        blames.concat()
    }
}

impl fmt::Display for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.variables.is_empty() {
            return f.write_str("no visible-device variable is set");
        }
        let lines: Vec<String> = self.variables.iter().map(VisibleVariable::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Reads the three variables.
pub fn visible_devices(system: &System) -> Visibility {
    let read = |name, reader| system.variable(name).map(|value| parse::variable(name, reader, value));
    let hip = read("HIP_VISIBLE_DEVICES", VisibleReader::Hip);
    let hip_is_empty = hip.as_ref().is_none_or(|variable| variable.value.is_empty());
    let alias = hip_is_empty.then(|| read("CUDA_VISIBLE_DEVICES", VisibleReader::Hip)).flatten();
    let rocm = read("ROCR_VISIBLE_DEVICES", VisibleReader::RocmRuntime);
    let cuda = read("CUDA_VISIBLE_DEVICES", VisibleReader::Cuda);
    Visibility { variables: [rocm, hip, alias, cuda].into_iter().flatten().collect() }
}
