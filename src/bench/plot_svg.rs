//! A plot of throughput as SVG: grid, axes with their units, lines, points with error bars, and a
//! text for those who do not see it.
//!
//! Every line has its own dashes, shape of points and number, so that none is distinguished by
//! colour alone. Colours are of the page's style.

use super::{
    digits::digits,
    plot_axis::{RateAxis, SizeAxis},
    throughput::{SpeedLine, SpeedPlot, SpeedPoint},
};
use std::fmt::Write;
use testgen_base::text::xml_escape;

const WIDTH: f64 = 680.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 28.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 48.0;
/// Half of the width of the ends of an error bar.
const BAR: f64 = 4.0;
/// Lines after these have the style of an earlier one, and another number.
// As many as `plots.css` has classes `line-0` to `line-5`, and `point` has shapes.
const STYLES: usize = 6;

/// The plot with the number `number` of its page.
pub(super) fn svg(plot: &SpeedPlot, number: usize) -> String {
    let frame = PlotFrame::new(plot);
    let mut text = format!(
        "<svg role=\"img\" aria-labelledby=\"plot-{number}-title plot-{number}-text\" \
         viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\">\n\
         <title id=\"plot-{number}-title\">Throughput of {}</title>\n\
         <desc id=\"plot-{number}-text\">{}</desc>\n",
        xml_escape(&plot.work.to_string()),
        xml_escape(&description(plot))
    );
    text.push_str(&frame.grid());
    text.push_str(&axes(plot));
    for (index, line) in plot.lines.iter().enumerate() {
        text.push_str(&frame.line(line, index));
    }
    text.push_str("</svg>\n");
    text
}

/// A sample of the line with this index, for a legend.
pub(super) fn sample(index: usize) -> String {
    let style = index % STYLES;
    format!(
        "<svg aria-hidden=\"true\" width=\"44\" height=\"14\"><path class=\"line line-{style}\" \
         d=\"M2 7H42\"/>{}</svg>",
        point([22.0, 7.0], style)
    )
}

/// All numbers of a plot in sentences.
fn description(plot: &SpeedPlot) -> String {
    let mut text = String::new();
    for (index, line) in plot.lines.iter().enumerate() {
        let points = line.points.iter().map(|point| {
            format!(
                "{} at {} {}",
                digits(point.rate),
                plot.work.over.name(),
                point.size
            )
        });
        let _ = write!(
            text,
            "{}Line {}, {}, in {}: {}.",
            if index == 0 { "" } else { " " },
            index + 1,
            line.name,
            plot.work.unit,
            points.collect::<Vec<_>>().join(", ")
        );
    }
    text
}

/// The names of both axes.
fn axes(plot: &SpeedPlot) -> String {
    let (middle, center) = (LEFT + (WIDTH - LEFT - RIGHT) / 2.0, (HEIGHT - BOTTOM) / 2.0);
    format!(
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
         <text x=\"14\" y=\"{center}\" text-anchor=\"middle\" \
         transform=\"rotate(-90 14 {center})\">throughput ({})</text>\n",
        HEIGHT - 8.0,
        plot.work.over.axis(),
        plot.work.unit
    )
}

/// The places of sizes and rates in a plot.
struct PlotFrame {
    sizes: SizeAxis,
    rates: RateAxis,
}

impl PlotFrame {
    fn new(plot: &SpeedPlot) -> Self {
        let points = || plot.lines.iter().flat_map(|line| &line.points);
        Self {
            sizes: SizeAxis::new(points().map(|point| point.size).collect()),
            // Up to the ends of the error bars, which are above their points.
            rates: RateAxis::new(points().map(|point| point.high).fold(0.0, f64::max)),
        }
    }

    fn x(&self, size: usize) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * self.sizes.place(size)
    }

    fn y(&self, rate: f64) -> f64 {
        // SVG counts from the top.
        TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - self.rates.place(rate))
    }

    /// Lines at the labels of both axes.
    fn grid(&self) -> String {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let mut text = String::new();
        for (rate, label) in self.rates.labels() {
            let y = self.y(rate);
            let _ = writeln!(
                text,
                "<path class=\"axis\" d=\"M{LEFT} {y:.1}H{right}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                LEFT - 6.0,
                // SVG places a text by its baseline, so half of a digit's height is added.
                y + 4.0
            );
        }
        for size in self.sizes.labels() {
            let x = self.x(size);
            let _ = writeln!(
                text,
                "<path class=\"axis\" d=\"M{x:.1} {TOP}V{bottom}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{size}</text>",
                bottom + 16.0
            );
        }
        text
    }

    /// A line, its error bars, its points, and its number after the last one.
    fn line(&self, line: &SpeedLine, index: usize) -> String {
        let style = index % STYLES;
        let places = line
            .points
            .iter()
            .map(|point| format!("{:.1} {:.1}", self.x(point.size), self.y(point.rate)));
        let mut text = format!(
            "<path class=\"line line-{style}\" d=\"M{}\"/>\n",
            places.collect::<Vec<_>>().join("L")
        );
        for point in &line.points {
            let _ = writeln!(text, "{}", self.point(point, style));
        }
        if let Some(last) = line.points.last() {
            let _ = writeln!(
                text,
                "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                self.x(last.size) + 8.0,
                self.y(last.rate) + 4.0,
                index + 1
            );
        }
        text
    }

    /// A point with its error bar.
    fn point(&self, measured: &SpeedPoint, style: usize) -> String {
        let (x, y) = (self.x(measured.size), self.y(measured.rate));
        let (low, high) = (self.y(measured.low), self.y(measured.high));
        let (left, right) = (x - BAR, x + BAR);
        format!(
            "<path class=\"bar line-{style}\" d=\"M{left:.1} {low:.1}H{right:.1}M{x:.1} \
             {low:.1}V{high:.1}M{left:.1} {high:.1}H{right:.1}\"/>{}",
            point([x, y], style)
        )
    }
}

/// A mark in the shape of a style.
fn point([x, y]: [f64; 2], style: usize) -> String {
    let path = match style {
        0 => format!("M{:.1} {y:.1}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z", x - 4.0),
        1 => format!("M{:.1} {:.1}h7v7h-7Z", x - 3.5, y - 3.5),
        2 => format!("M{x:.1} {:.1}l4.5 8h-9Z", y - 5.0),
        3 => format!("M{x:.1} {:.1}l5 5l-5 5l-5 -5Z", y - 5.0),
        4 => format!("M{x:.1} {:.1}l4.5 -8h-9Z", y + 5.0),
        _ => format!("M{:.1} {:.1}l8 8m0 -8l-8 8", x - 4.0, y - 4.0),
    };
    format!("<path class=\"point line-{style}\" d=\"{path}\"/>")
}
