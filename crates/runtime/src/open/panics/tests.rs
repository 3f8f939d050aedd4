use super::{DevicePanic, counted, device_panic_messages, device_panics, record, watch, within_registry};
use crate::open::subprocess_test::in_subprocess;
use std::thread;

const SERVER: &str = "/cargo/registry/src/x/cubecl-hip-0.10.0/src/compute/server.rs";
const CHANNEL: &str = "/cargo/registry/src/x/cubecl-common-0.10.0/src/device/handle/channel.rs";
const TUNER: &str = "/cargo/registry/src/x/cubecl-runtime-0.10.0/src/tune/tune_benchmark.rs";

fn panic_on(name: &str, message: &'static str) {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(move || panic!("{message}"));
    assert!(thread.expect("a thread can be started").join().is_err());
}

/// The messages that remain of a list of (thread, file, message).
fn remaining(panics: &[(&str, &str, &str)]) -> Vec<String> {
    let mut seen: Vec<DevicePanic> = Vec::new();
    panics.iter().for_each(|(thread, file, message)| record(&mut seen, thread, file, (*message).to_owned()));
    seen.into_iter().map(|panic| panic.message).collect()
}

#[test]
fn a_panic_on_a_device_thread_is_counted_with_its_message() {
    if !in_subprocess(module_path!(), "a_panic_on_a_device_thread_is_counted_with_its_message") {
        return;
    }
    watch();
    panic_on("DSD-test-0", "an earlier one");
    let before = device_panics();
    panic_on("DSD-test-0", "no such kernel 4711");
    assert_eq!((before, device_panics()), (1, 2));
    let messages = device_panic_messages(before);
    assert!(messages.len() == 1 && messages[0].starts_with("no such kernel 4711 (`"), "{messages:?}");
}

#[test]
fn other_threads_are_not_counted() {
    watch();
    panic_on("DS-test", "not a device 4712");
    assert!(!device_panic_messages(0).iter().any(|message| message.contains("4712")));
}

#[test]
fn a_chain_of_the_autotuner_is_removed() {
    let chain = [
        ("DSD-0-0", SERVER, "Can't use tensor maps on HIP"),
        ("DSD-0-0", CHANNEL, "Can't have an error when submitting a task: CallError"),
        ("DSD-0-0", TUNER, "called `Result::unwrap()` on an `Err` value: CallError"),
    ];
    assert!(remaining(&chain).is_empty());
    assert!(remaining(&[chain, chain].concat()).is_empty());
    assert_eq!(remaining(&chain[..2]).len(), 2, "without its last link it is not the autotuner's");
}

#[test]
fn removing_a_chain_leaves_other_panics() {
    let real = ("DSD-0-0", SERVER, "launch failed");
    let elsewhere = ("DSD-0-1", SERVER, "other device");
    let rejected = ("DSD-0-0", SERVER, "Can't use tensor maps on HIP");
    let propagated = ("DSD-0-0", CHANNEL, "Can't have an error when submitting a task: CallError");
    let last = ("DSD-0-0", TUNER, "called `Result::unwrap()` on an `Err` value: CallError");
    assert_eq!(
        remaining(&[real, rejected, propagated, elsewhere, last, real]),
        ["launch failed", "other device", "launch failed"]
    );
    assert_eq!(remaining(&[rejected, last, real]), ["launch failed"]);
    assert_eq!(remaining(&[elsewhere, last]), ["other device"]);
}

#[test]
fn a_location_is_printed_without_the_folder_of_the_registry() {
    assert_eq!(within_registry(SERVER), "cubecl-hip-0.10.0/src/compute/server.rs");
    assert_eq!(within_registry("runtime/src/open.rs"), "runtime/src/open.rs");
}

#[test]
fn repeated_messages_are_counted() {
    let messages = counted(["illegal instruction", "lost", "lost", "illegal instruction", "lost"].into_iter());
    assert_eq!(messages, ["illegal instruction (2 times)", "lost (3 times)"]);
    assert_eq!(counted(["lost"].into_iter()), ["lost"]);
}
