//! Engines that violate the protocol: each is an error with its reason, and no process remains.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod failed_calls;

use std::{
    path::Path,
    process::Command,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};
use testgen_engine::{
    ComputeOperation, DeviceClass, DeviceRequest, Engine, EngineCommand, EngineError, EngineName,
    StartedEngine, Tensor, TensorData, Tensors,
};
use testgen_operators::calls::{Attributes, Call, Element, HostTensor, PeriodicCall, Piece};
use testgen_types::{Operator, Precision, Repetitions};

/// The limit of calls that are answered, or whose failure is noticed at once: an error about this
/// limit fails the test.
const LONG: Duration = Duration::from_secs(300);
/// The limit of calls that are never answered.
const SHORT: Duration = Duration::from_secs(1);
/// A watchdog for calls that do not return at their limit. The engine sleeps for longer.
const WATCHDOG: Duration = Duration::from_secs(400);

fn start(mode: &str) -> Result<Engine, EngineError> {
    start_within(mode, LONG)
}

fn start_within(mode: &str, limit: Duration) -> Result<Engine, EngineError> {
    let command = command(mode);
    let name: EngineName = "scripted".parse().unwrap();
    let device = DeviceRequest {
        kind: DeviceClass::Cpu,
        index: 0,
        uuid: None,
        pci_address: None,
    };
    StartedEngine::start(command, &name, limit)?.open(device)
}

fn command(mode: &str) -> EngineCommand {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripted.py");
    EngineCommand::program("python3").with_arguments([script.into(), mode.into()])
}

/// Starts an engine that must not start, and returns its error.
fn refused(mode: &'static str, limit: Duration) -> String {
    ends(move || start_within(mode, limit).expect_err(mode).to_string())
}

/// The result of a call that must return.
#[track_caller]
fn ends<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(call()));
    receiver.recv_timeout(WATCHDOG).expect("the call returns")
}

/// Limits for what must be started before it does not answer: a busy machine needs a longer one.
fn growing_limits() -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(SHORT), |limit| Some(*limit * 2)).take_while(|limit| *limit < LONG)
}

fn vector(values: &[f32]) -> Tensors {
    let tensor = Tensor {
        shape: vec![values.len()],
        data: TensorData::F32(values.to_vec()),
    };
    Tensors::from([
        ("left".to_owned(), tensor.clone()),
        ("right".to_owned(), tensor),
    ])
}

