//! `testgen kernels`: every kernel that an autotuner could choose, on every matrix product of some
//! models.

use super::{
    Out,
    printed_summary::PrintedSummary,
    project_arguments::{ModelArguments, ProjectArguments},
    suite,
    text_format::TextFormat,
};
use crate::{
    execution::run::{
        BuildOptions, DeviceSelection, Execution, ExecutionOptions, ProcessDevices, RunError,
        Selection, Simulation, SuitePart, Work, build, engine_variables, execute, list,
        models_on_gpus, select,
    },
    results::kernels::{KernelSummary, read_kernel_lines, render_kernels},
    settings::Settings,
    spec::load_all,
};
use std::{ffi::OsString, path::PathBuf};
use testgen_base::{cli_error::Error, exit_code::ExitCode, progress::RunProgress};
use testgen_engine::EngineName;

/// Compute every matrix product of some models with every kernel, and compare it with f64
///
/// The checks of the selected models run on each GPU to record their matrix products; no check is
/// reported. Then every kernel that burn's autotuner could choose computes every product, in a
/// separate process, and is compared with f64. The report has one line for each kernel and
/// product (docs/reports.md). A kernel that the rule of ordinary runs chooses and that is not
/// correct fails; others that are not correct are shown. The first build compiles these kernels.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen kernels --device cuda                   every matrix product with every kernel
  testgen kernels --device rocm --name 'llama*'   the products of some models
  testgen kernels --device cuda --kernel simple   the kernels with `simple` in their names

Exit codes: 0 the kernels that the rule chooses are correct; 1 one is not, or the suite does not build or ended early; 2 wrong usage or
input; 3 cargo is missing.")]
pub(super) struct KernelsArguments {
    #[command(flatten)]
    project: ProjectArguments,
    #[command(flatten)]
    models: ModelArguments,
    /// Only products on this device: cuda, rocm, or rocm:1 for one of several; one device of each
    /// kind
    #[arg(long, value_name = "DEVICE")]
    device: Vec<DeviceSelection>,
    /// Only kernels with this in their names
    #[arg(long, value_name = "PART")]
    kernel: Option<String>,
    /// Simulate AMD GPUs in software: rocm, or rocm=gfx90a
    #[arg(long, value_name = "DEVICES")]
    simulate: Option<Simulation>,
    /// The report file, with one JSON line for each kernel and product
    #[arg(
        long,
        value_name = "FILE",
        default_value = "target/testgen/kernels.jsonl"
    )]
    report: PathBuf,
    /// The output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = TextFormat::Human)]
    format: TextFormat,
    /// Build with optimisation: builds slower, runs faster
    #[arg(long)]
    release: bool,
    /// Show only the result
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(arguments: &KernelsArguments, out: &mut Out) -> Result<ExitCode, Error> {
    let settings = arguments.project.settings()?;
    let filter = arguments
        .models
        .filter(arguments.device.iter().map(|device| device.kind).collect());
    let [devices] = DeviceSelection::processes(&arguments.device)
        .try_into()
        .map_err(|_| RunError::KernelsOnSeveralDevices)?;
    let mut progress = RunProgress::new(arguments.quiet);
    // A filter that matches no spec is an error before the build.
    filter.select(&load_all(&settings.specs)?)?;
    if !suite::write_verified(&settings, &mut progress)? {
        return Ok(ExitCode::Findings);
    }
    let simulation = arguments.simulate.as_ref();
    let mut environment = suite::simulated_devices(simulation, &settings, &mut progress)?;
    let suite = build(&arguments.build_options(&settings), &mut progress)?;
    // The kernels are burn's, whatever engines the user chose with a variable.
    environment.extend(engine_variables(&[EngineName::native()], None));
    let selection = select(&filter, &list(&suite, &environment)?);
    environment.extend(arguments.variables(&selection, &devices)?);
    let part = SuitePart {
        name: None,
        selection,
        environment,
    };
    let options = ExecutionOptions {
        report: arguments.report.clone(),
        work: Work::Kernels,
    };
    let executions = execute(&suite, &[part], &options, &mut progress)?;
    show(arguments, executions, out)
}

impl KernelsArguments {
    /// How the suite is built: with the kernels that no other command needs.
    fn build_options(&self, settings: &Settings) -> BuildOptions {
        BuildOptions {
            manifest: settings.out.join("Cargo.toml"),
            release: self.release,
            cpu_only: false,
            engines_only: false,
            all_kernels: true,
        }
    }

    /// The variables that name the models, the kernels and the devices.
    fn variables(
        &self,
        selection: &Selection,
        devices: &ProcessDevices,
    ) -> Result<Vec<(&'static str, OsString)>, RunError> {
        let kernel = self.kernel.clone().unwrap_or_default();
        let mut variables: Vec<(&'static str, OsString)> = vec![
            ("TESTGEN_KERNELS", models(selection)?.into()),
            ("TESTGEN_KERNELS_NAMED", kernel.into()),
        ];
        let chosen = devices.variable();
        variables.extend(chosen.map(|chosen| ("TESTGEN_DEVICE", chosen.into())));
        Ok(variables)
    }
}

/// The models whose products are computed.
fn models(selection: &Selection) -> Result<String, RunError> {
    let models: Vec<String> = models_on_gpus(selection).into_iter().collect();
    if models.is_empty() {
        Err(RunError::NoGpuSelected)
    } else {
        Ok(models.join(","))
    }
}

/// Prints the results. The lines come from one process.
fn show(
    arguments: &KernelsArguments,
    executions: Vec<Execution>,
    out: &mut Out,
) -> Result<ExitCode, Error> {
    let lines = executions
        .first()
        .map(|execution| read_kernel_lines(execution.report()))
        .transpose()?;
    let problem = suite::keep_lines(executions, &arguments.report)?;
    let summary = KernelSummary::new(lines.unwrap_or_default(), problem);
    PrintedSummary {
        summary: &summary,
        text: render_kernels(&summary),
        green: summary.green,
        report: &arguments.report,
    }
    .print(arguments.format, out)
}
