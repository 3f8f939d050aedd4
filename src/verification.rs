//! Verifying a project: every template with every kind of spec, and every generated file against its spec.
//!
//! Owns: what is looked at, and the gaps that no single file can show (missing, left over, not as generated). Does not
//! own: the rules (`testgen-verify`). Reads only, but for `--fix`; shared by `testgen verify` and `testgen run`.

mod entry;
mod fix;
mod gap;
mod github;
mod junit;
mod render;
mod sarif;
mod suite;
mod synthetic;
mod template_words;
mod templates;

pub use fix::{FixedFile, fix_files, fix_project};
pub use gap::{Gap, GapKind};
pub use github::render_github;
pub use junit::render_junit;
pub use render::{render_human, render_json};
pub use sarif::render_sarif;
pub use suite::{VerificationError, verify_files, verify_project, verify_suite};

use std::collections::BTreeMap;
use testgen_verify::Finding;

/// What a verification looked at, and what it found.
#[derive(Debug, Default)]
pub struct Verification {
    /// Generated files that were read.
    pub files: usize,
    /// Harnesses that were rendered from templates to be verified.
    pub renders: usize,
    /// Broken rules in files and in what templates render.
    pub findings: Vec<Finding>,
    /// What is wrong beyond single harnesses.
    pub gaps: Vec<Gap>,
    /// The texts that findings point into, by their path.
    pub texts: BTreeMap<String, String>,
}

impl Verification {
    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.gaps.is_empty()
    }

    /// How many things were found.
    pub fn count(&self) -> usize {
        self.findings.len() + self.gaps.len()
    }
}
