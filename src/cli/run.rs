//! `testgen run`: generate, verify, build and run the suite.

use super::{
    Out,
    project_arguments::{ModelArguments, ProjectArguments},
};
use crate::{
    Error, ExitCode,
    expected_failure::ExpectedFailures,
    generate::{Filter, plan},
    report::{Problem, Summary, render_human},
    run::{
        BuildOptions, ChosenDevice, Execution, ExecutionOptions, Progress, Requirement, RunError, Simulation, build,
        execute, list, select, verdict,
    },
    settings::Settings,
    spec::{Count, load_all},
    verification::{Verification, render_human as render_findings, verify_suite},
};
use clap::ValueEnum;
use std::{fs, num::NonZeroU32, path::PathBuf};
use testgen_contract::DeviceKind;

/// Lines of the suite's output shown when it crashed.
const LOG_LINES_SHOWN: usize = 20;

/// Generate, verify, build and run the suite, and show what passed where
///
/// Writes the suite for all specs, stops at findings of the verifier, builds the suite with cargo and runs its checks.
/// Ends with a table of architecture, model and device: what passed, failed, was ignored and why. A check counts as
/// passed only when it left a record that says on which device it ran. The table goes to stdout, everything else to
/// stderr.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen run                                  every spec below model_specs/, on every device of this machine
  testgen run --name 'bert*' --device cpu      the checks of some models on the CPU
  testgen run --require rocm                   red unless an AMD GPU really computed
  testgen run --device rocm:1                  on the second AMD GPU
  testgen run --require cuda:2 --release       at least two NVIDIA GPUs, optimised
  testgen run --cpu-only --format json         without CUDA and ROCm, for a script
  testgen run --device rocm --simulate rocm    the ROCm path on a simulated AMD GPU

Exit codes: 0 every selected check passed or was ignored with a reason; 1 a check failed, a required device did not
run, the suite does not build, or a check left no record; 2 wrong usage or input; 3 cargo is missing.")]
pub(super) struct Arguments {
    #[command(flatten)]
    project: ProjectArguments,
    #[command(flatten)]
    models: ModelArguments,
    /// Only checks on this device: cpu, cuda, rocm, or rocm:1 for one of several; may be given several times
    #[arg(long, value_name = "DEVICE")]
    device: Vec<ChosenDevice>,
    /// Fail unless such a device computes: cpu, cuda, rocm, cuda:2 for two of them, rocm-sim for a simulated one
    #[arg(long, value_name = "DEVICE", value_delimiter = ',')]
    require: Vec<Requirement>,
    /// Simulate AMD GPUs in software: rocm, rocm=gfx90a, rocm='gfx1100;gfx90a' for two. Implies --require rocm-sim
    ///
    /// The simulator is built on first use, and only the suite sees it. Architectures are gfx1030, gfx1100, gfx90a and
    /// gfx942. Every result names its device as simulated, and no simulation counts where `rocm` is required.
    #[arg(long, value_name = "DEVICES")]
    simulate: Option<Simulation>,
    /// Where the records of the checks are kept, one JSON line each
    #[arg(long, value_name = "FILE", default_value = "target/testgen/report.jsonl")]
    report: PathBuf,
    /// How the result is shown
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Build with optimisation: slower to build, faster to run
    #[arg(long)]
    release: bool,
    /// Build without CUDA and ROCm
    #[arg(long)]
    cpu_only: bool,
    /// Show nothing but the result
    #[arg(long, short)]
    quiet: bool,
}

