//! Reports of times that are alike, slower, wrong, or of other configurations.

use super::*;
use crate::bench::lines::tests::entry;
use testgen_types::{BenchDevice, BenchHost, BenchTimes, DeviceKind, Repetitions};

/// A report with one entry.
fn report(entry: BenchEntry) -> BenchLines {
    BenchLines {
        entries: vec![entry],
        problems: Vec::new(),
    }
}

/// Forty calls around `median` milliseconds.
fn timed(median: f64) -> BenchEntry {
    let calls = (0..40).map(|call| median * (1.0 + f64::from(call % 5 - 2) / 100.0));
    BenchEntry {
        times: BenchTimes::new(calls.collect()),
        ..entry()
    }
}

fn compare(earlier: BenchEntry, later: BenchEntry) -> SpeedComparison {
    let options = SpeedOptions {
        fail_slower: Some(1.1),
        ..SpeedOptions::default()
    };
    SpeedComparison::new(&report(earlier), &report(later), &options)
}

#[test]
fn slower_work_is_red_from_the_ratio_on() {
    let change = |median: f64| {
        let comparison = compare(timed(10.0), timed(median));
        let row = &comparison.rows[0];
        (row.change, row.red, comparison.green)
    };
    assert_eq!(change(10.0), (SpeedChange::Same, false, true));
    assert_eq!(change(10.15), (SpeedChange::Same, false, true));
    assert_eq!(change(9.85), (SpeedChange::Same, false, true));
    assert_eq!(change(10.8), (SpeedChange::Slower, false, true));
    assert_eq!(change(12.0), (SpeedChange::Slower, true, false));
    assert_eq!(change(8.0), (SpeedChange::Faster, false, true));
    let once = |median: f64| BenchEntry {
        times: BenchTimes::new(vec![median]),
        ..entry()
    };
    let comparison = compare(once(10.0), once(20.0));
    assert_eq!(comparison.rows[0].change, SpeedChange::Unknown);
    assert!(comparison.green, "one call is not evidence of anything");
}

#[test]
fn other_configurations_are_refused_with_the_field() {
    let entry = timed(10.0);
    let facts = entry.device_facts.clone().expect("it has a device");
    let host = entry.host.clone().expect("it has a host");
    let with_facts = |facts: BenchDevice| BenchEntry {
        device_facts: Some(facts),
        ..timed(10.0)
    };
    let others = [
        (
            "config",
            BenchEntry {
                config: Some("ff".to_owned()),
                ..timed(10.0)
            },
        ),
        (
            "warmup",
            BenchEntry {
                repetitions: Repetitions {
                    warmup: 9,
                    ..entry.repetitions
                },
                ..timed(10.0)
            },
        ),
        (
            "min_time_ms",
            BenchEntry {
                repetitions: Repetitions {
                    min_time_ms: 300,
                    ..entry.repetitions
                },
                ..timed(10.0)
            },
        ),
        (
            "steps",
            BenchEntry {
                steps: Some(7),
                ..timed(10.0)
            },
        ),
        (
            "tf32",
            with_facts(BenchDevice {
                tf32: Some(true),
                ..facts.clone()
            }),
        ),
        (
            "optimised",
            BenchEntry {
                optimised: false,
                ..timed(10.0)
            },
        ),
        (
            "device_name",
            with_facts(BenchDevice {
                name: "Xeon".to_owned(),
                ..facts
            }),
        ),
        (
            "processors",
            BenchEntry {
                host: Some(BenchHost {
                    processors: Some(64),
                    ..host.clone()
                }),
                ..timed(10.0)
            },
        ),
        (
            "processor",
            BenchEntry {
                host: Some(BenchHost {
                    processor: "Xeon".to_owned(),
                    ..host.clone()
                }),
                ..timed(10.0)
            },
        ),
    ];
    for (field, other) in others {
        let comparison = compare(entry.clone(), other.clone());
        assert!(comparison.rows.is_empty() && !comparison.green, "{field}");
        assert_eq!(comparison.refused[0].field, field);
        // Two runs of one report, too.
        let mut both = report(entry.clone());
        both.entries.push(other);
        let within = SpeedComparison::new(&both, &report(entry.clone()), &SpeedOptions::default());
        assert_eq!(within.refused[0].field, field);
    }
}

#[test]
fn a_wrong_result_has_no_speed() {
    let wrong = BenchEntry {
        status: BenchStatus::Wrong,
        measured: None,
        times: None,
        reason: Some("`logits` is off".to_owned()),
        ..entry()
    };
    let comparison = compare(timed(10.0), wrong);
    assert!(comparison.rows.is_empty() && !comparison.green);
    assert_eq!(comparison.wrong[0].reason, "`logits` is off");
    // Nothing in common is not "nothing is slower".
    let other = BenchEntry {
        batch: Some(7),
        ..timed(10.0)
    };
    let comparison = compare(timed(10.0), other);
    assert!(!comparison.green);
    assert_eq!(
        [comparison.only_earlier.len(), comparison.only_later.len()],
        [1, 1]
    );
}

#[test]
fn two_devices_and_two_engines_are_compared_if_they_are_named() {
    let facts = entry().device_facts.expect("it has a device");
    let rocm = BenchEntry {
        device: DeviceKind::Rocm,
        device_facts: Some(BenchDevice {
            name: "MI300X".to_owned(),
            ..facts
        }),
        host: Some(BenchHost {
            processor: "Xeon".to_owned(),
            processors: None,
            load: None,
        }),
        ..timed(5.0)
    };
    let torch = BenchEntry {
        engine: Some("torch".to_owned()),
        optimised: false,
        ..timed(5.0)
    };
    for (choice, other) in [("rocm", rocm), ("cpu@torch", torch)] {
        let without = compare(timed(10.0), other.clone());
        assert!(without.rows.is_empty(), "{choice}");
        let pair = DevicePair {
            a: "cpu".parse().expect("is valid"),
            b: choice.parse().expect("is valid"),
        };
        let options = SpeedOptions {
            devices: Some(pair),
            fail_slower: None,
        };
        let comparison = SpeedComparison::new(&report(timed(10.0)), &report(other), &options);
        assert_eq!(comparison.rows[0].change, SpeedChange::Faster, "{choice}");
        assert!((comparison.rows[0].ratio.ratio - 0.5).abs() < 1e-9);
        assert!(comparison.green && comparison.rows[0].later.device.starts_with(choice));
    }
}

#[test]
fn trainers_of_two_devices_are_compared() {
    let trained = |device, trainer: &str, median| BenchEntry {
        device,
        device_facts: None,
        host: None,
        architecture: None,
        engine: Some(trainer.to_owned()),
        measured: Some(testgen_types::Measured::TrainStep),
        ..timed(median)
    };
    let cuda = trained(DeviceKind::Cuda, "Megatron-LM", 10.0);
    let rocm = trained(DeviceKind::Rocm, "Primus", 8.0);
    let options = SpeedOptions {
        devices: Some(DevicePair {
            a: "cuda".parse().expect("is valid"),
            b: "rocm".parse().expect("is valid"),
        }),
        fail_slower: None,
    };
    let comparison = SpeedComparison::new(&report(cuda), &report(rocm), &options);
    let [row] = comparison.rows.as_slice() else {
        panic!("{comparison:?}");
    };
    assert!((row.ratio.ratio - 0.8).abs() < 1e-9 && comparison.green);
    assert_eq!(row.later.device, "rocm@Primus");
}
