//! Stands for `testgen-runtime` in tests of `testgen run`: the same names, no model, no device, no dependency.
//!
//! Every test does what the file `FAKE_RULES` says: the last line `PART|ACTION|JSON` whose PART is in the test's name
//! counts. Without a rule CPU checks pass, and numeric checks elsewhere are ignored.

mod words;

pub use words::*;

#[derive(Debug)]
pub struct Checkpoint;
#[derive(Debug)]
pub struct Model;
#[derive(Debug)]
pub struct OpenDevice;
#[derive(Debug)]
pub struct Device;
#[derive(Debug)]
pub struct Visibility;
#[derive(Debug, Clone, Copy)]
pub struct Memory;
#[derive(Debug)]
pub struct Absence;
#[derive(Debug)]
pub struct Endpoint;
#[derive(Debug)]
pub struct Probe;

#[derive(Debug, Clone, Copy)]
pub struct DeviceRequest {
    pub index: u32,
    pub precision: Option<Precision>,
}

#[derive(Debug)]
pub struct Source {
    pub path: &'static str,
    pub hub: Option<&'static str>,
}

#[derive(Debug)]
pub struct ToleranceOverride {
    pub output: &'static str,
    pub precision: Precision,
    pub rel_l2: f64,
    pub max_rel: f64,
    pub reason: &'static str,
}

#[derive(Debug)]
pub struct Spec {
    pub name: &'static str,
    pub model_type: ModelType,
    pub architecture: Architecture,
    pub task: Task,
    pub source: Source,
    pub devices: &'static [DeviceKind],
    pub precisions: &'static [Precision],
    pub tolerances: &'static [ToleranceOverride],
    pub vram_mib: Option<u64>,
}

pub type Init = fn(&Checkpoint, &DeviceRequest, &str) -> Endpoint;

#[derive(Debug)]
pub struct Harness {
    pub spec: &'static Spec,
    pub init_cpu: Init,
    pub init_cuda: Init,
    pub init_rocm: Init,
    pub checks: &'static [Registered],
}

#[derive(Debug, Clone, Copy)]
pub struct Registered {
    pub device: DeviceKind,
    pub check: Check,
    pub precision: Precision,
    pub skip: Option<&'static str>,
}

impl Registered {
    pub const fn run(device: DeviceKind, check: Check, precision: Precision) -> Self {
        Self { device, check, precision, skip: None }
    }

    pub const fn skip(device: DeviceKind, check: Check, precision: Precision, reason: &'static str) -> Self {
        Self { device, check, precision, skip: Some(reason) }
    }
}

impl Absence {
    pub fn and(self, _other: Self) -> Self {
        self
    }
}

impl Probe {
    pub fn choose(&self, _wanted: Option<Precision>, precisions: &[Precision]) -> Result<Precision, Absence> {
        precisions.first().copied().ok_or(Absence)
    }
}

impl Endpoint {
    pub fn real<T>(_label: &str, _kind: DeviceKind, _device: OpenDevice, _model: Model, _task: T) -> Self {
        Self
    }

    pub fn mock<E>(_label: &str, _kind: DeviceKind, _error: &E) -> Self {
        Self
    }

    pub fn into_fallback(self, _kind: DeviceKind, _absence: &Absence) -> Self {
        self
    }

    pub fn with_memory(self, _before: Memory, _after: Memory) -> Self {
        self
    }
}

pub fn host_processor() -> Device {
    Device
}

pub fn hip_runtime(_index: u32) -> Result<Device, Absence> {
    Err(Absence)
}

pub fn cuda_driver(_index: u32) -> Result<Device, Absence> {
    Err(Absence)
}

pub fn cuda_compatibility(_index: u32) -> Result<Device, Absence> {
    Err(Absence)
}

pub fn open(_device: Device) -> Result<OpenDevice, Absence> {
    Ok(OpenDevice)
}

pub fn load(_: &Spec, _: &Checkpoint, _: &OpenDevice, _: Precision) -> Result<Model, Absence> {
    Ok(Model)
}

pub fn memory(_device: &OpenDevice) -> Memory {
    Memory
}

pub fn probe_half_precision(_device: &OpenDevice) -> Probe {
    Probe
}

pub fn report_memory(_label: &str, _when: &str, _memory: &Memory) {}

pub fn report_probe(_label: &str, _probe: &Probe) {}

pub fn report_visibility(_label: &str, _visibility: &Visibility) {}

pub fn visible_devices() -> Visibility {
    Visibility
}

pub mod task {
    pub fn text_embedding() {}
    pub fn fill_mask() {}
    pub fn text_classification() {}
    pub fn token_classification() {}
    pub fn question_answering() {}
    pub fn text_generation() {}
    pub fn image_classification() {}
    pub fn image_embedding() {}
}

