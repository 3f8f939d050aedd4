//! The test binary of the fake runtime: what `testgen_runtime::suite` is in the real one.

use super::{Harness, PlannedCheck};
use std::{env, fs, io::Write, process::ExitCode};

const ABSENT: &str = "absent: no library of this vendor";

/// The test binary: `--list` prints the tests, otherwise all those run that `--skip` does not
/// exclude.
pub fn main(harnesses: &[&Harness], _directory: &str) -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let engines = env::var("TESTGEN_ENGINES").unwrap_or_else(|_| "native".to_owned());
    let tests = harnesses.iter().flat_map(|harness| harness.checks().into_iter().map(move |check| (harness, check)));
    let tests = tests.flat_map(|(harness, check)| engines.split(',').map(move |engine| Test::new(harness, check, engine)));
    let tests: Vec<Test> = tests.collect();
    if let Ok(outcome) = env::var("TESTGEN_REPLAY_OUTCOME") {
        return replay(&outcome);
    }
    if arguments.iter().any(|argument| argument == "--list") {
        tests.iter().filter(|test| test.rule().0 != "unlisted").for_each(|test| println!("{}: test", test.name));
        return ExitCode::SUCCESS;
    }
    println!("arguments: {arguments:?}");
    println!("require: {:?}", env::var("TESTGEN_REQUIRE"));
    println!("device: {:?}", env::var("TESTGEN_DEVICE"));
    println!("python: {:?}", env::var("TESTGEN_PYTHON"));
    println!("graphs: {:?}", env::var("TESTGEN_ONNX"));
    println!("directory: {}", env::current_dir().expect("there is one").display());
    println!(
        "features: cuda {} rocm {} encoder_only {}",
        cfg!(feature = "cuda"),
        cfg!(feature = "rocm"),
        cfg!(feature = "encoder_only")
    );
    println!("optimised: {}", !cfg!(debug_assertions));
    if let Ok(kernels) = env::var("TESTGEN_KERNELS") {
        let named = env::var("TESTGEN_KERNELS_NAMED");
        println!("kernels: {kernels}, named {named:?}, feature {}", cfg!(feature = "all_kernels"));
        // Lines of kernels are of another form than those of checks.
        tests.iter().filter(|test| test.rule().0 == "text").for_each(|test| {
            test.run();
        });
        return ExitCode::SUCCESS;
    }
    if let Ok(request) = env::var("TESTGEN_BENCH") {
        println!("bench: {request}");
        tests.iter().filter(|test| test.rule().0 == "text").for_each(|test| {
            test.run();
        });
        return ExitCode::SUCCESS;
    }
    let mut skipped: Vec<&String> = Vec::new();
    let mut filter = None;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--skip" => skipped.extend(words.next()),
            _ => filter = Some(word),
        }
    }
    let is_filtered = |test: &&Test| filter.is_none_or(|part| test.name.contains(part.as_str()));
    let selected = tests.iter().filter(is_filtered).filter(|test| !skipped.iter().any(|part| test.name.contains(*part)));
    let failed = selected.filter(|test| !test.run()).count();
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(101) }
}

/// Ends a replay with the outcome in the file `FAKE_OUTCOME`, beside which it writes the request;
/// an empty one is not written.
fn replay(outcome: &str) -> ExitCode {
    let fake = env::var("FAKE_OUTCOME").expect("is set");
    let [device, selected] = ["TESTGEN_REPLAY_DEVICE", "TESTGEN_DEVICE"].map(|name| env::var(name).unwrap_or_default());
    let [reduce, report, failures] =
        ["TESTGEN_REPLAY_REDUCE", "TESTGEN_REPORT", "TESTGEN_FAILURES"].map(|name| env::var(name).is_ok());
    let request = format!(
        "device {device}, TESTGEN_DEVICE {selected}, reduce {reduce}, report {report}, failures {failures}\n"
    );
    fs::write(format!("{fake}.request"), request).expect("the folder can be written");
    let text = fs::read_to_string(&fake).expect("the outcome can be read");
    if text.is_empty() {
        eprintln!("the fake device is lost");
        return ExitCode::from(9);
    }
    fs::write(outcome, text).expect("the outcome can be written");
    ExitCode::SUCCESS
}

struct Test {
    name: String,
    architecture: &'static str,
    model: &'static str,
    check: PlannedCheck,
    /// None for the native one.
    engine: Option<String>,
}

impl Test {
    fn new(harness: &Harness, check: PlannedCheck, engine: &str) -> Self {
        let (architecture, model) = (harness.spec.architecture.as_str(), harness.spec.name);
        let suffix = if check.check.per_precision() { format!("_{}", check.precision.as_str()) } else { String::new() };
        let name = format!("{architecture}::{model}::{}::{}{suffix}", check.device.as_str(), check.check.as_str());
        let engine = (engine != "native").then(|| engine.to_owned());
        let name = engine.as_ref().map_or(name.clone(), |engine| format!("{name}@{engine}"));
        Self { name, architecture, model, check, engine }
    }

    /// Whether it did not fail.
    fn run(&self) -> bool {
        let (action, json) = self.rule();
        match action.as_str() {
            "none" | "unlisted" => return true,
            "crash" => std::process::abort(),
            "cut" => {
                self.append_part("{\"version\":1,\"arch");
                std::process::abort()
            }
            // Longer than any test waits for its end.
            "sleep" => std::thread::sleep(std::time::Duration::from_secs(1000)),
            "text" => self.append(&json),
            "twice" => {
                self.record("pass", &json);
                self.record("pass", &json);
            }
            action => self.record(action, &json),
        }
        action != "fail"
    }

    /// The index of the selected device of this test's kind, as ` rocm:1`; empty where none is
    /// selected.
    fn selected(&self) -> String {
        let selection = env::var("TESTGEN_DEVICE").unwrap_or_default();
        let kind = format!("{}:", self.check.device.as_str());
        let named = selection.split(',').find(|named| named.starts_with(&kind));
        named.map_or_else(String::new, |named| format!(" {named}"))
    }

    fn rule(&self) -> (String, String) {
        let name = format!("{}{}", self.name, self.selected());
        let rules = env::var("FAKE_RULES").ok().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        let rule = rules.lines().filter_map(|line| {
            let mut parts = line.splitn(3, '|');
            let matches = name.contains(parts.next()?);
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
        let engine = self.engine.as_ref().map_or(String::new(), |engine| format!(r#","engine":"{engine}""#));
        let index = self.selected().split_once(':').map_or(String::new(), |(_, index)| format!(r#","device_index":{index}"#));
        let rest = if json.is_empty() { String::new() } else { format!(",{json}") };
        self.append(&format!(
            r#"{{"version":1,"architecture":"{architecture}","model":"{model}","device":"{}","check":"{}","precision":"{}","status":"{status}","milliseconds":1.0{engine}{index}{rest}}}"#,
            check.device.as_str(),
            check.check.as_str(),
            check.precision.as_str(),
        ));
    }

    fn append(&self, line: &str) {
        self.append_part(&format!("{line}\n"));
    }

    fn append_part(&self, text: &str) {
        let Some(path) = env::var_os("TESTGEN_REPORT") else { return };
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path).expect("the report opens");
        write!(file, "{text}").expect("the report can be written");
    }
}
