//! Text with numbers, and the values that must be read from it.

use crate::metric::Metric;
use testgen_fuzz::Random;

/// The lines of a step as a trainer prints them.
pub(super) struct Printed {
    pub(super) text: String,
    pub(super) step: u64,
    /// Whether there is a heading and a number on each of the following lines.
    pub(super) is_block: bool,
    pub(super) values: [Option<f64>; Metric::COUNT],
}

/// Builds [`Printed`] from left to right.
pub(super) struct Printer<'a> {
    random: &'a mut Random,
    printed: Printed,
}

impl<'a> Printer<'a> {
    /// Of a random step.
    pub(super) fn new(random: &'a mut Random) -> Self {
        let step = random.below(1_000_000) as u64;
        Self {
            random,
            printed: Printed {
                text: String::new(),
                step,
                is_block: false,
                values: [None; Metric::COUNT],
            },
        }
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        self.printed.text.push_str(text);
        self
    }

    /// The step, right-aligned.
    pub(super) fn step(mut self, width: usize) -> Self {
        self.printed
            .text
            .push_str(&format!("{:width$}", self.printed.step));
        self
    }

    /// A random number below `end`; `print` decides on the digits, `scale` converts to the unit of
    /// the metric.
    pub(super) fn number(
        mut self,
        metric: Metric,
        end: f64,
        print: fn(f64) -> String,
        scale: f64,
    ) -> Self {
        let special = metric == Metric::Loss && self.random.below(10) == 0;
        let text = match special {
            // As Python and C print them.
            true => (*self.random.choose(&["nan", "inf", "-inf"])).to_owned(),
            false => print(end * (self.random.below(1 << 30) as f64 + 1.0) / f64::from(1 << 30)),
        };
        let plain: String = text.chars().filter(|c| !matches!(c, ',' | ' ')).collect();
        let value: f64 = plain.parse().expect("a number is printed");
        self.printed.values[metric.index()] = Some(value * scale);
        self.printed.text.push_str(&text);
        self
    }

    /// One of these texts.
    pub(super) fn any(mut self, texts: &[&str]) -> Self {
        self.printed
            .text
            .push_str(self.random.choose::<&str>(texts));
        self
    }

    pub(super) fn done(self) -> Printed {
        self.printed
    }

    /// The lines have a heading.
    pub(super) fn block(mut self) -> Printed {
        self.printed.is_block = true;
        self.printed
    }

    /// The line is about the run.
    pub(super) fn of_run(mut self) -> Printed {
        self.printed.step = 0;
        self.printed
    }

    /// The trainer does not print the step; this is the first line.
    pub(super) fn counted(mut self) -> Printed {
        self.printed.step = 1;
        self.printed
    }
}

/// As Python's `{:.6E}`.
pub(super) fn exponent(value: f64) -> String {
    let text = format!("{value:.6E}");
    let (digits, power) = text.split_once('E').expect("the form has an exponent");
    let power: i32 = power.parse().expect("a whole number");
    format!(
        "{digits}E{}{:02}",
        if power < 0 { '-' } else { '+' },
        power.abs()
    )
}

/// As Python's `{:,}` of a whole number.
pub(super) fn commas(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(super) fn one(value: f64) -> String {
    format!("{value:.1}")
}

pub(super) fn two(value: f64) -> String {
    format!("{value:.2}")
}

pub(super) fn four(value: f64) -> String {
    format!("{value:.4}")
}

/// As Python's `str`, for numbers that are not very small.
pub(super) fn shortest(value: f64) -> String {
    value.to_string()
}