/// How a result is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table, and reasons beneath it
    Human,
    /// One JSON object with a version
    Json,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<ExitCode, Error> {
    let settings = arguments.project.settings()?;
    let chosen = ChosenDevice::named(&arguments.device)?;
    let filter = arguments.models.filter(arguments.device.iter().map(|device| device.kind).collect());
    let mut progress = Progress::new(arguments.quiet);
    generate(&settings, &filter, &mut progress)?;
    let verification = verify(&settings, &mut progress)?;
    if !verification.is_clean() {
        eprint!("{}", render_findings(&verification));
        return Ok(ExitCode::Findings);
    }
    let suite = build(&arguments.build_options(&settings), &mut progress)?;
    let listing = list(&suite)?;
    let selection = select(&filter, &listing);
    if selection.tests.is_empty() && !listing.is_empty() {
        return Err(RunError::NothingSelected.into());
    }
    let required = arguments.required();
    let options = arguments.execution_options(&required, chosen, &settings, &mut progress)?;
    let execution = execute(&suite, &selection, &options, &mut progress)?;
    let expected = ExpectedFailures::load(&settings)?;
    let summary = verdict(&arguments.report, &listing, &selection, &execution, &required, &expected)?;
    if summary.problems.iter().any(|problem| matches!(problem, Problem::Exit { .. })) {
        show_end_of_log(&execution);
    }
    show(arguments, &summary, out)
}

/// Writes the whole suite, whatever the filter; a filter that matches no spec is an error before anything is built.
fn generate(settings: &Settings, filter: &Filter, progress: &mut Progress) -> Result<(), Error> {
    filter.select(&load_all(&settings.specs)?)?;
    progress.stage("generating", &settings.out.display().to_string());
    let changes = plan(settings, &Filter::default(), &|_| {})?.compare()?;
    changes.write()?;
    let what = match changes.files.len() {
        0 => format!("{}, up to date", Count(changes.plan.harnesses, "model")),
        count => format!("{}, {} changed", Count(changes.plan.harnesses, "model"), Count(count, "file")),
    };
    progress.end("generated", &what);
    Ok(())
}

/// A suite that does not cover what it claims must not run: its green would mean nothing.
fn verify(settings: &Settings, progress: &mut Progress) -> Result<Verification, Error> {
    progress.stage("verifying", &settings.out.display().to_string());
    let verification = verify_suite(settings)?;
    progress
        .end("verified", &format!("{}, {}", Count(verification.files, "file"), Count(verification.count(), "finding")));
    Ok(verification)
}

impl Arguments {
    fn build_options(&self, settings: &Settings) -> BuildOptions {
        BuildOptions { manifest: settings.out.join("Cargo.toml"), release: self.release, cpu_only: self.cpu_only }
    }

    /// What was asked for; who simulates ROCm means to see it run.
    fn required(&self) -> Vec<Requirement> {
        let mut required = self.require.clone();
        if self.simulate.is_some() && !required.iter().any(|requirement| requirement.device == DeviceKind::Rocm) {
            required.push(Requirement { device: DeviceKind::Rocm, simulated: true, count: NonZeroU32::MIN });
        }
        required
    }

    fn execution_options(
        &self,
        required: &[Requirement],
        chosen: Option<String>,
        settings: &Settings,
        progress: &mut Progress,
    ) -> Result<ExecutionOptions, Error> {
        let simulation = self.simulate.as_ref().map(|simulation| simulation.prepare(settings, progress)).transpose()?;
        let required: Vec<String> = required.iter().map(Requirement::to_string).collect();
        let required = (!required.is_empty()).then(|| ("TESTGEN_REQUIRE", required.join(",").into()));
        let chosen = chosen.map(|chosen| ("TESTGEN_DEVICE", chosen.into()));
        let environment = required.into_iter().chain(chosen).chain(simulation.unwrap_or_default()).collect();
        Ok(ExecutionOptions { report: self.report.clone(), environment })
    }
}

fn show(arguments: &Arguments, summary: &Summary, out: &mut Out) -> Result<ExitCode, Error> {
    match arguments.format {
        Format::Human => {
            write!(out, "{}", render_human(summary))?;
            writeln!(out, "report: {}", arguments.report.display())?;
        }
        Format::Json => {
            let json = serde_json::to_string_pretty(summary).expect("a summary has string keys only");
            writeln!(out, "{json}")?;
        }
    }
    Ok(if summary.green { ExitCode::Success } else { ExitCode::Findings })
}

/// The last words of a crashed suite, on stderr.
fn show_end_of_log(execution: &Execution) {
    let Ok(bytes) = fs::read(&execution.log) else { return };
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    for line in lines.iter().skip(lines.len().saturating_sub(LOG_LINES_SHOWN)) {
        eprintln!("{line}");
    }
}