fn sum(engine: &Engine, values: &[f32]) -> Result<Vec<f32>, EngineError> {
    use testgen_types::Precision::F32;
    engine.compute(ComputeOperation::Add, vector(values), F32, F32)
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
fn times_are_as_many_as_requested_and_above_zero() {
    let time = |mode: &str, min_time_ms| {
        let repetitions = Repetitions {
            warmup: 2,
            iterations: 3,
            min_time_ms,
        };
        let engine = start(mode).unwrap();
        engine.time_forward(1, &Tensors::new(), repetitions)
    };
    assert_eq!(time("times", 0).unwrap(), [1.5, 9.0, 9.0]);
    assert_eq!(time("times", 20).unwrap(), [1.5, 29.0, 29.0]);
    for (mode, min_time_ms, part) in [
        (
            "times_missing",
            0,
            "2 of its 2 times are above 0, expected 3 to 3",
        ),
        (
            "times_zero",
            0,
            "2 of its 3 times are above 0, expected 3 to 3",
        ),
        // In the report these calls would have gone on for the time.
        ("times_hurried", u32::MAX, "it ended after 3 calls in"),
    ] {
        let error = time(mode, min_time_ms).expect_err(mode).to_string();
        assert!(error.contains(part), "{error}");
    }
    assert!(
        matches!(time("none", 0), Err(EngineError::Unsupported { message }) if message.contains("does not measure times"))
    );
}

#[test]
fn results_of_repeated_inputs_are_read_from_the_device_and_dropped() {
    let period = HostTensor::new([3], Element::F32, vec![1.0, 2.0, 3.0]);
    let call = PeriodicCall {
        call: Call::new(Operator::Copy, vec![period], Attributes::default()),
        shapes: vec![vec![7]],
        result: vec![7],
        fill: true,
        every: 1,
    };
    let read = |mode: &str| {
        let (engine, mut values) = (start(mode).unwrap(), Vec::new());
        let mut add = |piece: Piece<'_>| values.extend_from_slice(piece.values);
        let result = engine.repeated_operator(&call, Precision::F32, &mut add)?;
        Ok::<_, EngineError>((result.shape, values))
    };
    let expected = vec![1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0];
    assert_eq!(read("repeats").unwrap(), (vec![7], expected));
    for (mode, part) in [
        ("repeats_cut", "tensor `result` has shape [6], not [7]"),
        ("repeats_lost", "no number of a result"),
        ("operators", "engine scripted does not repeat inputs"),
    ] {
        let error = read(mode).expect_err(mode).to_string();
        assert!(error.contains(part), "{mode}: {error}");
    }
}

#[test]
fn an_engine_lists_its_devices_or_says_that_it_does_not() {
    let name: EngineName = "scripted".parse().unwrap();
    let list =
        |mode| StartedEngine::start(command(mode), &name, LONG).and_then(|engine| engine.devices());
    let listed = list("lists_devices").unwrap();
    assert_eq!(
        (listed.len(), listed[0].device.kind),
        (2, DeviceClass::Rocm)
    );
    assert_eq!(
        listed[0].device.pci_address.as_deref(),
        Some("0000:03:00.0")
    );
    assert_eq!(
        (listed[0].architecture.as_deref(), listed[0].total_memory),
        (Some("gfx950"), Some(1 << 38))
    );
    assert_eq!(
        (&listed[1].architecture, listed[1].total_memory),
        (&None, None)
    );
    for (mode, expected) in [
        ("none", "it has no call `devices`"),
        ("old_protocol", "speaks version 0"),
        ("exits", "No module"),
    ] {
        let error = list(mode).expect_err(mode).to_string();
        assert!(error.contains(expected), "{mode}: {error}");
    }
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
        let error = refused(mode, LONG);
        assert!(error.contains(part), "{mode}: no `{part}` in: {error}");
    }
}

#[test]
fn an_engine_that_does_not_answer_is_ended() {
    for mode in ["silent", "late", "never_reads"] {
        let error = refused(mode, SHORT);
        assert!(
            error.contains("did not answer `hello` within 1 s"),
            "{mode}: {error}"
        );
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
    for error in growing_limits().map(|limit| refused("grandchild", limit)) {
        assert!(error.contains("did not answer `hello`"), "{error}");
        if let Some((_, child)) = error.split_once("the child is ") {
            return assert_ends(child.lines().next().unwrap());
        }
    }
    panic!("the engine never started its child");
}

/// Waits for a killed process, which the kernel ends after `kill` has returned. One that nothing
/// waited for remains as a zombie.
#[track_caller]
fn assert_ends(process: &str) {
    let is_running = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    let begun = Instant::now();
    while is_running() {
        assert!(
            begun.elapsed() < WATCHDOG,
            "process {process} is still running"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_engine_that_never_reads_does_not_block_a_large_request() {
    let engine = growing_limits()
        .find_map(|limit| start_within("none", limit).ok())
        .expect("it starts");
    let stopped = Command::new("kill")
        .args(["-STOP", &engine.process().id().unwrap().to_string()])
        .status()
        .unwrap();
    assert!(stopped.success());
    ends(move || {
        // Far more than a pipe holds.
        let error = sum(&engine, &vec![1.0; 4 << 20]).unwrap_err();
        assert!(
            matches!(
                error,
                EngineError::TimedOut {
                    call: "compute",
                    ..
                }
            ),
            "{error}"
        );
        assert!(matches!(
            sum(&engine, &[1.0]).unwrap_err(),
            EngineError::NotRunning { .. }
        ));
    });
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
