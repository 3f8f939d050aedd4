//! `testgen bench`: times of models and operators whose results agree with their reference.

use super::{
    Out,
    printed_summary::PrintedSummary,
    project_arguments::{ModelArguments, ProjectArguments},
    suite,
    suite_arguments::SuiteArguments,
    tuning_arguments::TuningArguments,
};
use crate::{
    bench::{BenchLines, BenchSummary, read_bench_lines, render_bench},
    execution::run::{
        DeviceSelection, Execution, ExecutionOptions, ProcessDevices, RunError, Selection,
        Simulation, SuitePart, Work, build, engine_variables, execute, list, models_on_devices,
        select,
    },
    settings::Settings,
    spec::load_all,
};
use std::{ffi::OsString, num::NonZeroU32, path::PathBuf};
use testgen_base::{cli_error::Error, exit_code::ExitCode, progress::RunProgress};
use testgen_engine::EngineName;
use testgen_types::{BenchRequest, Precision, Repetitions};

/// Measure how long models and operators take, after their results were checked
///
/// Builds and starts the suite as `run` does. Each model is loaded in each precision of its spec,
/// and its outputs are compared with the golden as in the check `output_golden`; operators are
/// compared with float64 as in `forward`. What is wrong, a fallback or a mock has no time. Then
/// load, first answer, forward calls of every batch and length with their products and convolutions,
/// and for models that generate the prompt and the tokens after it are timed: until the device has computed them, without copying
/// outputs to the host. An engine in another process measures in its process. The report has one
/// line for each measurement, with host, device, driver, versions and every time; what is not known
/// is null.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen bench --name bert --device cpu --release                 one model on the CPU
  testgen bench --name 'llama*' --batch 1,8,32 --tokens 128,512    a grid of sizes
  testgen bench --device cuda --engine native --engine torch       two engines, as separate rows
  testgen bench --name bert --device cuda --engine torch --starts 5   times that differ from start to start
  testgen bench --architecture operators --device rocm             each operator of the specs

Exit codes: 0 everything that could be timed agrees with its reference; 1 a result is wrong, nothing was timed, or the suite does not
build or ended early; 2 wrong usage or input; 3 cargo is missing.")]
pub(super) struct BenchArguments {
    #[command(flatten)]
    project: ProjectArguments,
    #[command(flatten)]
    models: ModelArguments,
    /// Only on this device: cpu, cuda, rocm, or rocm:1 for one of several; one device of each kind
    #[arg(long, value_name = "DEVICE")]
    device: Vec<DeviceSelection>,
    /// The engine that computes: native, torch, or with options torch/eager; can be repeated
    /// [default: `engines` of testgen.toml, else native]
    #[arg(long, value_name = "ENGINE")]
    engine: Vec<EngineName>,
    /// The Python of the engine `torch`; without it TESTGEN_PYTHON, then `python3`
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Only these precisions: f32, tf32, f16, bf16
    #[arg(long, value_name = "PRECISION", value_delimiter = ',')]
    precision: Vec<Precision>,
    /// Inputs that are computed together
    #[arg(
        long,
        value_name = "COUNT",
        value_delimiter = ',',
        default_value = "1,8"
    )]
    batch: Vec<NonZeroU32>,
    /// Tokens of each input; with an encoder-decoder, of source and target each [default: 128, or
    /// all positions of a model that has fewer]
    #[arg(long, value_name = "COUNT", value_delimiter = ',')]
    tokens: Vec<NonZeroU32>,
    /// Tokens that are generated one after another after each prompt; 0 for none
    #[arg(long, value_name = "COUNT", default_value_t = 16)]
    steps: u32,
    /// The fewest calls before the timed ones
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    warmup: u32,
    /// The fewest timed calls, and timed sequences
    #[arg(long, value_name = "COUNT", default_value = "20")]
    iterations: NonZeroU32,
    /// The time for which the warm-up, and then the timed calls, go on at least; it adds calls up to
    /// 10,000 times of a row; 0 for `--warmup` and `--iterations` alone
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 300)]
    min_time: u32,
    /// Starts of the suite, one after another; a comparison of at least three with three knows how
    /// much starts differ, which calls of one start do not show
    #[arg(long, value_name = "COUNT", default_value = "1")]
    starts: NonZeroU32,
    /// Simulate AMD GPUs in software: rocm, or rocm=gfx90a
    #[arg(long, value_name = "DEVICES")]
    simulate: Option<Simulation>,
    /// The report file, with one JSON line for each measurement
    #[arg(
        long,
        value_name = "FILE",
        default_value = "target/testgen/bench.jsonl"
    )]
    report: PathBuf,
    #[command(flatten)]
    tuning: TuningArguments,
    #[command(flatten)]
    suite: SuiteArguments,
}

