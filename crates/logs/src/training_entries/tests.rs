//! The speed of logs of several trainers.

use super::{TrainingRun, training_entries};
use crate::{gpu_table::read_gpu_table, reading::read_log, summary::LogSummary};
use std::path::Path;
use testgen_types::{BenchEntry, BenchStatus, DeviceKind, Measured, Precision};

fn log(text: &str) -> LogSummary {
    read_log(Path::new("log"), text.as_bytes()).expect("it has records")
}

fn run(warmup: u32) -> TrainingRun {
    TrainingRun {
        subject: "llama".to_owned(),
        device: DeviceKind::Rocm,
        precision: Precision::Bf16,
        warmup,
    }
}

fn entries(text: &str, warmup: u32) -> Vec<BenchEntry> {
    training_entries(&log(text), &[], &run(warmup))
}

/// Measurement, milliseconds, and rate with its unit.
fn measured(entries: &[BenchEntry]) -> Vec<(Measured, Vec<f64>, (f64, &'static str))> {
    let rows = entries.iter().map(|entry| {
        let times = entry.times.as_ref().expect("it is timed");
        let rate = entry.per_second().expect("it has a rate");
        let measured = entry.measured.expect("it is measured");
        (measured, times.milliseconds.clone(), rate)
    });
    rows.collect()
}

#[test]
fn each_speed_of_a_step_is_a_line_and_the_warm_up_is_left_out() {
    let text = "[titan] step:  1  loss: 4.0  grad_norm:  2.0  memory: 31.25GiB(32.89%)  tps: 10  tflops: 1.00  mfu: 1.00%\n\
                [titan] step:  2  loss: 3.0  grad_norm:  2.0  memory: 31.25GiB(32.89%)  tps: 5,000  tflops: 400.00  mfu: 1.00%\n\
                [titan] step:  3  loss: 2.0  grad_norm:  2.0  memory: 31.25GiB(32.89%)  tps: 4,000  tflops: 500.00  mfu: 1.00%\n";
    let found = entries(text, 1);
    let expected = [
        (
            Measured::TrainTokensPerDevice,
            vec![200.0, 250.0],
            (1e3 / 0.225, "tokens/s"),
        ),
        (
            Measured::TrainTeraflop,
            vec![2.5, 2.0],
            (1.0 / 2.25e-3, "TFLOP/s"),
        ),
    ];
    assert_eq!(measured(&found), expected);
    let first = &found[0];
    assert_eq!(first.engine.as_deref(), Some("torchtitan"));
    assert_eq!(
        (first.repetitions.warmup, first.repetitions.iterations),
        (1, 2)
    );
    assert_eq!((first.architecture, &first.host), (None, &None));
    let nothing = entries(text, 3);
    assert_eq!(nothing[0].status, BenchStatus::NotTimed);
}

#[test]
fn a_speed_of_the_whole_run_and_of_lines_with_other_steps_is_found() {
    let text = "{'loss': 2.5, 'grad_norm': 1.0, 'learning_rate': 1e-05, 'epoch': 0.01}\n\
                [INFO] [timer.py:215:stop] epoch=0/micro_step=1/global_step=1, CurrSamplesPerSec=8.0\n\
                [INFO] [timer.py:215:stop] epoch=0/micro_step=2/global_step=2, CurrSamplesPerSec=10.0\n\
                {'train_runtime': 4570.4682, 'train_samples_per_second': 3.035, 'train_steps_per_second': 0.5, 'train_loss': 2.3782601956418206, 'epoch': 3.0}\n";
    let found = measured(&entries(text, 0));
    let [(step, step_times, rate), (sample, sample_times, _)] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(
        (*step, step_times.as_slice()),
        (Measured::TrainStep, [2000.0].as_slice())
    );
    assert_eq!(*rate, (0.5, "steps/s"));
    // The timer of DeepSpeed has the single steps, which the mean of the Trainer must not replace.
    assert_eq!(
        (*sample, sample_times.as_slice()),
        (Measured::TrainSample, [125.0, 100.0].as_slice())
    );
}

#[test]
fn a_loss_that_is_nan_has_no_speed() {
    let wrong = entries("iter 1: loss nan, time 2.0ms, mfu 1.00%\n", 0);
    assert_eq!((wrong.len(), wrong[0].status), (1, BenchStatus::Wrong));
    assert_eq!(
        wrong[0].reason.as_deref(),
        Some("NaN or infinite losses: 1")
    );
    assert_eq!((wrong[0].measured, &wrong[0].times), (None, &None));
    let unchecked = entries(
        "epoch=0/micro_step=1/global_step=1, CurrSamplesPerSec=8.25\n",
        0,
    );
    assert_eq!(unchecked[0].status, BenchStatus::NotTimed);
}

#[test]
fn long_logs_have_the_means_of_intervals() {
    let text: String = (0..20_000)
        .map(|step| {
            format!(
                "iter {step}: loss 2.5, time {}ms, mfu 1.00%\n",
                1 + step % 2
            )
        })
        .collect();
    let found = measured(&entries(&text, 10));
    let (_, times, _) = &found[0];
    assert!((1000..=2000).contains(&times.len()), "{}", times.len());
    assert!(times.iter().all(|time| (time - 1.5).abs() < 1e-9));
}

#[test]
fn a_table_of_gpus_names_the_device() {
    let table = "index, name, driver_version, clocks.current.sm [MHz], utilization.gpu [%]\n\
                 0, NVIDIA H100, 535.1, 1980 MHz, 98 %\n1, NVIDIA H100, 535.1, 1970 MHz, 98 %\n";
    let table = read_gpu_table(Path::new("gpus.csv"), table.as_bytes()).expect("it can be read");
    let log = log("iter 1: loss 2.0, time 2.0ms, mfu 1.00%\n");
    let found = training_entries(&log, &[table.expect("a table")], &run(0));
    let facts = found[0].device_facts.as_ref().expect("it has a name");
    assert_eq!(facts.name, "NVIDIA H100");
    assert_eq!(facts.driver_version.as_deref(), Some("535.1"));
    assert_eq!((facts.clock_mhz, facts.tf32), (Some(1975), None));
}
