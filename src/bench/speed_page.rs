//! Times as one self-contained HTML page without scripts: plots of throughput with their numbers,
//! what has no point, and the comparison with a base.

use super::{
    comparison::SpeedComparison,
    comparison_text::{COLUMNS, cells, others, result as result_of_comparison},
    digits::digits,
    human::{head, result, without_time},
    plot_svg::{sample, svg},
    summary::BenchSummary,
    throughput::{SpeedPlot, plots},
};
use std::{collections::BTreeSet, fmt::Write};
use testgen_base::{page::assemble, text::xml_escape};
use testgen_types::BenchStatus;

const TEMPLATE: &str = include_str!("speed_page/page.html");
const STYLE: &str = include_str!("speed_page/plots.css");

/// The page of a report of times, with its comparison with a base if there is one.
pub fn render_speed_page(summary: &BenchSummary, comparison: Option<&SpeedComparison>) -> String {
    let template = TEMPLATE.replace("/*PLOTS*/", STYLE);
    // The body is inserted last, so that no name in it is taken for a placeholder.
    assemble(&template, &[], &()).replace("<!--BODY-->", &body(summary, comparison))
}

fn body(summary: &BenchSummary, comparison: Option<&SpeedComparison>) -> String {
    let mut text = format!(
        "<h1>Speed</h1>\n<pre>{}{}</pre>\n",
        xml_escape(&head(summary)),
        xml_escape(&result(summary))
    );
    let plots = plots(&summary.entries);
    if plots.is_empty() {
        text.push_str(
            "<p>No work was timed in several sizes, so that there is nothing to plot. \
             <code>testgen bench --batch 1,8,32 --tokens 128,512</code> times a grid.</p>\n",
        );
    } else {
        text.push_str(
            "<p class=\"hint\">Throughput from the median of the times. The bars are from the time \
             that 95 % of the calls stay below to the time that 5 % stay below. Sizes are spaced by \
             their logarithm.</p>\n",
        );
    }
    for (number, plot) in (1..).zip(&plots) {
        text.push_str(&section(plot, number));
    }
    text.push_str(&without_points(summary));
    if let Some(comparison) = comparison {
        text.push_str(&comparison_table(comparison));
    }
    text
}

/// A plot with its legend and its numbers.
fn section(plot: &SpeedPlot, number: usize) -> String {
    let legend: String = plot
        .lines
        .iter()
        .enumerate()
        .map(|(index, line)| format!("<li>{} {}</li>\n", sample(index), xml_escape(&line.name)))
        .collect();
    format!(
        "<section><h2>{}</h2>\n<figure>\n{}</figure>\n<ol class=\"legend\">\n{legend}</ol>\n\
         <details><summary>Numbers</summary>\n{}</details></section>\n",
        xml_escape(&plot.work.to_string()),
        svg(plot, number),
        numbers(plot)
    )
}

/// A row for each point of a plot.
fn numbers(plot: &SpeedPlot) -> String {
    let (size, unit) = (plot.work.over.name(), plot.work.unit);
    let mut rows = Vec::new();
    for line in &plot.lines {
        for point in &line.points {
            rows.push(vec![
                line.name.clone(),
                point.size.to_string(),
                digits(point.rate),
                digits(point.low),
                digits(point.high),
                point.calls.to_string(),
            ]);
        }
    }
    let heading = ["line", size, unit, "at p95", "at p5", "calls"];
    table(&heading, &rows)
}

fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let heading: Vec<String> = heading.iter().map(|name| (*name).to_owned()).collect();
    let mut text = format!(
        "<div class=\"scroll\"><table><thead><tr>{}</tr></thead><tbody>\n",
        elements("th", &heading)
    );
    for row in rows {
        let _ = writeln!(text, "<tr>{}</tr>", elements("td", row));
    }
    text.push_str("</tbody></table></div>\n");
    text
}

/// Cells of a row, each an element `name`.
fn elements(name: &str, cells: &[String]) -> String {
    let cells = cells.iter();
    cells
        .map(|cell| format!("<{name}>{}</{name}>", xml_escape(cell)))
        .collect()
}

