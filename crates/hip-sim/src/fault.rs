//! Faults that the simulator injects, to test how harnesses report them.
//!
//! A list is separated by commas. An entry is a name, for some with a value, and applies to every
//! device unless an ordinal precedes it: `1/launch=reduce`. A TEXT matches kernels whose name
//! contains it; an empty one matches all.

use crate::architecture::SimulatedArchitecture;
use crate::blas_fault::BlasFault;
use crate::convolution_fault::ConvolutionFault;
use crate::primitive_fault::PrimitiveFault;
use std::str::FromStr;

/// One injected fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// `no-device`: the runtime lists no device.
    NoDevice,
    /// `architecture=NAME`: the device reports another architecture.
    Architecture(String),
    /// `wave=SIZE`: the device reports another wave size.
    Wave(u32),
    /// `allocate=N`: allocation number N of the device, counted from 1, and all later ones fail
    /// with out of memory.
    Allocate(u64),
    /// `leak`: memory is never released.
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
    /// `event=N`: recording event number N and all later ones fails, on which burn's device thread
    /// panics.
    Event(u64),
    /// `copy=N`: copy number N from the device and all later ones fail.
    Copy(u64),
    /// `peer=N`: of a copy from another device, the bytes from number N on are not written.
    Peer(usize),
    /// `dirty`: allocated memory is filled with one bits, which is NaN, instead of zeros.
    Dirty,
    /// `memory-info`: the query for free memory fails.
    MemoryInfo,
    /// `blas=FAULT`: products of rocBLAS and hipBLASLt are wrong.
    Blas(BlasFault),
    /// `convolution=FAULT`: convolutions of MIOpen are wrong.
    Convolution(ConvolutionFault),
    /// `primitive=FAULT`: softmax, activations, pools and reductions of MIOpen are wrong.
    Primitive(PrimitiveFault),
}

/// An entry that is not a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown fault `{0}`; {hint}", hint = HINT)]
pub struct FaultError(String);

const HINT: &str = "write no-device, architecture=NAME, wave=SIZE, allocate=N, leak, dirty, compile=TEXT, load=TEXT, \
    launch=TEXT, idle=TEXT, wrong=TEXT, nan=TEXT, slow=TEXT, half=flush, half=truncate, event=N, copy=N, peer=N, memory-info, \
    blas=alpha|zero|empty|clear|beta|flush|transpose|gemv|limit|batch|beyond|silent|refuse|round|solution, \
    convolution=flush|padding|dilation|group|flip|limit|beyond|workspace|silent|refuse|round|nan|solution or \
    primitive=shift|sign|padding|block|magnitude|root|start|limit|beyond|silent|refuse";

/// The injected faults, each with the ordinal of its device; `None` is every device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults(Vec<(Option<u32>, Fault)>);

impl Fault {
    /// Whether the module has no kernel `name`, by this fault.
    pub fn is_load_of(&self, name: &str) -> bool {
        matches!(self, Self::Load(text) if name.contains(text.as_str()))
    }
}

impl Faults {
    /// The first value that `matching` returns for a fault of the device `ordinal`.
    pub fn find<'faults, Answer>(
        &'faults self,
        ordinal: u32,
        matching: impl Fn(&'faults Fault) -> Option<Answer>,
    ) -> Option<Answer> {
        let of_device = self
            .0
            .iter()
            .filter(|(device, _)| device.is_none_or(|device| device == ordinal));
        of_device.map(|(_, fault)| fault).find_map(matching)
    }

    /// Whether the device `ordinal` has a matching fault.
    pub fn has(&self, ordinal: u32, matching: impl Fn(&Fault) -> bool) -> bool {
        self.find(ordinal, |fault| matching(fault).then_some(()))
            .is_some()
    }

    /// Whether any device has a matching fault. For compilation, which does not know its device.
    pub fn any(&self, matching: impl Fn(&Fault) -> bool) -> bool {
        self.0.iter().any(|(_, fault)| matching(fault))
    }
}

impl FromStr for Faults {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let entries = text
            .split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty());
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
    let (name, value) = word
        .split_once('=')
        .map_or((word, None), |(name, value)| (name, Some(value)));
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
    // Calls are counted from 1, so that 0 can only be a mistake.
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
        "peer" => Fault::Peer(value.parse().ok()?),
        "blas" => Fault::Blas(value.parse().ok()?),
        "convolution" => Fault::Convolution(value.parse().ok()?),
        "primitive" => Fault::Primitive(value.parse().ok()?),
        _ => return None,
    })
}

/// The architecture and wave size that a device reports under `faults`.
pub(crate) fn reported(
    faults: &Faults,
    ordinal: u32,
    architecture: SimulatedArchitecture,
) -> (String, u32) {
    let name = faults.find(ordinal, |fault| match fault {
        Fault::Architecture(name) => Some(name.clone()),
        _ => None,
    });
    let wave = faults.find(ordinal, |fault| match fault {
        Fault::Wave(size) => Some(*size),
        _ => None,
    });
    (
        name.unwrap_or_else(|| architecture.to_string()),
        wave.unwrap_or_else(|| architecture.wave_size()),
    )
}

#[cfg(test)]
mod tests {
    use super::{Fault, Faults};

    fn parse(text: &str) -> Faults {
        text.parse().expect(text)
    }

    #[test]
    fn a_list_is_parsed_and_applies_to_its_devices() {
        let faults = parse("leak, 1/launch=reduce ,allocate=3");
        assert!(faults.has(0, |fault| *fault == Fault::Leak));
        assert!(!faults.has(0, |fault| matches!(fault, Fault::Launch(_))));
        assert!(faults.has(
            1,
            |fault| matches!(fault, Fault::Launch(text) if text == "reduce")
        ));
        assert!(faults.any(|fault| *fault == Fault::Allocate(3)));
    }

    #[test]
    fn an_invalid_entry_is_an_error_that_lists_the_valid_ones() {
        for text in [
            "leaks",
            "leak=1",
            "launch",
            "allocate=0",
            "half=slow",
            "x/leak",
            "wave=",
            "architecture=",
        ] {
            let error = text.parse::<Faults>().expect_err(text).to_string();
            assert!(
                error.contains(text) && error.contains("no-device") && error.contains("peer=N"),
                "{error}"
            );
        }
    }

    #[test]
    fn an_empty_list_has_no_faults() {
        assert_eq!(parse(""), Faults::default());
    }
}
