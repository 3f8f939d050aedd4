use super::{counted, device_panic_messages, device_panics, watch, within_registry};
use crate::open::subprocess_test::in_subprocess;
use std::thread;

fn panic_on(name: &str, message: &'static str) {
    let thread = thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || panic!("{message}"));
    assert!(thread.expect("a thread can be started").join().is_err());
}

#[test]
fn a_panic_on_a_device_thread_is_counted_with_its_message() {
    if !in_subprocess(
        module_path!(),
        "a_panic_on_a_device_thread_is_counted_with_its_message",
    ) {
        return;
    }
    watch();
    panic_on("DSD-test-0", "an earlier one");
    let before = device_panics();
    panic_on("DSD-test-0", "no such kernel 4711");
    assert_eq!((before, device_panics()), (1, 2));
    let messages = device_panic_messages(before);
    assert!(
        messages.len() == 1 && messages[0].starts_with("no such kernel 4711 (`"),
        "{messages:?}"
    );
}

#[test]
fn other_threads_are_not_counted() {
    watch();
    panic_on("DS-test", "not a device 4712");
    assert!(
        !device_panic_messages(0)
            .iter()
            .any(|message| message.contains("4712"))
    );
}

#[test]
fn a_location_is_printed_without_the_folder_of_the_registry() {
    let server = "/cargo/registry/src/x/cubecl-hip-0.10.0/src/compute/server.rs";
    assert_eq!(
        within_registry(server),
        "cubecl-hip-0.10.0/src/compute/server.rs"
    );
    assert_eq!(
        within_registry("runtime/src/open.rs"),
        "runtime/src/open.rs"
    );
}

#[test]
fn repeated_messages_are_counted() {
    let messages = counted(
        [
            "illegal instruction",
            "lost",
            "lost",
            "illegal instruction",
            "lost",
        ]
        .into_iter(),
    );
    assert_eq!(
        messages,
        ["illegal instruction (2 times)", "lost (3 times)"]
    );
    assert_eq!(counted(["lost"].into_iter()), ["lost"]);
}

#[cfg(any(feature = "cuda", feature = "rocm"))]
#[test]
fn of_several_panics_the_one_about_memory_is_named() {
    if !in_subprocess(
        module_path!(),
        "of_several_panics_the_one_about_memory_is_named",
    ) {
        return;
    }
    watch();
    panic_on("DSD-test-0", "out of memory: an earlier one");
    let before = device_panics();
    assert_eq!(super::out_of_memory(before), None);
    for message in [
        "Resource to exist.",
        "out of memory: 4.0 KiB were requested",
        "out of memory: another one",
    ] {
        panic_on("DSD-test-0", message);
    }
    assert_eq!(
        super::out_of_memory(before).as_deref(),
        Some("out of memory: 4.0 KiB were requested")
    );
}
