//! Engines that violate the protocol: each is an error with its reason, within the time limit, and no process remains.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};
use testgen_engine::{
    Data, DeviceClass, DeviceRequest, Engine, EngineCommand, EngineError, EngineName, Operation, Tensor, Tensors,
};

const LIMIT: Duration = Duration::from_secs(2);
/// A killed process, its last output and the start of Python take a part of this.
const BOUND: Duration = Duration::from_secs(30);

fn start(mode: &str) -> Result<Engine, EngineError> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripted.py");
    let command = EngineCommand::program("python3").with_arguments([script.into(), mode.into()]);
    let name: EngineName = "scripted".parse().unwrap();
    let device = DeviceRequest { kind: DeviceClass::Cpu, index: 0, uuid: None, pci_address: None };
    Engine::start_with(command, &name, device, LIMIT)
}

/// Starts an engine that must not start, and returns its error.
fn refused(mode: &str) -> String {
    let started = Instant::now();
    let error = start(mode).expect_err(mode).to_string();
    assert!(started.elapsed() < BOUND, "{mode} took {:?}", started.elapsed());
    error
}

fn vector(values: &[f32]) -> Tensors {
    let tensor = Tensor { shape: vec![values.len()], data: Data::F32(values.to_vec()) };
    Tensors::from([("left".to_owned(), tensor.clone()), ("right".to_owned(), tensor)])
}

fn sum(engine: &Engine, values: &[f32]) -> Result<Vec<f32>, EngineError> {
    use testgen_engine::Dtype::F32;
    engine.compute(Operation::Add, vector(values), F32, F32)
}

#[cfg(target_os = "linux")]
fn exists(process: u32) -> bool {
    // A zombie still has a directory, so this also fails where the process was not waited for.
    Path::new(&format!("/proc/{process}")).exists()
}

#[test]
fn a_correct_engine_answers() {
    let engine = start("none").unwrap();
    assert_eq!(sum(&engine, &[1.0, 2.5]).unwrap(), [2.0, 5.0]);
    assert_eq!(engine.describe_versions(), "scripted 1 (CPU build)");
}

#[test]
fn violations_of_the_protocol_are_errors_with_a_reason() {
    let expected = [
        ("exits", "exit status: 3"),
        ("exits", "No module named 'torch'"),
        ("prints", "Loading checkpoint shards"),
        ("magic", "`GTEN"),
        ("nul_bytes", "is not a message"),
        ("not_json", "header: EOF"),
        ("other_id", "answers request 8, the last one is 1"),
        ("no_reply", "either `reply` or `error`"),
        ("both", "either `reply` or `error`"),
        ("other_fields", "missing field"),
        ("old_protocol", "version 0 of the protocol"),
        ("huge_header", "over the limit"),
        ("huge_tensors", "over the limit"),
        ("cut_header", "1 of 100 bytes"),
        ("twice", "answers request 1, the last one is 2"),
        ("build_lie", "a build without GPUs cannot have opened a GPU"),
        ("closes", "closed its pipe"),
    ];
    for (mode, part) in expected {
        let error = refused(mode);
        assert!(error.contains(part), "{mode}: no `{part}` in: {error}");
    }
}

#[test]
fn an_engine_that_does_not_answer_is_ended() {
    for mode in ["silent", "late", "never_reads"] {
        let error = refused(mode);
        assert!(error.contains("did not answer `hello` within 2 s"), "{mode}: {error}");
    }
}

#[test]
fn a_flood_of_errors_neither_blocks_nor_grows() {
    let engine = start("flood").unwrap();
    assert_eq!(sum(&engine, &[1.0]).unwrap(), [2.0]);
}

#[test]
fn children_of_an_engine_do_not_keep_its_pipes_open() {
    // The child has the pipe, so that its end is not seen: the time limit ends both.
    let error = refused("grandchild");
    assert!(error.contains("did not answer") || error.contains("exit status: 4"), "{error}");
    let sleeping = Command::new("ps").args(["-eo", "ppid,args"]).output().unwrap();
    let sleeping = String::from_utf8_lossy(&sleeping.stdout).into_owned();
    let orphans = sleeping.lines().filter(|line| line.trim_start().starts_with("1 ") && line.ends_with("sleep 1000"));
    assert_eq!(orphans.count(), 0, "{sleeping}");
}

#[test]
fn an_engine_that_never_reads_does_not_block_a_large_request() {
    let started = Instant::now();
    let engine = start("none").unwrap();
    let stopped = Command::new("kill").args(["-STOP", &engine.process().id().unwrap().to_string()]).status().unwrap();
    assert!(stopped.success());
    // Far more than a pipe holds.
    let error = sum(&engine, &vec![1.0; 4 << 20]).unwrap_err();
    assert!(matches!(error, EngineError::TimedOut { call: "compute", .. }), "{error}");
    assert!(matches!(sum(&engine, &[1.0]).unwrap_err(), EngineError::NotRunning { .. }));
    assert!(started.elapsed() < BOUND);
}

#[test]
fn a_process_that_dies_reports_its_last_output() {
    let engine = start("dies").unwrap();
    let error = engine.forward(1, &Tensors::new(), false).unwrap_err().to_string();
    assert!(error.contains("Segmentation fault (core dumped)"), "{error}");
    assert!(!engine.process().is_running());
    let error = engine.forward(1, &Tensors::new(), false).unwrap_err().to_string();
    assert!(error.starts_with("the engine is not running: the engine ended during `forward`"), "{error}");
}

#[test]
fn an_error_of_the_engine_leaves_it_running() {
    let engine = start("fails").unwrap();
    let error = engine.forward(1, &Tensors::new(), false).unwrap_err().to_string();
    assert_eq!(error, "the engine failed in `forward`: out of memory after 3 tensors");
    assert_eq!(sum(&engine, &[1.0]).unwrap(), [2.0]);
}

#[test]
fn memory_that_the_device_does_not_have_is_named_and_leaves_the_engine_running() {
    let engine = start("exhausted").unwrap();
    let error = engine.forward(1, &Tensors::new(), false).unwrap_err().to_string();
    assert_eq!(error, "out of memory: the engine reports in `forward`: Tried to allocate 2.00 GiB.");
    assert_eq!(sum(&engine, &[1.0]).unwrap(), [2.0]);
}

#[cfg(target_os = "linux")]
#[test]
fn no_process_remains() {
    for mode in ["none", "stays"] {
        let engine = start(mode).unwrap();
        let id = engine.process().id().unwrap();
        assert!(exists(id));
        drop(engine);
        assert!(!exists(id), "{mode}");
    }
}
