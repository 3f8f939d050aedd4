//! Flags of every command that builds and runs the suite.

use super::text_format::TextFormat;
use crate::{execution::run::BuildOptions, settings::Settings};
use testgen_engine::EngineName;

/// How the suite is built, and how the result is printed.
#[derive(Debug, clap::Args)]
pub(super) struct SuiteArguments {
    /// The output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = TextFormat::Human)]
    pub(super) format: TextFormat,
    /// Build with optimisation: builds slower, runs faster
    #[arg(long)]
    pub(super) release: bool,
    /// Build without CUDA and ROCm
    #[arg(long)]
    pub(super) cpu_only: bool,
    /// Show only the result
    #[arg(long, short)]
    pub(super) quiet: bool,
}

impl SuiteArguments {
    /// The build for runs with these engines; without any the native one computes.
    pub(super) fn build_options(
        &self,
        settings: &Settings,
        engines: &[EngineName],
    ) -> BuildOptions {
        BuildOptions {
            manifest: settings.out.join("Cargo.toml"),
            release: self.release,
            cpu_only: self.cpu_only,
            engines_only: !engines.is_empty() && !engines.iter().any(EngineName::is_native),
            all_kernels: false,
        }
    }
}
