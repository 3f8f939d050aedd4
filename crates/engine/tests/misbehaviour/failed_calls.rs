//! Calls that fail in the engine: whether the engine goes on depends on the failure.

use super::{start, sum};
use testgen_engine::{Engine, Tensors};

/// The error of a forward call.
fn failure(engine: &Engine) -> String {
    let result = engine.forward(1, &Tensors::new(), false);
    result.unwrap_err().to_string()
}

#[test]
fn a_process_that_dies_reports_its_last_output() {
    let engine = start("dies").unwrap();
    let error = failure(&engine);
    assert!(
        error.contains("Segmentation fault (core dumped)"),
        "{error}"
    );
    assert!(!engine.process().is_running());
    let error = failure(&engine);
    assert!(
        error.starts_with("the engine is not running: the engine ended during `forward`"),
        "{error}"
    );
}

#[test]
fn an_error_of_the_engine_leaves_it_running() {
    let engine = start("fails").unwrap();
    let error = failure(&engine);
    assert_eq!(
        error,
        "the engine failed in `forward`: out of memory after 3 tensors"
    );
    assert_eq!(sum(&engine, &[1.0]).unwrap(), [2.0]);
}

#[test]
fn memory_that_the_device_does_not_have_is_named_and_leaves_the_engine_running() {
    let engine = start("exhausted").unwrap();
    let error = failure(&engine);
    assert_eq!(
        error,
        "out of memory: the engine reports in `forward`: Tried to allocate 2.00 GiB."
    );
    assert_eq!(sum(&engine, &[1.0]).unwrap(), [2.0]);
}

#[test]
fn an_engine_that_lost_its_device_is_ended() {
    let engine = start("lost").unwrap();
    let error = failure(&engine);
    assert_eq!(
        error,
        "the engine failed in `forward` and lost its device: device-side assert triggered"
    );
    assert!(!engine.process().is_running());
}