pub(super) fn run(arguments: &BenchArguments, out: &mut Out) -> Result<ExitCode, Error> {
    let settings = arguments.project.settings()?;
    let kinds = arguments.device.iter().map(|device| device.kind).collect();
    let filter = arguments.models.filter(kinds);
    let [devices] = DeviceSelection::processes(&arguments.device)
        .try_into()
        // Processes of several devices run side by side, and each would slow the others down.
        .map_err(|_| RunError::TimesOnSeveralDevices)?;
    let mut progress = RunProgress::new(arguments.suite.quiet);
    // A filter that matches no spec is an error before the build.
    filter.select(&load_all(&settings.specs)?)?;
    let engines = arguments.engines(&settings);
    let tuning = arguments.tuning.variable(engines)?;
    // Before the build: times of a suite that is not proven are times of unknown work.
    if !suite::write_verified(&settings, &mut progress)? {
        return Ok(ExitCode::Findings);
    }
    let simulation = arguments.simulate.as_ref();
    let mut environment = suite::simulated_devices(simulation, &settings, &mut progress)?;
    let suite = build(
        &arguments.suite.build_options(&settings, engines),
        &mut progress,
    )?;
    environment.extend(engine_variables(engines, arguments.python.as_deref()));
    environment.extend(tuning);
    let selection = select(&filter, &list(&suite, &environment)?);
    environment.extend(arguments.variables(&selection, &devices));
    let mut part = SuitePart {
        name: None,
        selection,
        environment,
    };
    let options = ExecutionOptions {
        report: arguments.report.clone(),
        work: Work::Times,
    };
    let mut executions = Vec::new();
    let starts = arguments.starts.get();
    // One after another: processes that compute side by side would slow each other down.
    for start in 1..=starts {
        // A log for each, because the log of one that crashed must stay.
        part.name = (starts > 1).then(|| format!("start-{start}"));
        let part = std::slice::from_ref(&part);
        executions.extend(execute(&suite, part, &options, &mut progress)?);
    }
    show(arguments, executions, out)
}

impl BenchArguments {
    fn engines<'a>(&'a self, settings: &'a Settings) -> &'a [EngineName] {
        if self.engine.is_empty() {
            &settings.engines
        } else {
            &self.engine
        }
    }

    /// The variables that hold the request and name the devices.
    fn variables(
        &self,
        selection: &Selection,
        devices: &ProcessDevices,
    ) -> Vec<(&'static str, OsString)> {
        let request = self.request(models_on_devices(selection).into_iter().collect());
        let mut variables: Vec<(&'static str, OsString)> =
            vec![(BenchRequest::VARIABLE, request.into())];
        let chosen = devices.variable();
        variables.extend(chosen.map(|chosen| ("TESTGEN_DEVICE", chosen.into())));
        variables
    }

    /// The request to the suite, as JSON.
    fn request(&self, subjects: Vec<String>) -> String {
        let request = BenchRequest {
            subjects,
            precisions: self.precision.clone(),
            batches: sizes(&self.batch),
            tokens: sizes(&self.tokens),
            steps: self.steps,
            repetitions: Repetitions {
                warmup: self.warmup,
                iterations: self.iterations.get(),
                min_time_ms: self.min_time,
            },
        };
        serde_json::to_string(&request).expect("a request has string keys only")
    }
}

fn sizes(counts: &[NonZeroU32]) -> Vec<usize> {
    counts.iter().map(|count| count.get() as usize).collect()
}

/// Prints the results.
fn show(
    arguments: &BenchArguments,
    executions: Vec<Execution>,
    out: &mut Out,
) -> Result<ExitCode, Error> {
    let mut lines = BenchLines::default();
    for execution in &executions {
        let of_start = read_bench_lines(execution.report())?;
        lines.entries.extend(of_start.entries);
        lines.problems.extend(of_start.problems);
    }
    // Kept even if the report is red, because the measured times are valid.
    let problem = suite::keep_lines(executions, &arguments.report)?;
    let summary = BenchSummary::new(lines, problem).of_starts(arguments.starts.get());
    let tuned_green = arguments.tuning.report()?;
    PrintedSummary {
        summary: &summary,
        text: render_bench(&summary),
        green: summary.green && tuned_green,
        report: &arguments.report,
    }
    .print(arguments.suite.format, out)
}
