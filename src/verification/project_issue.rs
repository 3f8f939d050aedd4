//! What is wrong with a project although each of its files may be right.

use crate::Error;
use std::fmt;

/// A kind of gap; its name stands where a finding has its rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GapKind {
    /// A spec has no harness in the suite.
    MissingHarness,
    /// A file in the suite belongs to no spec.
    LeftOver,
    /// A file around the harnesses is missing or differs: a harness that it does not list never runs.
    SuiteFile,
    /// A template cannot be rendered for a spec that is right.
    TemplateRenders,
    /// A template uses a variable that nobody gives it.
    UndefinedVariable,
    /// A template is given or sets a variable that it never uses.
    UnusedVariable,
}

impl GapKind {
    /// Every kind.
    pub const ALL: &'static [Self] = &[
        Self::MissingHarness,
        Self::LeftOver,
        Self::SuiteFile,
        Self::TemplateRenders,
        Self::UndefinedVariable,
        Self::UnusedVariable,
    ];

    /// What holds where there is no such gap, in one sentence.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::MissingHarness => "Every spec has a harness in the suite.",
            Self::LeftOver => "Every file of the suite belongs to a spec.",
            Self::SuiteFile => "The files around the harnesses are what testgen generates, so every harness runs.",
            Self::TemplateRenders => "Every template can be rendered for every spec that is right.",
            Self::UndefinedVariable => "A template uses no variable that nobody gives it.",
            Self::UnusedVariable => "A template uses every variable that it is given or sets.",
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

impl fmt::Display for GapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One gap.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// The file that is missing, left over or different, or the template.
    pub path: String,
    /// The line that differs, from 1; 1 for a whole file.
    pub line: usize,
    /// What kind of gap.
    pub kind: GapKind,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub help: String,
}

impl Gap {
    /// `path` says which template for which spec, or `suite` for the files around the harnesses.
    pub(super) fn does_not_render(path: String, line: usize, error: &Error) -> Self {
        let help = error.help().unwrap_or_else(|| "mend the template".to_owned());
        Self { path, line, kind: GapKind::TemplateRenders, message: error.to_string(), help }
    }
}
