//! `testgen run`: generate, verify, build and run the suite.

use super::{
    Out,
    printed_summary::PrintedSummary,
    project_arguments::{ModelArguments, ProjectArguments},
    suite,
    suite_arguments::SuiteArguments,
    tuning_arguments::TuningArguments,
};
use crate::{
    execution::run::{
        DeviceSelection, Execution, ExecutionOptions, Listing, ProcessDevices, Run, RunError,
        Selection, Simulation, SoakTime, SuitePart, Work, build, engine_variables, execute,
        failures_variable, keep_reports, list, only_stress, select, stress_variables, summarize,
    },
    generate::SpecFilter,
    report::render_human,
    results::{
        expected_failure::ExpectedFailures,
        read::{ReportProblem, Summary},
    },
    settings::Settings,
    spec::{LoadedSpec, load_all},
};
use std::{ffi::OsString, num::NonZeroU32, path::PathBuf};
use testgen_base::{cli_error::Error, exit_code::ExitCode, progress::RunProgress};
use testgen_engine::EngineName;
use testgen_types::{DeviceKind, Requirement};

/// Generate, verify, build and run the suite, and show the results by model and device
///
/// Writes the suite for all specs, stops at findings of the verifier, builds the suite with cargo
/// and runs its checks. The result is a table of architecture, model and device with the numbers of
/// passed, failed and ignored checks, followed by the reasons. A check counts as passed only when
/// its report entry names the device on which it ran. The table goes to stdout, everything else to
/// stderr.
///
/// Suites outside a cargo workspace share one build directory, `build` below TESTGEN_CACHE, else
/// below the user's cache directory, so that only the first one compiles burn. CARGO_TARGET_DIR,
/// cargo's configuration and an existing `target` directory of the suite take precedence.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen run                                  every spec below model_specs/, on every device of this machine
  testgen run --name 'bert*' --device cpu      the checks of some models on the CPU
  testgen run --require rocm                   fails unless a check passed on an AMD GPU
  testgen run --device rocm:1                  on the second AMD GPU
  testgen run --device rocm:0 --device rocm:1  on two AMD GPUs at the same time, as separate columns
  testgen run --require cuda:2 --release       at least two NVIDIA GPUs, optimised build
  testgen run --cpu-only --format json         without CUDA and ROCm, for a script
  testgen run --device rocm --simulate rocm    the ROCm path on a simulated AMD GPU
  testgen run --device cuda --stress           operators on the sizes of reported faults, and long texts
  testgen run --engine native --engine torch   also with PyTorch, as separate columns
  testgen run --engine native/vendor --tune tuned.jsonl   with the fastest correct algorithms of cuBLAS or rocBLAS
  testgen run --engine onnxruntime             exported graphs with ONNX Runtime (see `testgen export`)

