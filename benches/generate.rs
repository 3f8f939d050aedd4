//! Time of generating one file, the whole corpus, one call of the binary, and the same for 300
//! specs.
//!
//! `cargo bench -p testgen --bench generate` prints median and 95th percentile with their targets.
//! It only writes to temporary directories. `cargo test --benches` runs one round, to test that the
//! benchmark still works.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;
use testgen::{
    generate::{HarnessExpectation, SpecFilter, SuiteLayout, plan},
    settings::Settings,
    spec::load_all,
    template::Templates,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let rounds = if std::env::args().any(|argument| argument == "--bench") {
        30
    } else {
        1
    };
    match run(rounds) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(rounds: usize) -> Result<()> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = settings(repository);
    let many = TempDir::new()?;
    write_specs(many.path(), 300)?;
    println!("{:<46} {:>10} {:>10} {:>10}", "", "median", "p95", "target");
    one_file(&own, rounds)?;
    for (name, settings) in [
        ("this repository", &own),
        ("300 specs", &settings(many.path())),
    ] {
        let count = load_all(&settings.specs)
            .map_err(|error| error.to_string())?
            .len();
        let mut times = Vec::new();
        for _ in 0..rounds {
            let start = Instant::now();
            plan(settings, &SpecFilter::default(), &|_| {}).map_err(|error| error.to_string())?;
            times.push(start.elapsed());
        }
        report(
            &format!("corpus in memory: {name}, {count} specs"),
            &mut times,
            Duration::from_millis(500),
        );
        let out = TempDir::new()?;
        call(settings, out.path())?;
        let mut times = (0..rounds)
            .map(|_| call(settings, out.path()))
            .collect::<Result<Vec<_>>>()?;
        let target = if count > 100 {
            Duration::from_millis(500)
        } else {
            Duration::from_millis(15)
        };
        report(&format!("call of the binary: {name}"), &mut times, target);
    }
    Ok(())
}

fn settings(directory: &Path) -> Settings {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let runtime = Some(testgen::settings::Runtime::Path(repository.join("runtime")));
    Settings {
        specs: directory.join("model_specs"),
        out: directory.join("generated"),
        templates: None,
        runtime,
        engines: Vec::new(),
    }
}

/// Render, parse and format: each harness as the only one of its call, and as one of the corpus.
fn one_file(settings: &Settings, rounds: usize) -> Result<()> {
    let specs = load_all(&settings.specs).map_err(|error| error.to_string())?;
    let layout = SuiteLayout::new(settings)?;
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let shared = Templates::load(None)?;
        for loaded in &specs {
            let own = Templates::load(None)?;
            for (templates, times) in [(&own, &mut alone), (&shared, &mut together)] {
                let start = Instant::now();
                let text = HarnessExpectation::render(loaded, &layout, templates)
                    .map_err(|error| error.to_string())?;
                times.push(start.elapsed());
                std::hint::black_box(text);
            }
        }
    }
    report(
        "render, parse and format one file of a corpus",
        &mut together,
        Duration::from_millis(1),
    );
    report(
        "the same, the only file of a call",
        &mut alone,
        Duration::from_millis(5),
    );
    Ok(())
}

/// One whole process that finds everything up to date.
fn call(settings: &Settings, out: &Path) -> Result<Duration> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_testgen"));
    command
        .arg("generate")
        .arg("--specs")
        .arg(&settings.specs)
        .arg("--out")
        .arg(out)
        .stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status()?;
    let time = start.elapsed();
    if status.success() {
        Ok(time)
    } else {
        Err(format!("testgen ended with {status}").into())
    }
}

fn write_specs(directory: &Path, count: usize) -> Result<()> {
    let kinds = [
        ("bert", "encoder_only", "text_embedding"),
        ("llama", "decoder_only", "text_generation"),
        ("vit", "vision", "image_classification"),
    ];
    for (index, (model_type, architecture, task)) in (0..count).zip(kinds.into_iter().cycle()) {
        let name = format!("{model_type}_{index}");
        let path: PathBuf = directory
            .join("model_specs")
            .join(architecture)
            .join(format!("{name}.yaml"));
        fs::create_dir_all(path.parent().unwrap_or(directory))?;
        let text = format!(
            "name: {name}\nmodel_type: {model_type}\narchitecture: {architecture}\ntask: {task}\ncheckpoint:\n  \
             fixture: {name}\ndevices: [cpu, cuda, rocm]\nprecisions: [f32, f16, bf16]\n"
        );
        fs::write(path, text)?;
    }
    Ok(())
}

fn report(name: &str, times: &mut [Duration], target: Duration) {
    times.sort_unstable();
    let at = |share: f64| {
        times
            .get(((times.len() - 1) as f64 * share) as usize)
            .copied()
            .unwrap_or_default()
    };
    let milliseconds = |time: Duration| format!("{:.3} ms", time.as_secs_f64() * 1000.0);
    let (median, p95) = (at(0.5), at(0.95));
    let mark = if median < target { "" } else { "  TOO SLOW" };
    let target = format!("< {} ms", target.as_millis());
    println!(
        "{name:<46} {:>10} {:>10} {target:>10}{mark}",
        milliseconds(median),
        milliseconds(p95)
    );
}
