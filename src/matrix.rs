//! The CI jobs that run the suite: from the specs and the `ci` section of testgen.toml to the files
//! of a CI system.
//!
//! Owns: the section, the plan of jobs, and its five output formats. Does not own: the commands
//! that jobs run (`testgen run`, `verify`, `report`). Every format is rendered from the same plan,
//! so that they cannot contradict each other.

mod error;
mod files;
mod github;
mod gitlab;
mod kubernetes;
mod plan;
mod runner_family;
mod script;
mod setting_checks;
mod settings;
mod shard_job;
mod shards;
mod slurm;
mod slurm_options;
mod structured;
mod yaml;

pub use error::MatrixError;
pub use files::{Drift, File, compare_files, write_files};
pub use plan::MatrixPlan;
pub use runner_family::RunnerFamily;
pub use settings::{Ci, CpuSettings, Runner, Tier};
pub use shard_job::ShardJob;
pub use slurm_options::Slurm;

/// A CI system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum CiFormat {
    /// GitHub Actions: two workflows
    Github,
    /// GitLab CI: a file to include
    Gitlab,
    /// Kubernetes: Indexed Jobs
    Kubernetes,
    /// Slurm: a script that submits job arrays
    Slurm,
    /// The plan itself, for other systems
    Json,
}

/// The files of a CI system; the same plan produces the same bytes.
pub fn render(plan: &MatrixPlan, format: CiFormat) -> Vec<File> {
    match format {
        CiFormat::Github => github::files(plan),
        CiFormat::Gitlab => vec![gitlab::file(plan)],
        CiFormat::Kubernetes => vec![kubernetes::file(plan)],
        CiFormat::Slurm => vec![slurm::file(plan)],
        CiFormat::Json => vec![structured::file(plan)],
    }
}
