//! Renders one failed check for a terminal.

use crate::results::read::RanOn;
use testgen_base::text::push_line;
use testgen_types::{ErrorsOverDepth, OutputError, ReportEntry};

/// Tensors shown for one failure.
// The trace of a deep model has hundreds.
const TENSORS_SHOWN: usize = 8;

/// The name of the test, its reason, the device, the errors over depth, and for every tensor outside its threshold the
/// error and the worst elements. Indented by two spaces, ends with a line break.
pub fn render_failure(entry: &ReportEntry) -> String {
    let mut text = format!("  {}\n", entry.test_name());
    for line in entry.reason.as_deref().unwrap_or("no reason given").lines() {
        push_line(&mut text, format_args!("    {line}"));
    }
    if let Some(ran_on) = ran_on(entry) {
        // Equal devices have one name, so the index is shown if there is one.
        let index = entry
            .device_index
            .map_or_else(String::new, |index| format!("{}:{index}, ", entry.device));
        push_line(&mut text, format_args!("    ran on {index}{ran_on}"));
    }
    if let Some(errors) = ErrorsOverDepth::new(&entry.layers) {
        push_line(&mut text, format_args!("    layers: {}", errors.describe()));
    }
    let outside: Vec<&OutputError> = entry
        .outputs
        .iter()
        .filter(|output| output.is_outside())
        .collect();
    for output in outside.iter().take(TENSORS_SHOWN) {
        push_output(&mut text, output);
    }
    if outside.len() > TENSORS_SHOWN {
        push_line(
            &mut text,
            format_args!(
                "    and {} more tensors, see the report",
                outside.len() - TENSORS_SHOWN
            ),
        );
    }
    text
}

fn ran_on(entry: &ReportEntry) -> Option<String> {
    let ReportEntry {
        simulated,
        tf32,
        fallback,
        mock,
        ..
    } = *entry;
    (entry.device_name.is_some() || mock).then(|| {
        RanOn {
            name: entry.device_name.clone(),
            simulated,
            tf32,
            fallback,
            mock,
        }
        .describe()
    })
}

fn push_output(text: &mut String, output: &OutputError) {
    let OutputError {
        name,
        rel_l2,
        max_rel,
        rel_l2_threshold,
        max_rel_threshold,
        headroom,
        worst,
        ..
    } = output;
    push_line(
        text,
        format_args!(
            "    {name}: rel_l2 {rel_l2:.2e} (allowed {rel_l2_threshold:.2e}), max_rel {max_rel:.2e} (allowed \
             {max_rel_threshold:.2e}), headroom {headroom:.3}"
        ),
    );
    for element in worst {
        push_line(
            text,
            format_args!(
                "      {:?} expected {}, got {}",
                element.index, element.expected, element.got
            ),
        );
    }
}
