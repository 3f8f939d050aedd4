//! Issues of a project that exist although each of its files may be right.

use std::fmt;
use testgen_base::cli_error::Error;

/// A kind of issue; findings have the name of a rule in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IssueKind {
    /// A spec has no harness in the suite.
    MissingHarness,
    /// A file in the suite belongs to no spec.
    LeftOver,
    /// A file around the harnesses is missing or differs. A harness that it does not list never
    /// runs.
    SuiteFile,
    /// A template cannot be rendered for a valid spec.
    TemplateRenders,
    /// A template uses an undefined variable.
    UndefinedVariable,
    /// A template receives or sets a variable that it never uses.
    UnusedVariable,
}

impl IssueKind {
    /// Every kind.
    pub const ALL: &'static [Self] = &[
        Self::MissingHarness,
        Self::LeftOver,
        Self::SuiteFile,
        Self::TemplateRenders,
        Self::UndefinedVariable,
        Self::UnusedVariable,
    ];

    /// The requirement, in one sentence.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::MissingHarness => "Every spec has a harness in the suite.",
            Self::LeftOver => "Every file of the suite belongs to a spec.",
            Self::SuiteFile => {
                "The files around the harnesses are what testgen generates, so every harness runs."
            }
            Self::TemplateRenders => "Every template can be rendered for every valid spec.",
            Self::UndefinedVariable => "A template uses only variables that are defined.",
            Self::UnusedVariable => "A template uses every variable that it receives or sets.",
        }
    }

    /// The name as users see it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MissingHarness => "missing_harness",
            Self::LeftOver => "left_over",
            Self::SuiteFile => "suite_file",
            Self::TemplateRenders => "template_renders",
            Self::UndefinedVariable => "undefined_variable",
            Self::UnusedVariable => "unused_variable",
        }
    }
}

impl fmt::Display for IssueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One issue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProjectIssue {
    /// The file that is missing, left over or different, or the template.
    pub path: String,
    /// The line that differs, counted from 1; 1 for a whole file.
    pub line: usize,
    /// The kind.
    pub kind: IssueKind,
    /// The message.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

impl ProjectIssue {
    /// `path` names the template and the spec, or is `suite` for the files around the harnesses.
    pub(super) fn does_not_render(path: String, line: usize, error: &Error) -> Self {
        let help = error
            .help()
            .unwrap_or_else(|| "fix the template".to_owned());
        Self {
            path,
            line,
            kind: IssueKind::TemplateRenders,
            message: error.to_string(),
            help,
        }
    }
}
