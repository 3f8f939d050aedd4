//! The operators of the check `stress` by issue: with their shapes, as `testgen show operators
//! --stress` prints them, and without, as docs/operators.md has them.

use crate::spec::{LoadedSpec, StressSpec};
use std::fmt::Write;
use testgen_base::text::markdown_cell;

/// An issue that reports a fault of large sizes, as its thread describes it.
struct Issue {
    name: &'static str,
    fault: &'static str,
}

const fn issue(name: &'static str, fault: &'static str) -> Issue {
    Issue { name, fault }
}

/// The issues with their faults. Other names in specs have no description.
const ISSUES: &[Issue] = &[
    issue("ollama#17895", "gfx1151: wrong beyond about 4k tokens"),
    issue(
        "ROCm#6416",
        "gfx1100: a ViT in bf16 returns NaN beyond 14.3k tokens",
    ),
    issue(
        "ROCm#6116",
        "gfx1201: a product returns NaN beyond 500k rows",
    ),
    issue(
        "rocm-libraries#5706",
        "gfx1201: hipBLASLt fails without an error for 9.5 million columns",
    ),
    issue("hipBLASLt#2299", "gfx950: stores beyond 2 GiB are lost"),
    issue(
        "vllm-omni#7484",
        "gfx1100: a head_dim of 384 corrupts a VAE",
    ),
    issue(
        "vllm#51511",
        "wave32: products of few rows are wrong for K from 4097 to 8192",
    ),
    issue(
        "ComfyUI#15914",
        "gfx1201: a second run after other work is not finite",
    ),
    issue(
        "TheRock#7271",
        "gfx1201: the second product in 16 bits fails",
    ),
    issue("pytorch#103973", "sums are wrong without PCIe atomics"),
    issue(
        "sizes",
        "K from 4095 to 8193, head_dim 256 and 384, up to 16k tokens, more than 2^31 elements",
    ),
];

/// The Markdown table with all shapes: a row for each issue, in the order above and then of other
/// names.
pub fn stress_table(specs: &[LoadedSpec]) -> String {
    table(specs, "shapes", |all| {
        let described = all
            .iter()
            .map(|one| format!("`{}` {}", one.operator, shapes(one)));
        described.collect::<Vec<_>>().join("; ")
    })
}

/// The same table with the names of the operators only.
pub fn stress_issues(specs: &[LoadedSpec]) -> String {
    table(specs, "operators", |all| {
        let mut names: Vec<String> = all
            .iter()
            .map(|one| format!("`{}`", one.operator))
            .collect();
        // `operators` sorts by operator, so that equal names are neighbours.
        names.dedup();
        names.join(", ")
    })
}

/// A row for each issue with operators, which `describe` describes.
fn table(
    specs: &[LoadedSpec],
    heading: &str,
    describe: impl Fn(&[&StressSpec]) -> String,
) -> String {
    let mut names: Vec<&str> = ISSUES.iter().map(|issue| issue.name).collect();
    let mut others: Vec<&str> = specs
        .iter()
        .filter_map(|spec| spec.spec.subject.operators())
        .flat_map(|it| &it.stress)
        .map(|one| one.issue.as_str())
        .collect();
    others.sort_unstable();
    others.dedup();
    others.retain(|name| !names.contains(name));
    names.extend(others);
    let mut text = format!("| issue | fault | {heading} |\n|---|---|---|\n");
    for name in names {
        let fault = ISSUES
            .iter()
            .find(|issue| issue.name == name)
            .map_or("", |issue| issue.fault);
        let operators = operators(specs, name);
        // An issue that no spec reproduces has no row.
        if !operators.is_empty() {
            let cells = [name, fault, &describe(&operators)].map(markdown_cell);
            writeln!(text, "| {} |", cells.join(" | ")).expect("a String can always be written");
        }
    }
    text
}

/// The operators with their shapes for an issue.
fn operators<'specs>(specs: &'specs [LoadedSpec], issue: &str) -> Vec<&'specs StressSpec> {
    let mut found: Vec<&StressSpec> = specs
        .iter()
        .filter_map(|spec| spec.spec.subject.operators())
        .flat_map(|it| &it.stress)
        .filter(|one| one.issue == issue)
        .collect();
    found.sort_by_key(|one| one.operator);
    found
}

/// The sizes of each shape of an operator.
fn shapes(stress: &StressSpec) -> String {
    stress
        .shapes
        .iter()
        .map(|shape| sizes(shape))
        .collect::<Vec<_>>()
        .join(", ")
}

fn sizes(shape: &[u64]) -> String {
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    sizes.join(" x ")
}
