//! How many harnesses are verified in a second: `cargo bench -p testgen-verify [-- SECONDS]`.

#[path = "../tests/verify/good_harness.rs"]
mod good_harness;

use std::time::{Duration, Instant};
use testgen_verify::{Source, verify_all, verify_harness};

fn main() {
    let seconds = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(3.0);
    let budget = Duration::from_secs_f64(seconds);
    let models = good_harness::models();
    let texts: Vec<String> = models.iter().map(good_harness::harness).collect();
    for (model, text) in models.iter().zip(&texts) {
        let findings = good_harness::verify(text, model);
        assert!(findings.is_empty(), "the harness is good: {findings:?}");
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{} harnesses of {} bytes on average", texts.len(), bytes / texts.len());

    let one_by_one = rate(budget, || {
        for (model, text) in models.iter().zip(&texts) {
            std::hint::black_box(verify_harness(&Source { path: good_harness::PATH, text }, Some(model)));
        }
        models.len()
    });
    println!("verify_harness: {one_by_one:.0} harnesses/s, {:.3} ms each", 1000.0 / one_by_one);

    let many: Vec<_> = (0..200).map(|number| (number % models.len(), ())).collect();
    let many: Vec<_> = many
        .iter()
        .map(|(at, ())| (Source { path: good_harness::PATH, text: &texts[*at] }, Some(&models[*at])))
        .collect();
    let at_once = rate(budget, || std::hint::black_box(verify_all(&many)).len());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("verify_all on {cores} cores: {at_once:.0} harnesses/s, peak memory {}", peak_memory());
}

/// How many per second `work` does; it says how many it did.
fn rate(budget: Duration, mut work: impl FnMut() -> usize) -> f64 {
    work();
    let (start, mut done) = (Instant::now(), 0);
    while start.elapsed() < budget {
        done += work();
    }
    done as f64 / start.elapsed().as_secs_f64()
}

/// The process's largest resident size, where the kernel tells.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |size| size.trim().to_owned())
}