Exit codes: 0 every selected check passed or was ignored with a reason; 1 a check failed, a required device did not
run, no engine computed a model, the suite does not build, or a check has no report entry; 2 wrong usage or input; 3 cargo is missing.")]
pub(super) struct RunArguments {
    #[command(flatten)]
    project: ProjectArguments,
    #[command(flatten)]
    models: ModelArguments,
    /// Only checks on this device: cpu, cuda, rocm, or rocm:1 for one of several; can be repeated
    ///
    /// Several devices of a kind run at the same time, each in a separate process, and are
    /// separate columns of the report.
    #[arg(long, value_name = "DEVICE")]
    device: Vec<DeviceSelection>,
    /// The engine that computes: native, torch, onnxruntime, or with options torch/eager; can be
    /// repeated [default: `engines` of testgen.toml, else native]
    ///
    /// `torch` runs the models with transformers and PyTorch in a Python process. Its options are
    /// eager, sdpa and flash_attention_2 (attention), compile and tf32. `onnxruntime` runs
    /// `model.onnx` of the checkpoint, or the graph that `testgen export` wrote. Its options are
    /// cpu, cuda, migraphx and rocm (execution provider), unoptimized and tf32. Another name needs
    /// the variable TESTGEN_ENGINE_<NAME>, the path of a program that speaks the protocol of
    /// docs/engines.md.
    #[arg(long, value_name = "ENGINE")]
    engine: Vec<EngineName>,
    /// The Python of the engines `torch` and `onnxruntime`; without it TESTGEN_PYTHON, then
    /// `python3`
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Fail unless a check that compares outputs passes on this device: cpu, cuda, rocm, cuda:2 for
    /// two of them, rocm-sim for a simulation
    #[arg(long, value_name = "DEVICE", value_delimiter = ',')]
    require: Vec<Requirement>,
    /// Simulate AMD GPUs in software: rocm, rocm=gfx90a, rocm='gfx1100;gfx90a' for two. Implies
    /// --require rocm-sim
    ///
    /// The simulator is built on first use and visible to the suite only. Architectures are
    /// gfx1030, gfx1100, gfx90a and gfx942. Every result marks its device as simulated, and a
    /// simulation never meets the requirement `rocm`.
    #[arg(long, value_name = "DEVICES")]
    simulate: Option<Simulation>,
    /// Only the checks that take minutes, `stress` of operators and `long_text` of decoders; other
    /// runs ignore them
    ///
    /// `stress` needs no weights: the sizes of reported faults, thousands of terms and tokens,
    /// hundreds of thousands of rows, more than 2^31 elements; into memory that holds NaN, again
    /// after other work, and on two streams at once. `long_text` reads as many tokens as the model
    /// has positions, up to 32768. A case that does not fit into the free memory, and on the CPU
    /// one that takes too long, is not run; the report names it with the estimate
    /// (docs/operators.md).
    #[arg(long)]
    stress: bool,
    /// After the first run of all cases, repeat them for this time, on two streams at once: 90s,
    /// 10m, 2h
    ///
    /// The time is divided among the checks of a device. Each repetition must have the bits of the
    /// first run.
    #[arg(long, value_name = "TIME", requires = "stress")]
    soak: Option<SoakTime>,
    /// The report file, with one JSON line for each check
    #[arg(
        long,
        value_name = "FILE",
        default_value = "target/testgen/report.jsonl"
    )]
    report: PathBuf,
    #[command(flatten)]
    tuning: TuningArguments,
    #[command(flatten)]
    suite: SuiteArguments,
}

pub(super) fn run(arguments: &RunArguments, out: &mut Out) -> Result<ExitCode, Error> {
    let settings = arguments.project.settings()?;
    let filter = arguments
        .models
        .filter(arguments.device.iter().map(|device| device.kind).collect());
    let engines = arguments.engines(&settings);
    let mut progress = RunProgress::new(arguments.suite.quiet);
    let required = arguments.required();
    // Before anything is written or built, which takes minutes.
    Requirement::confirm_distinct(&required).map_err(RunError::Requirement)?;
    confirm_computed(&filter.select(&load_all(&settings.specs)?)?, engines)?;
    let tuning = arguments.tuning.variable(engines)?;
    if !suite::write_verified(&settings, &mut progress)? {
        return Ok(ExitCode::Findings);
    }
    // Before the build, which takes minutes: a simulation can be impossible.
    let simulation = arguments.simulate.as_ref();
    let mut environment = suite::simulated_devices(simulation, &settings, &mut progress)?;
    let suite = build(
        &arguments.suite.build_options(&settings, engines),
        &mut progress,
    )?;
    let engines = engine_variables(engines, arguments.python.as_deref());
    // With the variables of the engines, which are part of the names of tests.
    let listing = list(&suite, &engines)?;
    arguments.confirm_selected(&filter, &listing)?;
    environment.extend(engines);
    environment.extend(required_variable(&required));
    environment.extend(tuning);
    environment.push(failures_variable(&arguments.report)?);
    let parts = parts(arguments, &listing, &environment);
    let options = ExecutionOptions {
        report: arguments.report.clone(),
        work: Work::Checks,
    };
    let executions = execute(&suite, &parts, &options, &mut progress)?;
    let run = Run {
        listing: &listing,
        parts: &parts,
        executions: &executions,
        required: &required,
    };
    let summary = summarize(&run, &ExpectedFailures::of_project(&settings)?)?;
    show(arguments, &summary, executions, out)
}

/// Keeps the reports of the processes, and prints the summary.
fn show(
    arguments: &RunArguments,
    summary: &Summary,
    executions: Vec<Execution>,
    out: &mut Out,
) -> Result<ExitCode, Error> {
    let logs = keep_reports(executions, &arguments.report)?;
    // The end of a log says why a process died; otherwise the summary says more.
    if has_crashed(summary) {
        logs.iter().for_each(|log| suite::show_end(log));
    }
    let tuned_green = arguments.tuning.report()?;
    PrintedSummary {
        summary,
        text: render_human(summary),
        green: summary.green && tuned_green,
        report: &arguments.report,
    }
    .print(arguments.suite.format, out)
}

