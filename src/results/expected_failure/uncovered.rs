//! Failures that no expectation covers, although it names their check.

use testgen_types::{EntryStatus, ReportEntry};

/// Why an expectation does not cover this failure of its check, or `None` if it does. `non_finite` is
/// whether it expects NaN and infinity.
pub(super) fn uncovered(non_finite: bool, entry: &ReportEntry) -> Option<&'static str> {
    if entry.status != EntryStatus::Fail {
        return None;
    }
    if entry.panicked {
        return Some("the check panicked");
    }
    // The other checks examine absent devices themselves.
    if entry.check.is_numeric() && (entry.fallback || entry.device_name.is_none()) {
        return Some("nothing ran on the device");
    }
    let lacks_numbers = !non_finite && is_non_finite(entry);
    lacks_numbers.then_some("an output is NaN or infinite, which `non_finite = true` would expect")
}

/// Whether an output above its threshold has NaN or infinity in place of a number. The check
/// `finite` has no outputs: its failure is always such a number.
fn is_non_finite(entry: &ReportEntry) -> bool {
    let mut outputs = entry.outputs.iter();
    outputs.any(|output| output.headroom < 1.0 && output.non_finite > 0)
}
