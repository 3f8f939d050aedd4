//! The table of all rules. A rule is one file below `rule/`; the docs at its top are the user's documentation.

use crate::{finding::Diagnostic, harness::Harness, rule};
use std::{fmt, sync::LazyLock};

/// A property that every harness must have.
#[derive(Debug)]
pub struct Rule {
    /// Its identity in findings.
    pub id: RuleId,
    /// Its name as users write it.
    pub name: &'static str,
    /// The requirement, in one sentence.
    pub summary: &'static str,
    /// The rationale and how to fix a violation, in Markdown.
    pub explanation: String,
    pub(crate) check: fn(&Harness<'_>) -> Vec<Diagnostic>,
}

macro_rules! registry {
    ($($id:ident = $name:ident),+ $(,)?) => {
        /// The rules by name, in the order in which they are documented.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum RuleId {
            $(
                #[doc = concat!("`", stringify!($name), "`; see [`explain`].")]
                $id,
            )+
        }

        impl RuleId {
            /// The name as users write it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$id => stringify!($name)),+ }
            }
        }

        static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| vec![
            $(Rule::new(RuleId::$id, include_str!(concat!("rule/", stringify!($name), ".rs")), rule::$name::check)),+
        ]);
    };
}

registry! {
    Parses = parses,
    Header = header,
    Imports = imports,
    Forbidden = forbidden,
    Readable = readable,
    SpecStatic = spec_static,
    Tolerances = tolerances,
    InitFunctions = init_functions,
    DetectionPaths = detection_paths,
    VisibilityReported = visibility_reported,
    FallbackMarked = fallback_marked,
    MockMarked = mock_marked,
    PrecisionFromProbe = precision_from_probe,
    MemoryReported = memory_reported,
    Handlers = handlers,
    HarnessStatic = harness_static,
    RequestModality = request_modality,
    SkippedChecks = skipped_checks,
}

/// Every rule, in the order of the documentation.
pub fn rules() -> &'static [Rule] {
    &RULES
}

/// The rule with this name.
pub fn explain(name: &str) -> Option<&'static Rule> {
    rules().iter().find(|rule| rule.name == name)
}

impl Rule {
    /// Takes summary and explanation from the docs at the top of the rule's file.
    fn new(id: RuleId, file: &'static str, check: fn(&Harness<'_>) -> Vec<Diagnostic>) -> Self {
        let lines = file.lines().map_while(|line| line.strip_prefix("//!"));
        let mut lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line));
        let summary = lines.next().unwrap_or_default();
        let explanation = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
        Self { id, name: id.as_str(), summary, explanation, check }
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
