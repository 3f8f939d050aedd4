//! Renders a comparison as a table for the terminal, as Markdown and as JSON.

use super::{CheckChange, ComparedSide, ReportComparison, groups::ChangeGroup};
use std::fmt::Write;
use testgen_base::text::{Align, Table, markdown_cell};

/// Rows of one change that Markdown shows.
// GitHub limits a step summary to 1 MiB.
const ROWS_SHOWN: usize = 100;

/// Models named of a group; more are only counted.
const MODELS_NAMED: usize = 3;

/// Every check that changed, many of them grouped over models; then the counts and the result.
pub fn render_human(comparison: &ReportComparison) -> String {
    let mut table = Table::new(&[
        ("change", Align::Left),
        ("check", Align::Left),
        ("first", Align::Left),
        ("second", Align::Left),
        ("why", Align::Left),
    ]);
    let groups = comparison.groups();
    for group in &groups {
        let check = group.first();
        let (first, second) = (side(check.a.as_ref()), side(check.b.as_ref()));
        let name = name(group, "");
        table.push([
            check.change.word().to_owned(),
            name,
            first,
            second,
            group.why(),
        ]);
    }
    let mut text = table.to_string();
    if groups.iter().any(|group| group.checks.len() > MODELS_NAMED) {
        text.push_str("help: `--format json` has every check of every model\n");
    }
    for problem in &comparison.problems {
        let _ = writeln!(text, "problem: {problem}");
    }
    let _ = write!(
        text,
        "\nresult: {}: {}\n",
        result(comparison),
        counts(comparison)
    );
    text.push_str(&other_arithmetic(comparison));
    if comparison.is_empty() {
        let _ = writeln!(text, "first report:  {}", devices(&comparison.devices_a));
        let _ = writeln!(text, "second report: {}", devices(&comparison.devices_b));
        text.push_str(
            "help: choose a device of each report with `--devices`, for instance `--devices cuda,rocm-sim`\n",
        );
    }
    text
}

/// One JSON object with a version.
pub fn render_json(comparison: &ReportComparison) -> String {
    format!(
        "{}\n",
        serde_json::to_string_pretty(comparison).expect("a comparison has string keys only")
    )
}

/// The test between `quotes`, or the check with its models:
/// `cpu::output_golden_f32 of 43 models: beit, bit, cvt, ...`.
fn name(group: &ChangeGroup<'_>, quotes: &str) -> String {
    let mut name = format!("{quotes}{}{quotes}", group.name());
    let models = group.models();
    if !models.is_empty() {
        let named = models
            .iter()
            .take(MODELS_NAMED)
            .copied()
            .collect::<Vec<_>>()
            .join(", ");
        let more = if models.len() > MODELS_NAMED {
            ", ..."
        } else {
            ""
        };
        let _ = write!(name, " of {} models: {named}{more}", models.len());
    }
    name
}

/// Counts, and a table of the checks that changed, many of them grouped over models, with the
/// distance of the tensor that moved furthest.
pub fn render_markdown(comparison: &ReportComparison) -> String {
    let mut text = format!("**{}**: {}\n", result(comparison), counts(comparison));
    for problem in comparison.problems.iter().take(ROWS_SHOWN) {
        let _ = write!(text, "\nproblem: {}\n", markdown_cell(problem));
    }
    if comparison.problems.len() > ROWS_SHOWN {
        let more = comparison.problems.len() - ROWS_SHOWN;
        let _ = write!(text, "\nand {more} more problems\n");
    }
    let arithmetic = other_arithmetic(comparison);
    if !arithmetic.is_empty() {
        let _ = write!(text, "\n{arithmetic}");
    }
    if comparison.is_empty() {
        let (first, second) = (
            devices(&comparison.devices_a),
            devices(&comparison.devices_b),
        );
        let _ = writeln!(
            text,
            "\nDevices: {} | {}",
            markdown_cell(&first),
            markdown_cell(&second)
        );
    }
    let groups = comparison.groups();
    if !groups.is_empty() {
        text.push_str(
            "\n| change | check | first | second | why | distance |\n|---|---|---|---|---|---|\n",
        );
    }
    // Each change has a limit, so that many rows of one do not hide another.
    for groups in groups.chunk_by(|a, b| a.first().change == b.first().change) {
        groups
            .iter()
            .take(ROWS_SHOWN)
            .for_each(|group| push_row(&mut text, group));
        if groups.len() > ROWS_SHOWN {
            let change = groups[0].first().change.word();
            let _ = writeln!(
                text,
                "| {change} | and {} more | | | | |",
                groups.len() - ROWS_SHOWN
            );
        }
    }
    text
}

fn push_row(text: &mut String, group: &ChangeGroup<'_>) {
    let check = group.first();
    let outputs = group.checks.iter().flat_map(|check| &check.outputs);
    let furthest = outputs
        .filter_map(|output| output.a_to_b)
        // One tensor represents its check: the one that moved furthest.
        .max_by(|x, y| x.max.total_cmp(&y.max));
    let distance = furthest.map_or(String::new(), |distance| {
        format!("{:.2e} to {:.2e}", distance.min, distance.max)
    });
    let _ = writeln!(
        text,
        "| {} | {} | {} | {} | {} | {distance} |",
        check.change.word(),
        markdown_cell(&name(group, "`")),
        markdown_cell(&side(check.a.as_ref())),
        markdown_cell(&side(check.b.as_ref())),
        markdown_cell(&group.why())
    );
}

fn side(side: Option<&ComparedSide>) -> String {
    side.map_or(String::new(), |side| {
        format!("{} {}", side.status.sign(), side.device)
    })
}

fn devices(devices: &[String]) -> String {
    if devices.is_empty() {
        "no devices".to_owned()
    } else {
        devices.join(", ")
    }
}

/// A line each on the checks that ran other kernels, and on those whose products were added in
/// another way, if any.
fn other_arithmetic(comparison: &ReportComparison) -> String {
    count_line(comparison.other_kernels, "ran other GPU kernels")
        + &count_line(
            comparison.other_matrix_units,
            "measured another matrix unit",
        )
}

fn count_line(count: usize, what: &str) -> String {
    match count {
        0 => String::new(),
        1 => format!("1 check {what} in the second report\n"),
        count => format!("{count} checks {what} in the second report\n"),
    }
}

fn result(comparison: &ReportComparison) -> &'static str {
    if comparison.green {
        "nothing got worse"
    } else if comparison.is_empty() {
        "NOTHING TO COMPARE"
    } else if comparison.checks.iter().any(|check| check.red) {
        "WORSE"
    } else {
        "INCOMPLETE REPORTS"
    }
}

fn counts(comparison: &ReportComparison) -> String {
    let counts = CheckChange::ALL.iter().map(|change| {
        format!(
            "{} {}",
            comparison.counts.get(change).copied().unwrap_or(0),
            change.word()
        )
    });
    counts.collect::<Vec<_>>().join(", ")
}
