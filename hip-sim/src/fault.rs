//! What goes wrong on demand, so that the harness can show what it makes of it.
//!
//! A list is separated by commas. An entry is a name, for some with a value, and stands for every device unless an
//! ordinal is before it: `1/launch=reduce`. A TEXT matches kernels whose name contains it; an empty one matches all.

use crate::Architecture;
use std::str::FromStr;

/// One thing that goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// `no-device`: the runtime lists none.
    NoDevice,
    /// `architecture=NAME`: the device says that it is another architecture.
    Architecture(String),
    /// `wave=SIZE`: the device says that its waves have another size.
    Wave(u32),
    /// `allocate=N`: the allocation N of the device, counted from 1, and all after it fail for lack of memory.
    Allocate(u64),
    /// `leak`: memory is never given back.
    Leak,
    /// `compile=TEXT`: a kernel does not compile.
    Compile(String),
    /// `load=TEXT`: a compiled kernel does not load.
    Load(String),
    /// `launch=TEXT`: a kernel does not start.
    Launch(String),
    /// `idle=TEXT`: a kernel starts and does nothing.
    Idle(String),
    /// `wrong=TEXT`: one element that a kernel wrote is wrong.
    Wrong(String),
    /// `nan=TEXT`: one element that a kernel wrote is not a number.
    Nan(String),
    /// `slow=TEXT`: a kernel takes half a minute.
    Slow(String),
    /// `half=flush`: subnormal numbers of f16 and bf16 become zero.
    HalfFlush,
    /// `half=truncate`: conversions to f16 and bf16 round towards zero.
    HalfTruncate,
    /// `event=N`: recording the event N and all after it fails, on which burn's device thread panics.
    Event(u64),
    /// `copy=N`: the copy N from the device and all after it fail.
    Copy(u64),
    /// `dirty`: memory that was allocated holds all ones, which is NaN, and not zeros.
    Dirty,
    /// `memory-info`: the runtime does not tell how much memory is free.
    MemoryInfo,
}

/// An entry that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no fault; {hint}", hint = HINT)]
pub struct FaultError(String);

const HINT: &str = "write no-device, architecture=NAME, wave=SIZE, allocate=N, leak, dirty, compile=TEXT, load=TEXT, \
    launch=TEXT, idle=TEXT, wrong=TEXT, nan=TEXT, slow=TEXT, half=flush, half=truncate, event=N, copy=N or memory-info";

/// Everything that goes wrong, each with the ordinal of the device that it concerns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults(Vec<(Option<u32>, Fault)>);

impl Faults {
    /// The first answer that `matching` gives for a fault of the device `ordinal`.
    pub fn find<'faults, Answer>(
        &'faults self,
        ordinal: u32,
        matching: impl Fn(&'faults Fault) -> Option<Answer>,
    ) -> Option<Answer> {
        let concerned = self.0.iter().filter(|(device, _)| device.is_none_or(|device| device == ordinal));
        concerned.map(|(_, fault)| fault).find_map(matching)
    }

    /// Whether the device `ordinal` has a fault that `matching` knows.
    pub fn has(&self, ordinal: u32, matching: impl Fn(&Fault) -> bool) -> bool {
        self.find(ordinal, |fault| matching(fault).then_some(())).is_some()
    }

    /// Whether any device has a fault that `matching` knows: compiling does not know for which device it is.
    pub fn any(&self, matching: impl Fn(&Fault) -> bool) -> bool {
        self.0.iter().any(|(_, fault)| matching(fault))
    }
}

impl FromStr for Faults {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        entries
            .map(|entry| fault(entry).ok_or_else(|| FaultError(entry.to_owned())))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

fn fault(entry: &str) -> Option<(Option<u32>, Fault)> {
    let (device, word) = match entry.split_once('/') {
        Some((device, word)) => (Some(device.parse().ok()?), word),
        None => (None, entry),
    };
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let fault = match (name, value) {
        ("no-device", None) => Fault::NoDevice,
        ("leak", None) => Fault::Leak,
        ("dirty", None) => Fault::Dirty,
        ("memory-info", None) => Fault::MemoryInfo,
        (name, Some(value)) => with_value(name, value)?,
        (_, None) => return None,
    };
    Some((device, fault))
}

fn with_value(name: &str, value: &str) -> Option<Fault> {
    let text = value.to_owned();
    let count = || value.parse().ok().filter(|count| *count > 0);
    Some(match name {
        "architecture" if !value.is_empty() => Fault::Architecture(text),
        "wave" => Fault::Wave(value.parse().ok()?),
        "allocate" => Fault::Allocate(count()?),
        "compile" => Fault::Compile(text),
        "load" => Fault::Load(text),
        "launch" => Fault::Launch(text),
        "idle" => Fault::Idle(text),
        "wrong" => Fault::Wrong(text),
        "nan" => Fault::Nan(text),
        "slow" => Fault::Slow(text),
        "half" if value == "flush" => Fault::HalfFlush,
        "half" if value == "truncate" => Fault::HalfTruncate,
        "event" => Fault::Event(count()?),
        "copy" => Fault::Copy(count()?),
        _ => return None,
    })
}

/// What a device says about itself under `faults`.
pub(crate) fn claimed(faults: &Faults, ordinal: u32, architecture: Architecture) -> (String, u32) {
    let name = faults.find(ordinal, |fault| match fault {
        Fault::Architecture(name) => Some(name.clone()),
        _ => None,
    });
    let wave = faults.find(ordinal, |fault| match fault {
        Fault::Wave(size) => Some(*size),
        _ => None,
    });
    (name.unwrap_or_else(|| architecture.to_string()), wave.unwrap_or_else(|| architecture.wave_size()))
}

#[cfg(test)]
mod tests {
    use super::{Fault, Faults};

    fn parse(text: &str) -> Faults {
        text.parse().expect(text)
    }

    #[test]
    fn a_list_is_read_and_concerns_the_devices_it_names() {
        let faults = parse("leak, 1/launch=reduce ,allocate=3");
        assert!(faults.has(0, |fault| *fault == Fault::Leak));
        assert!(!faults.has(0, |fault| matches!(fault, Fault::Launch(_))));
        assert!(faults.has(1, |fault| matches!(fault, Fault::Launch(text) if text == "reduce")));
        assert!(faults.any(|fault| *fault == Fault::Allocate(3)));
    }

    #[test]
    fn nonsense_is_an_error_that_says_what_can_be_written() {
        for text in ["leaks", "leak=1", "launch", "allocate=0", "half=slow", "x/leak", "wave=", "architecture="] {
            let error = text.parse::<Faults>().expect_err(text).to_string();
            assert!(error.contains(text) && error.contains("no-device"), "{error}");
        }
    }

    #[test]
    fn nothing_is_wrong_without_a_list() {
        assert_eq!(parse(""), Faults::default());
    }
}
