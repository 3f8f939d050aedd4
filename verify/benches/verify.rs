//! How many harnesses are verified in a second, and whether memory stays flat:
//! `cargo bench -p testgen-verify [-- SECONDS]`.

#[path = "../tests/verify/good_harness.rs"]
mod good_harness;

use mimalloc::MiMalloc;
use std::{
    fs,
    hint::black_box,
    thread,
    time::{Duration, Instant},
};
use testgen_verify::{Expectation, HarnessSource, verify_all, verify_harness};

/// The allocator of the command line.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Harnesses a second on two cores.
const TARGET: f64 = 1500.0;
/// The processor time of each, which other processes on the machine hardly change.
const MAX_SECONDS_EACH: f64 = 2.0 / TARGET;

fn main() {
    let seconds = std::env::args()
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(3.0);
    let budget = Duration::from_secs_f64(seconds);
    let models = good_harness::models();
    let texts: Vec<String> = models.iter().map(good_harness::harness).collect();
    for (model, text) in models.iter().zip(&texts) {
        let findings = good_harness::verify(text, model);
        assert!(findings.is_empty(), "the harness is good: {findings:?}");
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    println!(
        "{} harnesses of {} bytes on average",
        texts.len(),
        bytes / texts.len()
    );

    let questions = |count: usize| -> Vec<(HarnessSource<'_>, Option<&Expectation>)> {
        let all = models.iter().zip(&texts).cycle().take(count);
        all.map(|(model, text)| {
            (
                HarnessSource {
                    path: good_harness::PATH,
                    text,
                },
                Some(model),
            )
        })
        .collect()
    };
    let (few, many) = (questions(200), questions(2000));
    rate("one by one", budget, || {
        few.iter().for_each(|(source, expectation)| {
            drop(black_box(verify_harness(source, *expectation)))
        });
        few.len()
    });
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let at_once = rate(
        &format!("200 at once on {cores} cores, target {TARGET:.0} on two"),
        budget,
        || black_box(verify_all(&few)).len(),
    );
    let before = peak_memory();
    black_box(verify_all(&many));
    println!(
        "peak memory after 200 at once: {before}; after 2,000 at once: {}",
        peak_memory()
    );
    if let Some(seconds) = at_once {
        assert!(
            seconds < MAX_SECONDS_EACH,
            "each takes {seconds} s of processor time, {TARGET} per second need less"
        );
    }
}

/// Prints how many a second `work` does, which returns how many it did, and returns the processor
/// time of each in seconds.
fn rate(name: &str, budget: Duration, mut work: impl FnMut() -> usize) -> Option<f64> {
    work();
    let (start, used, mut done) = (Instant::now(), processor_time(), 0);
    while start.elapsed() < budget {
        done += work();
    }
    let rate = done as f64 / start.elapsed().as_secs_f64();
    let each = used
        .zip(processor_time())
        .map(|(before, after)| (after - before) / done as f64);
    let shown = each.map_or_else(
        || "unknown".to_owned(),
        |each| format!("{:.3} ms", each * 1000.0),
    );
    println!("{name}: {rate:.0} harnesses/s, {shown} of processor time each");
    each
}

/// The seconds that all threads of this process have computed, to a hundredth, where the kernel
/// reports them.
fn processor_time() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// The process's largest resident size, if the kernel reports it.
fn peak_memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |size| size.trim().to_owned())
}
