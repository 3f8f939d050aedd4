//! Verifies a project: every template with every kind of spec, and every generated file against its
//! spec.
//!
//! Owns: the selection of files, and the issues that no single file can show (missing, left over,
//! not as generated). Does not own: the rules (`testgen-verify`). Only reads, except with `--fix`;
//! shared by `testgen verify` and `testgen run`.

mod entry;
mod fix;
mod github;
mod junit;
mod project_issue;
mod render;
mod sarif;
mod suite;
mod synthetic;
mod template_variables;
mod templates;

pub use fix::{FixedFile, fix_files, fix_project};
pub use github::render_github;
pub use junit::render_junit;
pub use project_issue::{IssueKind, ProjectIssue};
pub use render::{render_human, render_json};
pub use sarif::render_sarif;
pub use suite::{VerificationError, verify_files, verify_project, verify_suite};

use std::collections::BTreeMap;
use testgen_verify::Finding;

/// The result of a verification.
#[derive(Debug, Default)]
pub struct Verification {
    /// The number of generated files that were read.
    pub files: usize,
    /// The number of harnesses that were rendered from templates to be verified.
    pub renders: usize,
    /// Violations of rules in files and in rendered templates.
    pub findings: Vec<Finding>,
    /// Issues of the project as a whole.
    pub issues: Vec<ProjectIssue>,
    /// The texts that findings refer to, by their path.
    pub texts: BTreeMap<String, String>,
}

impl Verification {
    /// Whether there are no findings and no issues.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.issues.is_empty()
    }

    /// The number of findings and issues.
    pub fn count(&self) -> usize {
        self.findings.len() + self.issues.len()
    }
}
