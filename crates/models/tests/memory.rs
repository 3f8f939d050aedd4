//! The estimates of `testgen-estimate` against the memory that models take on the host.
//!
//! A process of its own, because the counters of the heap are those of the process.

#[path = "memory/inputs.rs"]
mod inputs;

use inputs::inputs;
use std::{fs, path::Path, sync::Once};
use testgen_estimate::{Backend, CallSizes, Estimate, EstimateError};
use testgen_models::{Checkpoint, Model, load_model};
use testgen_nn::{array::Arrays, device::BackendDevice, heap, weights::Residency};
use testgen_processing::{processor::Processor, retrieval::Retrieval};
use testgen_types::Precision;

#[global_allocator]
static ALLOCATOR: heap::CountingAllocator = heap::CountingAllocator;

const PRECISIONS: [Precision; 3] = [Precision::F32, Precision::F16, Precision::Bf16];

/// The bytes of a model that was computed.
#[derive(Debug, Clone, Copy)]
struct Measured {
    weights: u64,
    cache: u64,
    /// The most that was in use, with the weights.
    peak: u64,
}

/// Loads the checkpoint and computes one call, in a session where the type has one.
fn measure(directory: &Path, precision: Precision, sizes: CallSizes) -> (Measured, Estimate) {
    let checkpoint =
        testgen_estimate::CheckpointHeaders::read(directory).expect("its header can be read");
    let estimate = checkpoint
        .estimate(Backend::Host, precision, sizes)
        .expect("it has an estimate");
    let device = BackendDevice::Cpu(Default::default());
    let inputs = inputs(directory, &checkpoint, sizes);
    // Tokenizers are not part of the weights.
    let processor = processor_bytes(directory);
    let load = || {
        load_model(
            checkpoint.model_type(),
            &Checkpoint::at(directory),
            &device,
            precision,
            Residency::Resident,
        )
        .expect("it loads")
    };
    on_every_thread(|| call(&load(), &inputs));
    let before = heap::in_use() + processor;
    let model = load();
    let weights = heap::in_use() - before;
    call(&model, &inputs);
    let base = heap::in_use();
    heap::reset_peak();
    let cache = call(&model, &inputs).saturating_sub(base);
    let peak = heap::peak() - base + weights;
    (
        Measured {
            weights,
            cache,
            peak,
        },
        estimate,
    )
}

/// Computes on each worker thread once, because products keep a buffer per thread (1 MiB) from a
/// thread's first product on, and a thread may get its first one in any call.
fn on_every_thread(compute: impl Fn() -> u64 + Sync) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(rayon::broadcast(|_| compute())));
}

fn processor_bytes(directory: &Path) -> u64 {
    let before = heap::in_use();
    let processor = Processor::open(directory).expect("it opens");
    // The model itself has a pair of tokenizers, if it searches passages.
    let retrieval = Retrieval::open(directory).expect("it opens");
    let bytes = heap::in_use() - before;
    drop((processor, retrieval));
    bytes
}

/// The bytes in use after a call with a session, while it is still there.
fn call(model: &Model, inputs: &Arrays) -> u64 {
    match model.session() {
        Ok(mut session) => {
            drop(session.advance(inputs).expect("it computes"));
            heap::in_use()
        }
        Err(_) => {
            drop(model.forward(inputs).expect("it computes"));
            heap::in_use()
        }
    }
}

/// The largest number of tokens up to `tokens` that the model has positions for.
fn fitting(directory: &Path, sizes: CallSizes) -> Option<CallSizes> {
    let checkpoint = testgen_estimate::CheckpointHeaders::read(directory).ok()?;
    match checkpoint.estimate(Backend::Host, Precision::F32, sizes) {
        Ok(_) => Some(sizes),
        Err(EstimateError::TooLong { limit, .. }) => Some(CallSizes {
            tokens: limit,
            ..sizes
        }),
        Err(_) => None,
    }
}

/// The difference of an estimate, as a part of what was measured.
fn difference(estimated: u64, measured: u64) -> f64 {
    (estimated as f64 - measured as f64) / measured.max(1) as f64
}

/// One line of the table: what was measured, and the differences in percent.
fn line(
    name: &str,
    precision: Precision,
    sizes: CallSizes,
    measured: Measured,
    estimate: Estimate,
) -> String {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let percent = |estimated, measured| 100.0 * difference(estimated, measured);
    let CallSizes { batch, tokens } = sizes;
    format!(
        "{name:24} {precision:4} {batch:4} x {tokens:4} weights {:8.1} MiB {:+7.3} %  cache {:7.2} MiB {:+6.2} %  peak {:8.1} MiB \
         {:+6.2} %  (act {:.1} ws {:.1})",
        mib(measured.weights),
        percent(estimate.weights, measured.weights),
        mib(measured.cache),
        if measured.cache < 100_000 {
            0.0
        } else {
            percent(estimate.cache, measured.cache)
        },
        mib(measured.peak),
        percent(estimate.total(), measured.peak),
        mib(estimate.activations),
        mib(estimate.workspace),
    )
}

fn directories(root: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(root)
        .expect("it is there")
        .map(|entry| entry.expect("an entry").path());
    let mut found: Vec<_> = entries
        .filter(|path| path.join("config.json").is_file())
        .collect();
    found.sort();
    found
}

fn table(root: &Path, sizes: CallSizes) -> Vec<(String, Precision, Measured, Estimate)> {
    let mut rows = Vec::new();
    for directory in directories(root) {
        let Some(sizes) = fitting(&directory, sizes) else {
            continue;
        };
        let name = directory
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for precision in PRECISIONS {
            let (measured, estimate) = measure(&directory, precision, sizes);
            println!("{}", line(&name, precision, sizes, measured, estimate));
            rows.push((name.clone(), precision, measured, estimate));
        }
    }
    rows
}

#[test]
#[ignore = "prints a table of the checkpoints below TESTGEN_CHECKPOINTS"]
fn real_widths() {
    let root = std::env::var("TESTGEN_CHECKPOINTS").expect("TESTGEN_CHECKPOINTS names a directory");
    let size = |name: &str, or| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(or)
    };
    let sizes = CallSizes {
        batch: size("BATCH", 2),
        tokens: size("TOKENS", 256),
    };
    assert!(!table(Path::new(&root), sizes).is_empty());
}

/// Bytes that may differ in every model.
const SLACK: u64 = 256 << 10;

#[test]
fn estimates_of_fixtures_are_near_what_is_measured() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let rows = table(
        &fixtures,
        CallSizes {
            batch: 32,
            tokens: 48,
        },
    );
    let is_off = |(_, _, measured, estimate): &&(String, Precision, Measured, Estimate)| {
        // Objects of a fixed size are not negligible beside models of a few kilobytes.
        let near = |estimated: u64, measured: u64, part: f64| {
            difference(estimated, measured).abs() < part || estimated.abs_diff(measured) < SLACK
        };
        !(near(estimate.weights, measured.weights, 0.1)
            && near(estimate.cache, measured.cache, 0.1)
            && near(estimate.total(), measured.peak, 0.25))
    };
    let off: Vec<_> = rows.iter().filter(is_off).collect();
    assert!(off.is_empty(), "{off:#?}");
    assert!(rows.len() > 294, "{}", rows.len());
}
