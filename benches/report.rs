//! Time of a large report: merging and rendering it, and opening its page in headless Chromium.
//!
//! `cargo bench -p testgen --bench report` prints measurements with their targets: 300 models on 3
//! devices in 3 precisions with 20 checks each. `cargo test --benches` uses a small report, to test
//! that the benchmark still works.

use std::{
    error::Error,
    fmt::Write,
    fs,
    path::Path,
    process::{Command, ExitCode, Stdio},
    time::Instant,
};
use tempfile::TempDir;
use testgen_types::{Check, Precision};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Checks for each model, device and precision.
const CHECKS: usize = 20;
const LAYERS: usize = 12;
const DEVICES: [(&str, &str); 3] = [
    ("cpu", "A host processor"),
    ("cuda", "NVIDIA H100 80GB HBM3"),
    ("rocm", "AMD Instinct MI300X"),
];

fn main() -> ExitCode {
    let models = if std::env::args().any(|argument| argument == "--bench") {
        300
    } else {
        3
    };
    match run(models) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(models: usize) -> Result<()> {
    let directory = TempDir::new()?;
    let mut checks = 0;
    for (device, name) in DEVICES {
        let (text, lines) = report(models, device, name)?;
        checks += lines;
        fs::write(directory.path().join(format!("{device}.jsonl")), text)?;
    }
    let page = directory.path().join("report.html");
    let started = Instant::now();
    let binary = Command::new(env!("CARGO_BIN_EXE_testgen"))
        .current_dir(directory.path())
        .args(["report", ".", "--out", "report.html"])
        .status()?;
    if binary.code().is_none_or(|code| code > 1) {
        return Err(format!("testgen report ended with {binary}").into());
    }
    println!("{models} models, {checks} checks");
    println!(
        "building the page      {:>8.2} s    target: under 3 s",
        started.elapsed().as_secs_f64()
    );
    println!(
        "its size               {:>8.1} MB   target: under 15 MB",
        fs::metadata(&page)?.len() as f64 / 1e6
    );
    open(&page)
}

/// Opens the page three times, whole and filtered, and prints the slowest. The page itself measures
/// the time from the navigation to the last cell. The start of the browser and its output of the
/// document do not count, because no reader waits for them; they are printed separately.
fn open(page: &Path) -> Result<()> {
    let profile = TempDir::new()?;
    let (mut ready, mut whole) = (0.0_f64, 0.0_f64);
    for address in ["", "status=fail", "q=model_123"] {
        let started = Instant::now();
        let output = Command::new("chromium")
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--dump-dom",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("file://{}#{address}", page.display()))
            .stderr(Stdio::null())
            .output();
        let Ok(output) = output else {
            println!("opening the page       not measured: no chromium in PATH");
            return Ok(());
        };
        whole = whole.max(started.elapsed().as_secs_f64());
        let document = String::from_utf8_lossy(&output.stdout).into_owned();
        let measured = document
            .split("data-ready=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next()?.parse::<f64>().ok());
        ready = ready.max(measured.ok_or("the page did not finish its script")? / 1e3);
    }
    println!(
        "opening it in Chromium {ready:>8.2} s    target: under 2 s, from the navigation to the last cell"
    );
    println!("the whole browser      {whole:>8.2} s    start, page, writing the document, end");
    Ok(())
}

/// One machine's report: every check with tensors of errors that all differ, some failing with
/// their worst elements.
fn report(models: usize, device: &str, name: &str) -> Result<(String, usize)> {
    let (mut text, mut lines) = (String::new(), 0);
    let mut random = Random(device.len() as u64);
    for model in 0..models {
        for precision in Precision::ALL {
            for check in Check::ALL.iter().take(CHECKS) {
                let traced = *check == Check::LayerTraceGolden;
                let fails = model % 50 == 7 && *check == Check::OutputGolden;
                let outputs: Vec<String> = match traced {
                    true => (0..LAYERS)
                        .map(|layer| tensor(&format!("trace.layer.{layer}"), fails, &mut random))
                        .collect(),
                    false => [
                        "last_hidden_state",
                        "case.1.last_hidden_state",
                        "pooler_output",
                    ]
                    .iter()
                    .map(|name| tensor(name, fails, &mut random))
                    .collect(),
                };
                let status = if fails {
                    "fail\",\"reason\":\"the outputs differ from the golden"
                } else {
                    "pass"
                };
                writeln!(
                    text,
                    "{{\"version\":1,\"model\":\"model_{model:03}\",\"architecture\":\"encoder_only\",\"device\":\"{device}\",\
                     \"check\":\"{check}\",\"precision\":\"{precision}\",\"status\":\"{status}\",\"device_name\":\"{name}\",\
                     \"outputs\":[{}],\"memory\":{{\"in_use_before\":0,\"in_use_after\":{}}},\"milliseconds\":{}}}",
                    outputs.join(","),
                    1_000_000 + model,
                    random.next() * 1e3
                )?;
                lines += 1;
            }
        }
    }
    Ok((text, lines))
}

fn tensor(name: &str, fails: bool, random: &mut Random) -> String {
    let error = random.next() * if fails { 1.0 } else { 1e-3 };
    let worst = if fails {
        "{\"index\":[0,3,17],\"expected\":0.25,\"got\":-0.5}"
    } else {
        ""
    };
    format!(
        "{{\"name\":\"{name}\",\"rel_l2\":{error},\"max_rel\":{},\"rel_l2_threshold\":{},\"max_rel_threshold\":0.005,\
         \"headroom\":{},\"worst\":[{worst}]}}",
        error * 1.5,
        0.002 + error / 1e3,
        0.002 / error.max(1e-9)
    )
}

/// A sequence that is the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1u32 << 31)
    }
}
