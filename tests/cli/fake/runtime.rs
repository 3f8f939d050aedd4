//! Replaces `testgen-runtime` in tests of `testgen run`: the same names, no model, no device, no dependency.
//!
//! The file `FAKE_RULES` decides the result of every test: the last line `PART|ACTION|JSON` whose PART is in the test's
//! name counts. Without a rule CPU checks pass, and numeric checks elsewhere are ignored.

mod words;

pub use words::*;

#[derive(Debug, Clone)]
pub struct Checkpoint;
#[derive(Debug)]
pub struct Model;
#[derive(Debug)]
pub struct LoadedModel;
#[derive(Debug, Clone)]
pub struct Label;
#[derive(Debug)]
pub struct RecordedRequest;
#[derive(Debug)]
pub struct RequestError;
#[derive(Debug)]
pub struct OpenDevice;
#[derive(Debug)]
pub struct Device;
#[derive(Debug)]
pub struct Visibility;
#[derive(Debug, Clone, Copy)]
pub struct DeviceMemory;
#[derive(Debug)]
pub struct DeviceUnavailable;
#[derive(Debug)]
pub struct Endpoint;
#[derive(Debug)]
pub struct Probe;

pub type InitError = DeviceUnavailable;

#[derive(Debug, Clone)]
pub struct LoadTarget {
    pub checkpoint: Checkpoint,
    pub index: u32,
    pub precision: Option<Precision>,
    pub label: Label,
}

#[derive(Debug)]
pub enum Request {
    Texts(Vec<String>),
    Questions(Vec<String>),
    Prompts { prompts: Vec<String>, controls: u32 },
    Images(Vec<String>),
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

pub type Init = fn(&LoadTarget) -> Endpoint;

#[derive(Debug)]
pub struct Harness {
    pub spec: &'static Spec,
    pub init_cpu: Init,
    pub init_cuda: Init,
    pub init_rocm: Init,
    pub request: fn(&RecordedRequest) -> Result<Request, RequestError>,
    pub skipped: &'static [Skip],
}

#[derive(Debug, Clone, Copy)]
pub struct Skip {
    check: Check,
    device: Option<DeviceKind>,
    precision: Option<Precision>,
    reason: &'static str,
}

impl Skip {
    pub const fn new(check: Check, reason: &'static str) -> Self {
        Self { check, device: None, precision: None, reason }
    }

    pub const fn on(device: DeviceKind, check: Check, reason: &'static str) -> Self {
        Self { check, device: Some(device), precision: None, reason }
    }

    pub const fn in_precision(precision: Precision, check: Check, reason: &'static str) -> Self {
        Self { check, device: None, precision: Some(precision), reason }
    }

    pub const fn on_in_precision(
        device: DeviceKind,
        precision: Precision,
        check: Check,
        reason: &'static str,
    ) -> Self {
        Self { check, device: Some(device), precision: Some(precision), reason }
    }
}

/// A check of a harness, with the reason if it is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PlannedCheck {
    device: DeviceKind,
    check: Check,
    precision: Precision,
    skip: Option<&'static str>,
}

impl Harness {
    fn checks(&self) -> Vec<PlannedCheck> {
        let mut planned = Vec::new();
        for &device in self.spec.devices {
            let applies = |check: &&Check| {
                OF_ARCHITECTURE.contains(&(self.spec.architecture, **check)) && ON_DEVICE.contains(&(device, **check))
            };
            for &check in Check::ALL.iter().filter(applies) {
                let first = self.spec.precisions.iter().min();
                let precisions = self.spec.precisions.iter().filter(|precision| match check {
                    Check::HalfProbe => **precision != Precision::F32,
                    check => check.per_precision() || Some(*precision) == first,
                });
                planned.extend(precisions.map(|&precision| {
                    PlannedCheck { device, check, precision, skip: self.skip_reason(device, check, precision) }
                }));
            }
        }
        planned.sort();
        planned
    }

    fn skip_reason(&self, device: DeviceKind, check: Check, precision: Precision) -> Option<&'static str> {
        let applies = |skip: &&Skip| {
            skip.check == check
                && skip.device.is_none_or(|only| only == device)
                && skip.precision.is_none_or(|only| only == precision)
        };
        self.skipped.iter().find(applies).map(|skip| skip.reason)
    }
}