pub mod suite {
    use super::{Harness, Registered};
    use std::{env, fs, io::Write, process::ExitCode};

    const ABSENT: &str = "absent: no library of this vendor";

    /// The test binary: `--list` prints, everything else runs what `--skip` leaves.
    pub fn main(harnesses: &[&Harness], _directory: &str) -> ExitCode {
        let arguments: Vec<String> = env::args().skip(1).collect();
        let tests = harnesses.iter().flat_map(|harness| harness.checks.iter().map(|check| Test::new(harness, check)));
        let tests: Vec<Test> = tests.collect();
        if arguments.iter().any(|argument| argument == "--list") {
            tests.iter().filter(|test| test.rule().0 != "unlisted").for_each(|test| println!("{}: test", test.name));
            return ExitCode::SUCCESS;
        }
        println!("arguments: {arguments:?}");
        println!("require: {:?}", env::var("TESTGEN_REQUIRE"));
        println!("device: {:?}", env::var("TESTGEN_DEVICE"));
        println!("directory: {}", env::current_dir().expect("there is one").display());
        println!("features: cuda {} rocm {}", cfg!(feature = "cuda"), cfg!(feature = "rocm"));
        println!("optimised: {}", !cfg!(debug_assertions));
        let skipped: Vec<&String> = arguments.iter().filter(|argument| *argument != "--skip").collect();
        let selected = tests.iter().filter(|test| !skipped.iter().any(|part| test.name.contains(*part)));
        let failed = selected.filter(|test| !test.run()).count();
        if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(101) }
    }

    struct Test {
        name: String,
        architecture: &'static str,
        model: &'static str,
        check: Registered,
    }

    impl Test {
        fn new(harness: &Harness, check: &Registered) -> Self {
            let (architecture, model) = (harness.spec.architecture.as_str(), harness.spec.name);
            let suffix = if check.check.per_precision() { format!("_{}", check.precision.as_str()) } else { String::new() };
            let name = format!("{architecture}::{model}::{}::{}{suffix}", check.device.as_str(), check.check.as_str());
            Self { name, architecture, model, check: *check }
        }

        /// Whether it did not fail.
        fn run(&self) -> bool {
            let (action, json) = self.rule();
            match action.as_str() {
                "none" | "unlisted" => return true,
                "crash" => std::process::abort(),
                "sleep" => std::thread::sleep(std::time::Duration::from_secs(60)),
                "text" => self.append(&json),
                "twice" => {
                    self.record("pass", &json);
                    self.record("pass", &json);
                }
                action => self.record(action, &json),
            }
            action != "fail"
        }

        fn rule(&self) -> (String, String) {
            let rules = env::var("FAKE_RULES").ok().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
            let rule = rules.lines().filter_map(|line| {
                let mut parts = line.splitn(3, '|');
                let matches = self.name.contains(parts.next()?);
                let action = parts.next()?.to_owned();
                matches.then(|| (action, parts.next().unwrap_or_default().to_owned()))
            });
            rule.last().unwrap_or_else(|| self.default_rule())
        }

        fn default_rule(&self) -> (String, String) {
            let device = self.check.device.as_str();
            if let Some(reason) = self.check.skip {
                return ("ignored".to_owned(), format!(r#""reason":"the spec skips it: {reason}""#));
            }
            if device == "cpu" || !self.check.check.is_numeric() {
                return ("pass".to_owned(), r#""device_name":"Fake host""#.to_owned());
            }
            match env::var("TESTGEN_REQUIRE") {
                Ok(required) if required.contains(device) => {
                    ("fail".to_owned(), format!(r#""reason":"TESTGEN_REQUIRE={required}: {ABSENT}""#))
                }
                _ => ("ignored".to_owned(), format!(r#""reason":"{ABSENT}""#)),
            }
        }

        fn record(&self, status: &str, json: &str) {
            let Self { architecture, model, check, .. } = self;
            let rest = if json.is_empty() { String::new() } else { format!(",{json}") };
            self.append(&format!(
                r#"{{"version":1,"architecture":"{architecture}","model":"{model}","device":"{}","check":"{}","precision":"{}","status":"{status}","milliseconds":1.0{rest}}}"#,
                check.device.as_str(),
                check.check.as_str(),
                check.precision.as_str(),
            ));
        }

        fn append(&self, line: &str) {
            let Some(path) = env::var_os("TESTGEN_REPORT") else { return };
            let mut file = fs::OpenOptions::new().append(true).create(true).open(path).expect("the report opens");
            writeln!(file, "{line}").expect("the report can be written");
        }
    }
}
