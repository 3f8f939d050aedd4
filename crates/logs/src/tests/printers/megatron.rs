//! The lines of Megatron, of trainers that are built on it, and of DeepSpeed.

use super::super::printed::{Printed, Printer, exponent, four, one, shortest, two};
use crate::{metric::Metric, unit::GIB};
use testgen_fuzz::Random;

fn megatron_start(random: &mut Random) -> Printer<'_> {
    Printer::new(random)
        .text(" [2026-08-22 11:10:01.123456] iteration ")
        .step(8)
        .text("/10000000 | consumed samples:          256 |")
}

fn megatron_end(line: Printer<'_>, loss: &str) -> Printed {
    let line = line
        .text(" learning rate: ")
        .number(Metric::LearningRate, 1e-3, exponent, 1.0)
        .text(loss);
    let line = line
        .number(Metric::Loss, 12.0, exponent, 1.0)
        .text(" | load_balancing_loss: 1.0E+00 | loss scale: 1.0 | ");
    line.text("number of skipped iterations:   0 | number of nan iterations: ")
        .number(Metric::NanIterations, 99.0, |n| format!("{n:3.0}"), 1.0)
        .text(" |")
        .done()
}

pub(super) fn megatron(random: &mut Random) -> Printed {
    let line = megatron_start(random)
        .text(" elapsed time per iteration (ms): ")
        .number(Metric::StepSeconds, 9e4, one, 1e-3);
    let line = line
        .text(" | throughput per GPU (TFLOP/s/GPU): ")
        .number(Metric::Tflops, 900.0, one, 1.0)
        .text(" | grad norm: ");
    let line = line.number(Metric::GradNorm, 50.0, four, 1.0).text(" |");
    megatron_end(line, " | global batch size:   256 | lm loss: ")
}

pub(super) fn megatron_deepspeed(random: &mut Random) -> Printed {
    let line = megatron_start(random)
        .text(" elapsed time per iteration (ms): ")
        .number(Metric::StepSeconds, 9e4, one, 1e-3);
    let line =
        line.text(" | samples per second: ")
            .number(Metric::SamplesPerSecond, 99.0, four, 1.0);
    let line = line.text(" | tokens per gpu per second (tgs): ").number(
        Metric::TokensPerSecondPerDevice,
        9e3,
        four,
        1.0,
    );
    let line = line
        .text(" | TFLOPs: ")
        .number(Metric::Tflops, 99.0, two, 1.0)
        .text(" |");
    megatron_end(line, " | lm loss: ")
}

pub(super) fn primus(random: &mut Random) -> Printed {
    let line = megatron_start(random)
        .text(" elapsed time per iteration (ms): ")
        .number(Metric::StepSeconds, 9e4, one, 1e-3);
    let line = line
        .text("/13364.7 | hip mem usage/free/total/usage_ratio: ")
        .number(Metric::Memory, 288.0, two, GIB)
        .any(&["GB", "GiB"]);
    let line =
        line.text("/1.0GB/2.0GB/9.0% | rocm mem usage/free/total/usage_ratio: 1.00GB/1.0GB | ");
    let line = line.any(&[
        "throughput per GPU (TFLOP/s/GPU): ",
        "compute per GPU (TFLOP/s/GPU): ",
    ]);
    let line = line
        .number(Metric::Tflops, 900.0, one, 1.0)
        .any(&["/568.0 | ", " (avg 568.0) | "]);
    let line = line.any(&[
        "tokens per GPU (tokens/s/GPU): ",
        "tokens/s/GPU inst/harmonic mean: ",
    ]);
    let line = line
        .number(Metric::TokensPerSecondPerDevice, 9e4, one, 1.0)
        .text("/9807.3 |");
    megatron_end(line, " | lm loss: ")
}

pub(super) fn gpt_neox(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text(" samples/sec: ")
        .number(Metric::SamplesPerSecond, 99.0, four, 1.0)
        .text(" | iteration ");
    let line = line
        .step(8)
        .text("/   10000 | elapsed time per iteration (ms): ")
        .number(Metric::StepSeconds, 9e4, one, 1e-3);
    let line = line
        .text(" | approx flops per GPU: ")
        .number(Metric::Tflops, 999.0, one, 1e-3)
        .text("GFLOPS |");
    megatron_end(line, " | lm_loss: ")
}

pub(super) fn deepspeed_timer(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("[INFO] [timer.py:215:stop] epoch=0/micro_step=7/global_step=")
        .step(0);
    let line = line
        .text(", RunningAvgSamplesPerSec=7.8, CurrSamplesPerSec=")
        .number(Metric::SamplesPerSecond, 99.0, shortest, 1.0);
    line.text(", MemAllocated=0.26GB, MaxMemAllocated=")
        .number(Metric::Memory, 192.0, two, GIB)
        .text("GB")
        .done()
}

pub(super) fn deepspeed_progress(random: &mut Random) -> Printed {
    let line = Printer::new(random)
        .text("[INFO] [logging.py:96:log_dist] step=")
        .step(0)
        .text(", skipped=2, lr=[");
    line.number(Metric::LearningRate, 1.0, shortest, 1.0)
        .text(", 5e-05], mom=[[0.9, 0.999]]")
        .done()
}
