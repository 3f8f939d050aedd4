//! Times load, forward and decode of one checkpoint on a device and prints one line of JSON.
//!
//! `benches/against_pytorch.py` makes checkpoints of real shapes, runs this in alternation with
//! PyTorch and prints the ratios. Without it:
//!
//!     cargo bench --workspace --bench forward -- CHECKPOINT forward --batch 1 --tokens 128 --runs 20
//!     cargo bench --workspace --bench forward -- CHECKPOINT decode --device cuda --precision bf16
//!     cargo bench --workspace --bench forward -- CHECKPOINT forward --device cuda --engine native/stream
//!
//! Equal digests are equal bits of all outputs of the first call.

use serde_json::{Value, json};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};
use testgen_runtime::{
    Architecture, Array, Arrays, Checkpoint, DeviceIndex, DeviceKind, EngineName, LoadedSubject,
    Model, ModelType, OpenDevice, Precision, Repetitions, Source, Spec, Subject, Task, detect,
    load, memory, open_on, reset_peak,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    match Job::parse(&arguments).and_then(|job| job.run()) {
        Ok(result) => {
            println!("{result}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("error: {message}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

const USAGE: &str = "usage: CHECKPOINT forward|decode [--batch N] [--tokens N] [--runs N] [--device cpu|cuda|rocm] \
    [--engine native|native/vendor|native/stream] [--precision f32|tf32|f16|bf16]";

struct Job {
    checkpoint: String,
    what: What,
    device: DeviceKind,
    engine: EngineName,
    precision: Precision,
    batch: usize,
    tokens: usize,
    runs: usize,
}

#[derive(Clone, Copy)]
enum What {
    /// The whole sequence at once.
    Forward,
    /// One token after the other, with `tokens` in the cache.
    Decode,
}

impl Job {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let [checkpoint, what, options @ ..] = arguments else {
            return Err("a checkpoint directory is missing".into());
        };
        let what = match what.as_str() {
            "forward" => What::Forward,
            "decode" => What::Decode,
            other => return Err(format!("`{other}` is neither `forward` nor `decode`")),
        };
        let (device, precision) = (DeviceKind::Cpu, Precision::F32);
        let mut job = Self {
            checkpoint: checkpoint.clone(),
            what,
            device,
            engine: EngineName::native(),
            precision,
            batch: 1,
            tokens: 128,
            runs: 20,
        };
        for pair in options.chunks(2) {
            let [name, value] = pair else {
                return Err(format!("`{}` needs a value", pair[0]));
            };
            let number = || {
                value
                    .parse()
                    .map_err(|_| format!("`{value}` is not a number"))
            };
            match name.as_str() {
                "--batch" => job.batch = number()?,
                "--tokens" => job.tokens = number()?,
                "--runs" => job.runs = number()?,
                "--device" => job.device = value.parse().map_err(|error| format!("{error}"))?,
                "--engine" => job.engine = value.parse().map_err(|error| format!("{error}"))?,
                "--precision" => {
                    job.precision = value.parse().map_err(|error| format!("{error}"))?
                }
                _ => return Err(format!("unknown option `{name}`")),
            }
        }
        Ok(job)
    }

    fn run(&self) -> Result<Value, String> {
        let device = detect(self.device, DeviceIndex::Auto, &self.engine)
            .map_err(|error| error.to_string())?;
        let device = open_on(&self.engine, device).map_err(|error| error.to_string())?;
        reset_peak();
        let start = Instant::now();
        let loaded = self.load(&device)?;
        let model = loaded.model().ok_or("the checkpoint has no model")?;
        let load_ms = milliseconds(start);
        let load_peak = memory(&device).peak;
        let inputs = self.ids(self.tokens);
        let first = model.forward(&inputs).map_err(|error| error.to_string())?;
        let first_ms = milliseconds(start);
        let times = match self.what {
            What::Forward => self.forward(model),
            What::Decode => self.decode(model),
        }?;
        Ok(json!({
            "load_ms": load_ms,
            "first_ms": first_ms,
            "load_peak_bytes": load_peak,
            "peak_bytes": memory(&device).peak,
            "times_ms": times,
            "layers_ms": layers(model, &inputs)?,
            "digest": digest(&first.outputs),
        }))
    }

    fn load(&self, device: &OpenDevice) -> Result<LoadedSubject, String> {
        let config = std::fs::read_to_string(Path::new(&self.checkpoint).join("config.json"));
        let config: Value = serde_json::from_str(&config.map_err(|error| error.to_string())?)
            .map_err(|error| error.to_string())?;
        let model_type: ModelType = config["model_type"]
            .as_str()
            .unwrap_or_default()
            .parse()
            .map_err(|error| format!("{error}"))?;
        let spec = Spec {
            name: "benchmark",
            subject: Subject::Model {
                model_type,
                source: Source {
                    path: "",
                    hub: None,
                },
            },
            architecture: Architecture::EncoderOnly,
            task: Task::TextEmbedding,
            devices: &[],
            precisions: &[Precision::F32],
            tolerances: &[],
            vram_mib: None,
            limit_seconds: None,
        };
        let loaded = load(
            &spec,
            &Checkpoint::at(&self.checkpoint),
            device,
            self.precision,
        );
        loaded.map_err(|error| error.to_string())
    }

    /// Milliseconds of each call, after three calls to warm up.
    fn forward(&self, model: &Model) -> Result<Vec<f64>, String> {
        let inputs = self.ids(self.tokens);
        let mut times = Vec::new();
        for run in 0..self.runs + 3 {
            let start = Instant::now();
            model.forward(&inputs).map_err(|error| error.to_string())?;
            if run >= 3 {
                times.push(milliseconds(start));
            }
        }
        Ok(times)
    }

    /// Milliseconds of each step.
    fn decode(&self, model: &Model) -> Result<Vec<f64>, String> {
        let mut session = model.session().map_err(|error| error.to_string())?;
        session
            .advance(&self.ids(self.tokens))
            .map_err(|error| error.to_string())?;
        let step = self.ids(1);
        let mut times = Vec::new();
        for _ in 0..self.runs {
            let start = Instant::now();
            session.advance(&step).map_err(|error| error.to_string())?;
            times.push(milliseconds(start));
        }
        Ok(times)
    }

    fn ids(&self, tokens: usize) -> Arrays {
        let ids = (0..self.batch * tokens)
            .map(|index| (index * 7919 % 1000 + 100) as i64)
            .collect();
        Arrays::from([(
            "input_ids".to_owned(),
            Array::integers([self.batch, tokens], ids),
        )])
    }
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// The milliseconds of streamed layers in one call: loading them, computing them, and both side by
/// side.
fn layers(model: &Model, inputs: &Arrays) -> Result<Option<[f64; 3]>, String> {
    let repetitions = Repetitions {
        warmup: 1,
        iterations: 1,
        min_time_ms: 0,
    };
    let times = model.time_layers(inputs, repetitions);
    let times = times.map_err(|error| error.to_string())?;
    let first = times.and_then(|times| times.into_iter().next());
    Ok(first.map(|times| [times.load, times.compute, times.together].map(in_milliseconds)))
}

fn in_milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A number that differs if any bit of the outputs does, but for chance.
fn digest(outputs: &Arrays) -> String {
    let mut hasher = DefaultHasher::new();
    for (name, array) in outputs {
        name.hash(&mut hasher);
        array.shape().hash(&mut hasher);
        let bits = array.as_floats().unwrap_or_default().iter();
        bits.for_each(|value| value.to_bits().hash(&mut hasher));
    }
    format!("{:016x}", hasher.finish())
}
