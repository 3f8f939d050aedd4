//! A fault of a simulated GPU with its expected report, and the kinds of faults.

use crate::subprocess::CacheState;
use hip_sim_fault_tests::InstallationDefect;

/// A fault and its expected report.
pub(crate) struct FaultCase {
    /// A short name, for the test and the table.
    pub(crate) name: &'static str,
    /// The defects of the installation.
    pub(crate) corruptions: &'static [InstallationDefect],
    /// The environment of the harness, which configures the simulator.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// The state of burn's caches. A warm cache hides faults of compilation.
    pub(super) cache: CacheState,
    /// The harness whose check runs.
    pub(super) harness: &'static str,
    /// The check that runs.
    pub(crate) check: &'static str,
    /// A part of the reason in the report.
    pub(crate) reason: &'static str,
}

/// A fault that the simulator injects.
pub(super) const fn injected(
    name: &'static str,
    variables: &'static [(&'static str, &'static str)],
    check: &'static str,
    reason: &'static str,
) -> FaultCase {
    FaultCase {
        name,
        corruptions: &[],
        variables,
        cache: CacheState::Warm,
        harness: BERT,
        check,
        reason,
    }
}

/// An injected fault that occurs only when kernels are compiled.
pub(super) const fn compiling(
    name: &'static str,
    variables: &'static [(&'static str, &'static str)],
    check: &'static str,
    reason: &'static str,
) -> FaultCase {
    FaultCase {
        name,
        corruptions: &[],
        variables,
        cache: CacheState::Empty,
        harness: BERT,
        check,
        reason,
    }
}

/// An injected fault of a library that convolves the images of a vision transformer.
pub(super) const fn convolution(
    name: &'static str,
    variables: &'static [(&'static str, &'static str)],
    reason: &'static str,
) -> FaultCase {
    FaultCase {
        harness: "vision::vit",
        ..injected(name, variables, "output_golden_f32@native/vendor", reason)
    }
}

/// A fault of the installation.
pub(super) const fn corrupted(
    name: &'static str,
    corruptions: &'static [InstallationDefect],
    reason: &'static str,
) -> FaultCase {
    FaultCase {
        name,
        corruptions,
        variables: &[],
        cache: CacheState::Empty,
        harness: BERT,
        check: GOLDEN,
        reason,
    }
}

/// The check of nearly all faults.
pub(super) const GOLDEN: &str = "output_golden_f32";

const BERT: &str = "encoder_only::bert";
