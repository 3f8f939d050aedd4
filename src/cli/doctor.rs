//! `testgen doctor`: whether this machine can produce valid results.

mod devices;
mod native;

use super::{Out, text_format::TextFormat};
use crate::settings::{Overrides, Settings};
use std::{path::PathBuf, time::Duration};
use testgen_base::{cli_error::Error, exit_code::ExitCode};
use testgen_doctor::{
    ComputationOptions, Diagnosis, RowStatus, compute, evaluate, evaluate_computations,
    evaluate_requirements, gather,
};
use testgen_engine::EngineName;
use testgen_types::Requirement;

/// Report whether this machine can produce valid results, and compute known answers on every device
///
/// Reads drivers, libraries and their versions, kernel modules, the permissions of device files,
/// signs of a container, visible-device variables, the packages of Python and free memory. Then
/// every installed engine computes on every device: products and a sum of small integers, which
/// must be exact, and a copy, bit by bit. The native engine is the test binary that `testgen run`
/// has built: its check `half_probe` computes on every device.
///
/// Each line has a status. `ok` works; `note` is absent or unused; `warning` may make results wrong
/// or missing; `failure` does. Warnings and failures have their cause and the command that fixes
/// it.
///
/// With `--devices` it computes nothing and lists the devices, and why burn cannot use one: it
/// searches the HIP runtime, the CUDA driver, a CUDA compatibility layer, and the kernel's own list
/// of devices for comparison, with driver and runtime versions, gfx or compute capability, memory,
/// the visible-device variables and their effect, and contradictions.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen doctor                               all lines
  testgen doctor --format json                 the same for a script, with a version
  testgen doctor --python .venv/bin/python     with the torch of this Python
  testgen doctor --require rocm                fails unless an engine computed known answers on an AMD GPU
  testgen doctor --engine torch                one engine only
  testgen doctor --devices                     the devices, without computing
  testgen doctor --devices --require cuda:8    before a job that needs eight NVIDIA GPUs

Exit codes: 0 no failure; 1 a failure, or a required device without known answers, or with --devices one that burn cannot use; 2 wrong usage or input.")]
pub(super) struct DoctorArguments {
    /// Compute nothing, and list the devices
    #[arg(long, conflicts_with_all = ["engine", "python", "out", "timeout"])]
    devices: bool,
    /// The output format; JSON is one object with a version
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = TextFormat::Human)]
    format: TextFormat,
    /// Compute with this engine only: native, torch, onnxruntime, or the name in a variable
    /// TESTGEN_ENGINE_<NAME>; may be given several times
    #[arg(long, value_name = "ENGINE", value_delimiter = ',')]
    engine: Vec<EngineName>,
    /// The Python of the engines torch and onnxruntime; without it TESTGEN_PYTHON, then `python3`
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Fail unless an engine computed known answers on it, or with --devices unless burn can use
    /// it: cpu, cuda, rocm, cuda:2 for two of them, rocm-sim for a simulation
    #[arg(long, value_name = "DEVICE", value_delimiter = ',')]
    require: Vec<Requirement>,
    /// Directory of the suite [default: `out` of testgen.toml, else generated]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Seconds that one call of an engine, one start of Python, or the test binary on one device
    /// may take
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
}

pub(super) fn run(arguments: &DoctorArguments, out: &mut Out) -> Result<ExitCode, Error> {
    if arguments.devices {
        return devices::show(&arguments.require, arguments.format, out);
    }
    let settings = Settings::resolve(&Overrides {
        out: arguments.out.clone(),
        ..Overrides::default()
    })?;
    let options = ComputationOptions {
        engines: arguments.engine.clone(),
        python: arguments.python.clone().map(PathBuf::into_os_string),
        limit: Duration::from_secs(arguments.timeout),
    };
    let with_native =
        arguments.engine.is_empty() || arguments.engine.iter().any(EngineName::is_native);
    let facts = gather(options.python.as_deref(), options.limit, with_native);
    let mut rows = evaluate(&facts);
    let manifest = settings.out.join("Cargo.toml");
    // A closure, because the crate of the doctor knows neither suites nor how they are started.
    let computations = compute(&facts, &options, |devices| {
        native::compute(devices, &manifest, options.limit)
    });
    rows.extend(evaluate_computations(&computations));
    // After the computations, whose answers meet a requirement.
    rows.extend(evaluate_requirements(&arguments.require, &computations));
    let diagnosis = Diagnosis::new(rows);
    match arguments.format {
        TextFormat::Human => write!(out, "{diagnosis}")?,
        TextFormat::Json => {
            let json =
                serde_json::to_string_pretty(&diagnosis).expect("a diagnosis has string keys only");
            writeln!(out, "{json}")?;
        }
    }
    // As with `--devices`: nothing kept this command from answering, and the answer is no.
    Ok(if diagnosis.status == RowStatus::Failure {
        ExitCode::Findings
    } else {
        ExitCode::Success
    })
}
