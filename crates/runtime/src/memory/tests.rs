use super::{DeviceMemory, memory};
use crate::{machine::host_processor, open::open};
use std::sync::{Mutex, PoisonError};
use testgen_nn::heap::reset_peak;

/// Held by tests that measure memory or allocate much of it: the counters count the whole process.
pub(crate) static MEASURED: Mutex<()> = Mutex::new(());

/// Large compared with the concurrent allocations of other tests in this process.
const BYTES: u64 = 512 << 20;
const SLACK: u64 = 128 << 20;

#[test]
fn the_heap_is_counted() {
    let _alone = MEASURED.lock().unwrap_or_else(PoisonError::into_inner);
    let device = open(host_processor()).expect("the CPU computes");
    let in_use = || memory(&device).in_use.expect("the heap is counted");
    reset_peak();
    let before = in_use();
    let mut block: Vec<u8> = Vec::with_capacity(BYTES as usize / 2);
    block.push(1);
    assert!(in_use().abs_diff(before + BYTES / 2) < SLACK);
    block.reserve_exact(BYTES as usize - 1);
    assert!(
        in_use().abs_diff(before + BYTES) < SLACK,
        "a reallocation is counted once"
    );
    drop(block);
    assert!(in_use().abs_diff(before) < SLACK);
    let peak = memory(&device).peak.expect("the heap is counted");
    assert!(
        peak.abs_diff(before + BYTES) < SLACK + BYTES / 2,
        "{peak} {before}"
    );
    assert!(peak >= before + BYTES);
    reset_peak();
    assert!(
        memory(&device)
            .peak
            .expect("the heap is counted")
            .abs_diff(before)
            < SLACK
    );
}

#[test]
fn the_host_has_no_reserved_memory() {
    let device = open(host_processor()).expect("the CPU computes");
    let DeviceMemory {
        total,
        free,
        reserved,
        ..
    } = memory(&device);
    assert!(total > free && free > Some(0), "{total:?} {free:?}");
    assert_eq!(reserved, None);
}

#[test]
fn unknown_sizes_are_not_printed() {
    let memory = DeviceMemory {
        total: Some(3 << 20),
        in_use: Some(1 << 19),
        ..DeviceMemory::default()
    };
    assert_eq!(memory.to_string(), "total 3.0 MiB, in use 0.5 MiB");
    assert_eq!(DeviceMemory::default().to_string(), "unknown");
}

#[test]
fn memory_that_is_held_and_not_used_is_available() {
    let memory = DeviceMemory {
        free: Some(600),
        in_use: Some(100),
        reserved: Some(500),
        ..DeviceMemory::default()
    };
    assert_eq!(memory.available(), Some(900), "a tenth is reserved");
    let uncounted = DeviceMemory {
        reserved: None,
        ..memory
    };
    assert_eq!(uncounted.available(), Some(540));
    let unknown = DeviceMemory {
        free: None,
        ..memory
    };
    assert_eq!(unknown.available(), None);
}
