//! One line of the report of `testgen bench`: one measurement, with everything that it depends on.
//!
//! The runtime writes these lines, the CLI reads them. Adding a field is compatible; changing one
//! requires a new [`BenchEntry::VERSION`]. A fact that is not known is null.

use crate::{
    architecture::Architecture, bench_request::Repetitions, closed_enum::closed_enum,
    device_kind::DeviceKind, precision::Precision,
};
use serde::{Deserialize, Serialize};

closed_enum! {
    /// The measured work.
    Measured: "measurement" {
        /// Reading the checkpoint and converting its weights, without opening the device.
        Load = "load",
        /// From the beginning of the load to the first outputs on the host; on a GPU kernels may be
        /// compiled in that time.
        FirstAnswer = "first_answer",
        /// All outputs of a batch, from inputs on the host to outputs on the device.
        Forward = "forward",
        /// The prompt of a sequence with a key-value cache: the time to the first token.
        Prefill = "prefill",
        /// One token after the prompt.
        Decode = "decode",
        /// One product or convolution of a forward call, in its place.
        ModelCall = "model_call",
        /// One call of an operator, from inputs to the output on the device.
        Operator = "operator",
        /// Reading the layers of a streamed model and copying them to the device.
        LoadLayers = "load_layers",
        /// Computing the layers of a streamed model, without loading them.
        ComputeLayers = "compute_layers",
        /// Both side by side.
        StreamLayers = "stream_layers",
        /// Copying bytes from the host to the device.
        CopyToDevice = "copy_to_device",
        /// Copying bytes from the device to the host.
        CopyToHost = "copy_to_host",
        /// One optimiser step of a training run, from its log.
        TrainStep = "train_step",
        /// 1000 tokens of a training run on all its devices, from its log.
        TrainTokens = "train_tokens",
        /// 1000 tokens of a training run on one of its devices, from its log.
        TrainTokensPerDevice = "train_tokens_per_device",
        /// One sample of a training run on all its devices, from its log.
        TrainSample = "train_sample",
        /// 10^12 floating-point operations of a training run on one of its devices, as its trainer
        /// counts them, from its log.
        TrainTeraflop = "train_teraflop",
    }
}

/// Whether the work was timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BenchStatus {
    /// It agreed with its reference and was timed.
    Timed,
    /// It does not agree with its reference, or failed: it has no time.
    Wrong,
    /// It was not computed on this device, with these sizes or by this engine.
    NotTimed,
}

/// One measurement, one line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchEntry {
    /// [`BenchEntry::VERSION`] of the writer.
    pub version: u32,
    /// The version of the runtime that measured.
    pub testgen: String,
    /// Whether the runtime was compiled with optimisation. Engines that are processes do not depend
    /// on it.
    pub optimised: bool,
    /// The name of the spec.
    pub subject: String,
    /// A digest of the checkpoint's `config.json`: null for operators.
    pub config: Option<String>,
    /// The architecture: null for training runs, whose logs do not say it.
    pub architecture: Option<Architecture>,
    /// The kind of the device.
    pub device: DeviceKind,
    /// The index of the device among the devices of its kind, if one of several was selected.
    pub device_index: Option<u32>,
    /// The facts about the device: null if nothing ran.
    pub device_facts: Option<BenchDevice>,
    /// The facts about the host: null for training runs, which may have been elsewhere.
    pub host: Option<BenchHost>,
    /// The engine with its options, or the trainer of a training run; null for the native one.
    pub engine: Option<String>,
    /// The versions of the engine's libraries.
    pub engine_versions: Option<String>,
    /// The precision.
    pub precision: Precision,
    /// The measured work: null where nothing of a subject could be.
    pub measured: Option<Measured>,
    /// The call of an operator, or the operation and the shapes of a call of a model.
    pub case: Option<String>,
    /// The number of inputs that are computed together.
    pub batch: Option<usize>,
    /// The tokens of each input; of `decode` those before the timed ones.
    pub tokens: Option<usize>,
    /// The tokens that are generated after each prompt.
    pub steps: Option<u32>,
    /// The bytes of a copy.
    pub bytes: Option<u64>,
    /// Of `stream_layers`: how much of the shorter one of loading and computing took no time of its
    /// own, because the other one went on beside it; 1 is all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<f64>,
    /// Of `model_call`: the calls of these shapes in one forward call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<usize>,
    /// How often it was repeated at least; `times` has every timed call.
    pub repetitions: Repetitions,
    /// Whether it was timed.
    pub status: BenchStatus,
    /// Why it was not.
    pub reason: Option<String>,
    /// The times: null unless `status` is `timed`.
    pub times: Option<BenchTimes>,
    /// The energy of one call in joules, the mean over the timed calls, as the driver of the device
    /// counts it: of the whole GPU, or of the processor packages, with everything else that ran
    /// there. Null for a device without a counter, and if the calls were shorter than a second,
    /// which is ten steps of the counter of a GPU.
    #[serde(default)]
    pub energy_joules: Option<f64>,
}

