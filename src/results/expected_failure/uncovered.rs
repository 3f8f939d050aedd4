//! Failures that no expectation covers, although it names their check.

use super::{alternatives::Alternatives, name_pattern::NamePattern};
use testgen_types::{EntryStatus, ReportEntry};

/// The failures that an expectation is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Covered<'a> {
    /// The outputs that fail; `None` is any.
    pub(super) outputs: Option<&'a Alternatives<NamePattern>>,
    /// Whether they may be NaN or infinite.
    pub(super) non_finite: bool,
}

/// Why an expectation does not cover this failure of its check, or `None` if it does.
pub(super) fn uncovered(covered: Covered<'_>, entry: &ReportEntry) -> Option<&'static str> {
    // A pass has no outputs that failed: it is unexpected whatever the conditions are.
    if entry.status != EntryStatus::Fail {
        return None;
    }
    // A panic shows nothing of the property, and an expectation would hide the crash.
    if entry.panicked {
        return Some("the check panicked");
    }
    // The other checks examine absent devices themselves.
    if entry.check.is_numeric() && (entry.fallback || entry.device_name.is_none()) {
        return Some("nothing ran on the device");
    }
    if !covered.non_finite && is_non_finite(entry) {
        return Some("an output is NaN or infinite, which `non_finite = true` would expect");
    }
    has_other_outputs(covered.outputs, entry)
        .then_some("`outputs` does not name every output that failed")
}

/// Whether an output failed that the expectation does not name, or none that it names.
fn has_other_outputs(named: Option<&Alternatives<NamePattern>>, entry: &ReportEntry) -> bool {
    let Some(named) = named else {
        return false;
    };
    let mut failed = entry
        .outputs
        .iter()
        .filter(|output| output.headroom < 1.0)
        .peekable();
    // No output failed: the check has another reason, which `outputs` does not describe.
    failed.peek().is_none()
        || !failed.all(|output| named.any(|pattern| pattern.matches(&output.name)))
}

/// Whether an output above its threshold has NaN or infinity in place of a number. The check
/// `finite` has no outputs: its failure is always such a number.
fn is_non_finite(entry: &ReportEntry) -> bool {
    let mut outputs = entry.outputs.iter();
    outputs.any(|output| output.headroom < 1.0 && output.non_finite > 0)
}