impl LoadTarget {
    pub fn on(&self, _device: DeviceKind) -> Self {
        self.clone()
    }
}

impl LoadedModel {
    pub fn new(_target: &LoadTarget, _device: OpenDevice, _model: Model) -> Self {
        Self
    }

    pub fn with_memory(self, _before: DeviceMemory, _after: DeviceMemory) -> Self {
        self
    }
}

impl RecordedRequest {
    pub fn texts(&self) -> Result<Vec<String>, RequestError> {
        Err(RequestError)
    }

    pub fn questions(&self) -> Result<Vec<String>, RequestError> {
        Err(RequestError)
    }

    pub fn prompts(&self) -> Result<Vec<String>, RequestError> {
        Err(RequestError)
    }

    pub fn controls(&self) -> Result<u32, RequestError> {
        Err(RequestError)
    }

    pub fn images(&self) -> Result<Vec<String>, RequestError> {
        Err(RequestError)
    }
}

impl DeviceUnavailable {
    pub fn and(self, _other: Self) -> Self {
        self
    }
}

impl Probe {
    pub fn choose(&self, _target: Option<Precision>, precisions: &[Precision]) -> Result<Precision, DeviceUnavailable> {
        precisions.first().copied().ok_or(DeviceUnavailable)
    }
}

impl Endpoint {
    pub fn real<T>(_kind: DeviceKind, _loaded: LoadedModel, _task: T) -> Self {
        Self
    }

    pub fn mock<E>(_label: &Label, _kind: DeviceKind, _error: &E) -> Self {
        Self
    }

    pub fn into_fallback(self, _kind: DeviceKind, _absence: &DeviceUnavailable) -> Self {
        self
    }
}

pub fn host_processor() -> Device {
    Device
}

pub fn hip_runtime(_index: u32) -> Result<Device, DeviceUnavailable> {
    Err(DeviceUnavailable)
}

pub fn cuda_driver(_index: u32) -> Result<Device, DeviceUnavailable> {
    Err(DeviceUnavailable)
}

pub fn cuda_compatibility(_index: u32) -> Result<Device, DeviceUnavailable> {
    Err(DeviceUnavailable)
}

pub fn open(_device: Device) -> Result<OpenDevice, DeviceUnavailable> {
    Ok(OpenDevice)
}

pub fn load(_: &Spec, _: &Checkpoint, _: &OpenDevice, _: Precision) -> Result<Model, DeviceUnavailable> {
    Ok(Model)
}

pub fn memory(_device: &OpenDevice) -> DeviceMemory {
    DeviceMemory
}

pub fn probe_half_precision(_device: &OpenDevice) -> Probe {
    Probe
}

pub fn report_memory(_label: &Label, _when: &str, _memory: &DeviceMemory) {}

pub fn report_probe(_label: &Label, _probe: &Probe) {}

pub fn report_visibility(_label: &Label, _visibility: &Visibility) {}

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
    use super::{Harness, PlannedCheck};
    use std::{env, fs, io::Write, process::ExitCode};

    const ABSENT: &str = "absent: no library of this vendor";

    /// The test binary: `--list` prints the tests, otherwise all those run that `--skip` does not exclude.
    pub fn main(harnesses: &[&Harness], _directory: &str) -> ExitCode {
        let arguments: Vec<String> = env::args().skip(1).collect();
        let tests = harnesses.iter().flat_map(|harness| harness.checks().into_iter().map(|check| Test::new(harness, check)));
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
        check: PlannedCheck,
    }

    impl Test {
        fn new(harness: &Harness, check: PlannedCheck) -> Self {
            let (architecture, model) = (harness.spec.architecture.as_str(), harness.spec.name);
            let suffix = if check.check.per_precision() { format!("_{}", check.precision.as_str()) } else { String::new() };
            let name = format!("{architecture}::{model}::{}::{}{suffix}", check.device.as_str(), check.check.as_str());
            Self { name, architecture, model, check }
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