/// A device that is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchDevice {
    /// Its name, as its driver reports it.
    pub name: String,
    /// Its architecture, for instance `sm_90`.
    pub architecture: Option<String>,
    /// Its address on the bus.
    pub pci_address: Option<String>,
    /// The version of its driver.
    pub driver_version: Option<String>,
    /// The version of its runtime.
    pub runtime_version: Option<String>,
    /// Whether it is a software simulation.
    pub simulated: bool,
    /// Whether f32 products may be computed in TF32.
    pub tf32: Option<bool>,
    /// Streaming multiprocessors or compute units.
    pub compute_units: Option<u32>,
    /// The clock of the compute units at the end of the measurements, in MHz.
    pub clock_mhz: Option<u32>,
    /// The highest clock of the compute units, in MHz.
    pub max_clock_mhz: Option<u32>,
}

/// The host of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchHost {
    /// The name of the processor.
    pub processor: String,
    /// The processors that this process may use.
    pub processors: Option<usize>,
    /// The load of the last minute before the first measurement: processes that run or wait.
    pub load: Option<f64>,
}

/// The times of repeated calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchTimes {
    /// The median in milliseconds.
    pub median: f64,
    /// The time that 5 % of the calls stay below.
    pub p5: f64,
    /// The time that 95 % of the calls stay below.
    pub p95: f64,
    /// Every call in milliseconds, in their order.
    pub milliseconds: Vec<f64>,
}

impl BenchTimes {
    /// The times of these calls: `None` without any.
    pub fn new(milliseconds: Vec<f64>) -> Option<Self> {
        let mut sorted = milliseconds.clone();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            median: quantile(&sorted, 0.5)?,
            p5: quantile(&sorted, 0.05)?,
            p95: quantile(&sorted, 0.95)?,
            milliseconds,
        })
    }
}

/// A quantile of sorted numbers, interpolated between neighbours as NumPy's default does: `None`
/// without numbers.
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    // At a whole place both are the same element, also at the last one, which has no neighbour
    // above.
    let (below, above) = (
        sorted[place.floor() as usize],
        sorted[place.ceil() as usize],
    );
    Some(below + (above - below) * place.fract())
}

impl BenchEntry {
    /// The version of this line format.
    pub const VERSION: u32 = 1;

    /// Whether it is from the log of a training run.
    pub fn is_training(&self) -> bool {
        match self.measured {
            Some(
                Measured::TrainStep
                | Measured::TrainTokens
                | Measured::TrainTokensPerDevice
                | Measured::TrainSample
                | Measured::TrainTeraflop,
            ) => true,
            Some(
                Measured::Load
                | Measured::FirstAnswer
                | Measured::Forward
                | Measured::Prefill
                | Measured::Decode
                | Measured::ModelCall
                | Measured::Operator
                | Measured::LoadLayers
                | Measured::ComputeLayers
                | Measured::StreamLayers
                | Measured::CopyToDevice
                | Measured::CopyToHost,
            )
            | None => false,
        }
    }

    /// Work per second: tokens if it has tokens, else inputs of a batch, bytes of a copy, or calls.
    pub fn per_second(&self) -> Option<(f64, &'static str)> {
        let seconds = self.times.as_ref()?.median / 1e3;
        let batch = self.batch.unwrap_or(1) as f64;
        let (count, unit) = match (self.measured?, self.tokens, self.bytes) {
            // Mostly reading and compiling, which take as long for one input as for many.
            (Measured::Load | Measured::FirstAnswer, _, _) => return None,
            // A decode is timed by steps, each of which adds one token to every sequence.
            (Measured::Decode, _, _) => (batch, "tokens/s"),
            (Measured::TrainStep, _, _) => (1.0, "steps/s"),
            (Measured::TrainTeraflop, _, _) => (1.0, "TFLOP/s"),
            // A product has no tokens of its own.
            (Measured::ModelCall, _, _) => (1.0, "calls/s"),
            // Decimal gigabytes, in which the bandwidths of buses and memory are published.
            (_, _, Some(bytes)) => (bytes as f64 / 1e9, "GB/s"),
            (_, Some(tokens), None) => (batch * tokens as f64, "tokens/s"),
            (Measured::Operator, None, None) => (1.0, "calls/s"),
            (_, None, None) => (batch, "inputs/s"),
        };
        Some((count / seconds, unit))
    }
}

#[cfg(test)]
mod tests {
    use super::{BenchTimes, quantile};

    #[test]
    fn quantiles_are_interpolated_and_ordered() {
        let times = BenchTimes::new(vec![5.0, 1.0, 4.0, 2.0, 3.0]).expect("there are times");
        assert_eq!([times.p5, times.median, times.p95], [1.2, 3.0, 4.8]);
        // As they were measured, for a drift to be seen.
        assert_eq!(times.milliseconds, [5.0, 1.0, 4.0, 2.0, 3.0]);
        let one = BenchTimes::new(vec![7.0]).expect("there is a time");
        assert_eq!([one.p5, one.median, one.p95], [7.0; 3]);
        assert_eq!(BenchTimes::new(Vec::new()), None);
        assert_eq!(quantile(&[1.0, 2.0], 0.25), Some(1.25));
    }
}
