//! The test binary of a suite: every check of every harness is one test that passes, fails, or is
//! ignored with a reason.
//!
//! Owns: listing, devices, locks, the report and the exit code. Does not own: the checks. The
//! checks of a missing device are ignored, never passed; if the device is required, they fail.

#[cfg(all(feature = "all_kernels", any(feature = "cuda", feature = "rocm")))]
mod all_kernels;
mod bench;
mod device_selection;
mod devices;
mod engines;
mod environment;
mod limits;
mod locks;
mod precompile;
mod replay;
mod room;
mod trial;

use crate::{check::CheckContext, harness::Harness, require::RequiredDevices};
use environment::{Environment, IgnoredMode};
use libtest_mimic::{Arguments, Trial};
use std::{num::NonZero, path::Path, process::ExitCode, sync::Arc, thread};
use testgen_device::DeviceIndex;
use testgen_engine::EngineName;
use testgen_types::{Registration, ReportEntry};

/// Runs the checks of `harnesses` that the command line selects. Exit codes: 0 no failure, 101 a
/// failure, 2 an invalid environment variable or argument.
///
/// `manifest_dir` is the suite's directory at build time; `CARGO_MANIFEST_DIR` at run time takes
/// precedence.
pub fn main(harnesses: &[&'static Harness], manifest_dir: &str) -> ExitCode {
    // Started again by a suite, as the engine of a library.
    #[cfg(feature = "operators")]
    if let Some(exit) = testgen_libraries::serve_if_requested() {
        return exit;
    }
    let arguments = Arguments::from_args();
    let environment = match Environment::read(harnesses, manifest_dir, arguments.list) {
        Ok(environment) => Arc::new(environment),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    // Before the other modes: a process that `bench` starts to compile inherits the variable of
    // `bench`.
    if precompile::is_worker() {
        return precompile::work(&environment, harnesses);
    }
    if let Some(exit) = replay::run(&environment) {
        return exit;
    }
    if let Some(exit) = bench::run(harnesses, &environment) {
        return exit;
    }
    #[cfg(all(feature = "all_kernels", any(feature = "cuda", feature = "rocm")))]
    if let Some(exit) = all_kernels::run(harnesses, &environment) {
        return exit;
    }
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    // As many engines compute at once as there are test threads.
    testgen_engine::share_processors(arguments.test_threads.unwrap_or(processors));
    // cargo-nextest runs a process for each check.
    if !arguments.list && environment.ignored_mode == IgnoredMode::AtRun {
        precompile::run(&environment, harnesses, |harness, check| {
            is_selected(&arguments, &trial::name_of(harness, check))
        });
    }
    libtest_mimic::run(&arguments, trials(harnesses, &environment)).exit_code()
}

/// The tests of all harnesses.
fn trials(harnesses: &[&'static Harness], environment: &Arc<Environment>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for harness in harnesses {
        for (registration, engine) in planned(harness, &environment.engines) {
            trials.push(trial::trial(environment, harness, registration, engine));
        }
    }
    trials
}

/// The checks of a harness, each on every engine that has it.
fn planned(harness: &Harness, engines: &[EngineName]) -> Vec<(Registration, EngineName)> {
    let every = harness
        .required()
        .into_iter()
        .flat_map(|check| engines.iter().map(move |engine| (check, engine.clone())));
    let processes = engines.iter().filter(|engine| !engine.is_native());
    let of_engines = harness.required_of_engines();
    every
        .chain(processes.flat_map(|engine| of_engines.iter().map(|check| (*check, engine.clone()))))
        .collect()
}

/// Whether the filters of the command line select the test, as libtest applies them.
fn is_selected(arguments: &Arguments, name: &str) -> bool {
    let (filter, mut skip) = (arguments.filter.as_ref(), arguments.skip.iter());
    filter.is_none_or(|filter| matches(name, filter, arguments.exact))
        && !skip.any(|filter| matches(name, filter, arguments.exact))
}

fn matches(name: &str, filter: &str, exact: bool) -> bool {
    if exact {
        name == filter
    } else {
        name.contains(filter)
    }
}

/// Runs one check as the suite does, with the checkpoint below `base`, and returns its report
/// entry. Requires no device and writes no report; detecting a missing device is left to the
/// harness.
pub fn run_check(harness: &Harness, registration: Registration, base: &Path) -> ReportEntry {
    let (checkpoint, requirements) = (
        harness.spec.subject.checkpoint(base),
        &RequiredDevices::default(),
    );
    let context = CheckContext {
        checkpoint,
        requirements,
        index: DeviceIndex::Auto,
        engine: EngineName::native(),
    };
    trial::run(harness, registration, base, &context).0
}

#[cfg(test)]
mod tests {
    use super::{Arguments, is_selected};

    #[test]
    fn tests_are_selected_as_libtest_selects_them() {
        let selected = |arguments: &[&str], name| {
            is_selected(
                &Arguments::from_iter(["suite"].iter().chain(arguments)),
                name,
            )
        };
        assert!(selected(&[], "vision::vit::rocm::finite_f32"));
        assert!(selected(&["vit::rocm"], "vision::vit::rocm::finite_f32"));
        assert!(!selected(
            &["vit::rocm", "--exact"],
            "vision::vit::rocm::finite_f32"
        ));
        assert!(!selected(
            &["vit::rocm", "--skip", "finite"],
            "vision::vit::rocm::finite_f32"
        ));
        assert!(!selected(&["bert"], "vision::vit::rocm::finite_f32"));
    }
}