/// Whether a process of the suite ended with an error.
fn has_crashed(summary: &Summary) -> bool {
    summary
        .problems
        .iter()
        .any(|problem| matches!(problem, ReportProblem::Exit { .. }))
}

/// The processes of the run: one, or one for each device of a kind.
fn parts(
    arguments: &RunArguments,
    listing: &Listing,
    environment: &[(&'static str, OsString)],
) -> Vec<SuitePart> {
    let processes = DeviceSelection::processes(&arguments.device);
    let several = processes.len() > 1;
    processes
        .into_iter()
        .map(|devices| SuitePart {
            // For the name of its log alone: the reports of all processes become one.
            name: devices.file_name().filter(|_| several),
            ..part(arguments, devices, listing, environment)
        })
        .collect()
}

/// The process for `devices`, without a name.
fn part(
    arguments: &RunArguments,
    devices: ProcessDevices,
    listing: &Listing,
    environment: &[(&'static str, OsString)],
) -> SuitePart {
    let chosen = devices
        .variable()
        .map(|chosen| ("TESTGEN_DEVICE", chosen.into()));
    let selection = arguments.selection(&arguments.models.filter(devices.kinds), listing);
    let stress = if arguments.stress {
        stress_variables(&selection, arguments.soak)
    } else {
        Vec::new()
    };
    SuitePart {
        name: None,
        selection,
        environment: environment
            .iter()
            .cloned()
            .chain(chosen)
            .chain(stress)
            .collect(),
    }
}

/// The variable of the suite's processes that requires devices.
fn required_variable(required: &[Requirement]) -> Option<(&'static str, OsString)> {
    let required: Vec<String> = required.iter().map(Requirement::to_string).collect();
    // The suite compares the number of devices, because an entry of a report names one of them.
    (!required.is_empty()).then(|| ("TESTGEN_REQUIRE", required.join(",").into()))
}

/// A run whose checks of a model are all ignored would be green without a number of it.
fn confirm_computed(selected: &[&LoadedSpec], engines: &[EngineName]) -> Result<(), RunError> {
    // Another engine computes types that have no native network.
    if engines.iter().any(|engine| !engine.is_native()) {
        return Ok(());
    }
    let lacking = selected
        .iter()
        .filter_map(|loaded| Some((loaded, loaded.spec.subject.model()?.model_type)))
        .filter(|(_, model_type)| model_type.native().is_none())
        .map(|(loaded, model_type)| (loaded.spec.name.to_string(), model_type.to_string()));
    let (models, mut types): (Vec<String>, Vec<String>) = lacking.unzip();
    types.sort();
    types.dedup();
    if models.is_empty() {
        Ok(())
    } else {
        Err(RunError::NotComputed { models, types })
    }
}

impl RunArguments {
    /// The engines of the command line, else of the project.
    fn engines<'a>(&'a self, settings: &'a Settings) -> &'a [EngineName] {
        if self.engine.is_empty() {
            &settings.engines
        } else {
            &self.engine
        }
    }

    /// Fails if the filter leaves no test of a suite.
    fn confirm_selected(&self, filter: &SpecFilter, listing: &Listing) -> Result<(), RunError> {
        // An empty suite is not the filter's fault; `summarize` reports it as a problem.
        if self.selection(filter, listing).tests.is_empty() && !listing.is_empty() {
            return Err(RunError::NothingSelected);
        }
        Ok(())
    }

    /// The tests that a filter selects; with `--stress` the stress tests alone.
    fn selection(&self, filter: &SpecFilter, listing: &Listing) -> Selection {
        let selected = select(filter, listing);
        if self.stress {
            only_stress(selected)
        } else {
            selected
        }
    }

    /// The required devices. `--simulate` implies that the simulation is one of them.
    fn required(&self) -> Vec<Requirement> {
        let mut required = self.require.clone();
        // A requirement of the user for the same kind is kept: it can be stricter.
        if self.simulate.is_some()
            && !required
                .iter()
                .any(|requirement| requirement.device == DeviceKind::Rocm)
        {
            required.push(Requirement {
                device: DeviceKind::Rocm,
                simulated: true,
                count: NonZeroU32::MIN,
            });
        }
        required
    }
}
