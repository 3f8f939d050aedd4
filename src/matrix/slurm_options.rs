//! The keys of the `ci` section for Slurm.

use super::MatrixError;
use serde::{Deserialize, Serialize};

/// Options that the submitted jobs have already.
const TAKEN: [&str; 15] = [
    "--array",
    "--chdir",
    "--dependency",
    "--error",
    "--export",
    "--gpus",
    "--job-name",
    "--kill-on-invalid-dep",
    "--no-requeue",
    "--nodes",
    "--open-mode",
    "--output",
    "--parsable",
    "--requeue",
    "--time",
];

/// How Slurm starts a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Slurm {
    /// Further options of `sbatch`: `--partition=mi300x`, `--constraint=gfx942`, `--account=NAME`.
    pub options: Vec<String>,
    /// Environment modules to load: `rocm/6.4.1`.
    pub modules: Vec<String>,
}

impl Slurm {
    /// Whether it has no key.
    pub fn is_empty(&self) -> bool {
        self.options.is_empty() && self.modules.is_empty()
    }

    /// Checks the options and the names of modules; `key` is the table.
    pub(super) fn check(&self, key: &str) -> Result<(), MatrixError> {
        if let Some(option) = self.options.iter().find(|option| !is_option(option)) {
            let help = "write long options of sbatch as one text: `--partition=mi300x`";
            return Err(MatrixError::setting(
                format!("{key}.options"),
                format!("`{option}` is not an option"),
                help,
            ));
        }
        if let Some(option) = self.options.iter().find(|option| is_taken(option)) {
            let what = format!("`{option}` is set by the script");
            let help = "remove it; time, GPUs and slices follow from `timeout_minutes`, `gpus` and `shards`";
            return Err(MatrixError::setting(format!("{key}.options"), what, help));
        }
        if let Some(module) = self.modules.iter().find(|module| !is_module(module)) {
            let help = "write the name as `module load` takes it: `rocm/6.4.1`";
            return Err(MatrixError::setting(
                format!("{key}.modules"),
                format!("`{module}` is not a module"),
                help,
            ));
        }
        Ok(())
    }
}

fn name(option: &str) -> &str {
    option.split('=').next().unwrap_or(option)
}

/// sbatch accepts the start of an option, too.
fn is_taken(option: &str) -> bool {
    TAKEN.iter().any(|taken| taken.starts_with(name(option)))
}

fn is_option(text: &str) -> bool {
    let name = name(text);
    // An option of one letter has its value in a second word, and each text here is one word.
    let is_name = name.strip_prefix("--").is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-')
    });
    is_name && !text.chars().any(char::is_control)
}

fn is_module(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./+".contains(c))
}