/// The work that is wrong, the work that was not timed, and problems of the report.
fn without_points(summary: &BenchSummary) -> String {
    let mut text = String::new();
    for (status, title) in [
        (BenchStatus::Wrong, "Wrong, and therefore without a point"),
        (BenchStatus::NotTimed, "Not timed"),
    ] {
        let entries = summary.entries.iter();
        let lines: BTreeSet<String> = entries
            .filter(|entry| entry.status == status)
            .map(without_time)
            .collect();
        if !lines.is_empty() {
            let lines: String = lines.into_iter().collect();
            let _ = writeln!(text, "<h2>{title}</h2>\n<pre>{}</pre>", xml_escape(&lines));
        }
    }
    for problem in &summary.problems {
        let _ = writeln!(text, "<p>problem: {}</p>", xml_escape(problem));
    }
    text
}

/// The ratios to the base.
fn comparison_table(comparison: &SpeedComparison) -> String {
    let rows: Vec<Vec<String>> = comparison
        .rows
        .iter()
        .map(|row| cells(row).to_vec())
        .collect();
    format!(
        "<h2>Compared with the base</h2>\n{}<pre>{}{}</pre>\n",
        table(&COLUMNS.map(|(name, _)| name), &rows),
        xml_escape(&others(comparison)),
        xml_escape(&result_of_comparison(comparison))
    )
}

#[cfg(test)]
mod tests {
    use super::{BenchStatus, BenchSummary, render_speed_page};
    use crate::bench::lines::{BenchLines, tests::entry};
    use testgen_types::{BenchEntry, BenchTimes};

    fn page(entries: Vec<BenchEntry>) -> String {
        let lines = BenchLines {
            entries,
            problems: Vec::new(),
        };
        render_speed_page(&BenchSummary::new(lines, None), None)
    }

    fn forward(engine: Option<&str>, batch: usize, milliseconds: &[f64]) -> BenchEntry {
        BenchEntry {
            engine: engine.map(str::to_owned),
            batch: Some(batch),
            times: BenchTimes::new(milliseconds.to_vec()),
            ..entry()
        }
    }

    /// The part of a page from the first plot on.
    fn plots_of(page: &str) -> &str {
        let start = page.find("<section>").expect("it has a plot");
        &page[start..page.rfind("</main>").expect("it has an end")]
    }

    #[test]
    fn a_plot_has_lines_error_bars_units_and_a_text() {
        let entries = || {
            vec![
                forward(None, 1, &[2.0, 2.5, 4.0]),
                forward(None, 4, &[5.0, 5.5, 6.0]),
                forward(Some("torch/<eager>"), 1, &[1.0, 1.0, 2.0]),
                forward(Some("torch/<eager>"), 4, &[3.0, 3.0, 3.0]),
            ]
        };
        let first = page(entries());
        for part in [
            "<title id=\"plot-1-title\">Throughput of bert: forward over batch, 128 tokens</title>",
            "Line 1, cpu native f32 (AMD EPYC), in tokens/s: 51200 at batch 1, 93091 at batch 4.",
            "Line 2, cpu torch/&lt;eager&gt; f32 (AMD EPYC), in tokens/s: 128000 at batch 1",
            "d=\"M112.4 220.8L623.6 162.6\"",
            ">batch (inputs)</text>",
            ">throughput (tokens/s)</text>",
            ">200000</text>",
            "<td>cpu torch/&lt;eager&gt; f32 (AMD EPYC)</td><td>4</td><td>170667</td>",
        ] {
            assert!(first.contains(part), "no `{part}` in:\n{first}");
        }
        assert_eq!(first.matches("class=\"bar line-").count(), 4, "{first}");
        // In any order, and every time the same.
        let reversed = page(entries().into_iter().rev().collect());
        assert_eq!(plots_of(&first), plots_of(&reversed));
        assert!(!first.contains("<script") && !first.contains("<eager>"));
        assert!(first.contains("prefers-color-scheme: dark"));
    }

    #[test]
    fn wrong_work_is_listed_and_has_no_point() {
        let wrong = BenchEntry {
            status: BenchStatus::Wrong,
            reason: Some("`logits`: furthest off at [0]".to_owned()),
            times: None,
            ..forward(None, 2, &[])
        };
        let text = page(vec![
            forward(None, 1, &[2.0]),
            forward(None, 2, &[3.0]),
            forward(None, 4, &[4.0]),
            wrong,
        ]);
        assert_eq!(text.matches("class=\"bar line-0\"").count(), 2, "{text}");
        assert!(text.contains("Wrong, and therefore without a point"));
        assert!(text.contains("furthest off at [0]"));
    }

    #[test]
    fn one_size_is_not_a_plot() {
        let text = page(vec![forward(None, 1, &[2.0])]);
        assert!(text.contains("nothing to plot") && !text.contains("<svg"));
    }
}
