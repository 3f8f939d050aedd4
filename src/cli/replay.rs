//! `testgen replay`: a failed call of an operator, computed again.

use super::{Out, suite_arguments::SuiteArguments, text_format::TextFormat};
use crate::{
    execution::{
        replay::{Replay, ReplayError, ReplayOptions, compute, render_human, render_json},
        run::{BuildOptions, DeviceSelection, Simulation, build},
    },
    settings::{Overrides, Settings},
};
use std::{path::PathBuf, time::Duration};
use testgen_base::{cli_error::Error, exit_code::ExitCode, progress::RunProgress};
use testgen_operators::calls::FailedCall;
use testgen_types::DeviceKind;

/// Compute a failed call of an operator again, from the file that `testgen run` wrote for it
///
/// When a check of operators fails, `testgen run` writes each failed call to a file in `failures`
/// beside its report: inputs with their layouts, expected and actual values, bounds, and the
/// kernels that ran. This command computes the call in a new process of the suite, twice: as every
/// check does, and with a wait for the device after each launch. It reports whether the result is
/// the recorded one bit by bit, another wrong one, or correct. The file can be from another
/// machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen replay target/testgen/failures/matrix-forward-rocm-f32-1.json
  testgen replay FILE --device cpu         on the host processor
  testgen replay FILE --simulate rocm      on a simulated AMD GPU
  testgen replay FILE --reduce             also writes FILE.reduced.json, with the smallest shapes that fail

Exit codes: 0 the result is correct now; 1 it is wrong, the process ended early, or the suite does not build; 2 wrong usage or input;
3 cargo or the device is missing.")]
pub(super) struct ReplayArguments {
    /// The file of the failed call
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The device that computes: cpu, cuda, rocm, or rocm:1 for one of several [default: the kind
    /// on which the call failed]
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceSelection>,
    /// Simulate AMD GPUs in software: rocm, or rocm=gfx90a. Implies --device rocm
    #[arg(long, value_name = "DEVICES")]
    simulate: Option<Simulation>,
    /// Search for the smallest shapes that fail, and write that call to a file beside FILE
    #[arg(long)]
    reduce: bool,
    /// Directory of the suite [default: `out` of testgen.toml, else generated]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Seconds after which the process is ended; the search for smaller shapes takes at most 300
    #[arg(long, value_name = "SECONDS", default_value_t = 1200, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    #[command(flatten)]
    suite: SuiteArguments,
}

pub(super) fn run(arguments: &ReplayArguments, out: &mut Out) -> Result<ExitCode, Error> {
    let failed = FailedCall::read(&arguments.file).map_err(ReplayError::from)?;
    // Before the build: only the native engine computes a call again.
    if let Some(engine) = failed.engine.clone() {
        return Err(ReplayError::OtherEngine {
            path: arguments.file.clone(),
            engine,
        }
        .into());
    }
    let settings = Settings::resolve(&Overrides {
        out: arguments.out.clone(),
        ..Overrides::default()
    })?;
    let mut progress = RunProgress::new(arguments.suite.quiet);
    let suite = build(&arguments.build_options(&settings)?, &mut progress)?;
    let options = arguments.options(&settings, &mut progress)?;
    progress.stage("computing", &failed.case);
    let replayed = compute(&suite, &arguments.file, &failed, &options)?;
    progress.end("computed", &failed.case);
    let replay = Replay::new(&arguments.file, failed, replayed)?;
    match arguments.suite.format {
        TextFormat::Human => write!(out, "{}", render_human(&replay))?,
        TextFormat::Json => write!(out, "{}", render_json(&replay))?,
    }
    Ok(if replay.is_correct() {
        ExitCode::Success
    } else {
        ExitCode::Findings
    })
}

impl ReplayArguments {
    fn build_options(&self, settings: &Settings) -> Result<BuildOptions, ReplayError> {
        // The suite is built again, so that a replay after a change does not run the code from
        // before it.
        let options = self.suite.build_options(settings, &[]);
        if options.manifest.is_file() {
            Ok(options)
        } else {
            Err(ReplayError::NoSuite {
                manifest: options.manifest,
            })
        }
    }

    fn options(
        &self,
        settings: &Settings,
        progress: &mut RunProgress,
    ) -> Result<ReplayOptions, Error> {
        let simulated = self
            .simulate
            .as_ref()
            .map(|simulation| simulation.prepare(settings, progress))
            .transpose()?;
        // Only ROCm is simulated, so the user need not name the device, too.
        let rocm = simulated.is_some().then_some(DeviceSelection {
            kind: DeviceKind::Rocm,
            index: None,
        });
        Ok(ReplayOptions {
            device: self.device.or(rocm),
            environment: simulated.unwrap_or_default(),
            reduce: self.reduce,
            limit: Duration::from_secs(self.timeout),
        })
    }
}
