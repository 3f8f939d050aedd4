//! The names of all rules, below everything that reports a violation.

use std::fmt;

/// Calls a macro with the variant and the name of every rule, in the order in which they are
/// documented.
macro_rules! for_each_rule {
    ($callback:ident) => {
        $callback! {
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
            SkippedChecks = skipped_checks
        }
    };
}
pub(crate) use for_each_rule;

macro_rules! rule_id {
    ($($id:ident = $name:ident),+) => {
        /// The rules by name, in the order in which they are documented.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum RuleId {
            $(
                #[doc = concat!("`", stringify!($name), "`; see [`explain`](crate::explain).")]
                $id,
            )+
        }

        impl RuleId {
            /// The name as users write it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$id => stringify!($name)),+ }
            }
        }
    };
}
for_each_rule!(rule_id);

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
