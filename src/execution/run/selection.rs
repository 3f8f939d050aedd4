//! Selects the tests of a suite: filters over test names, and the corresponding arguments of the
//! test binary.

use crate::generate::SpecFilter;
use std::collections::BTreeSet;
use testgen_types::{Architecture, DeviceKind};

/// The selected tests.
#[derive(Debug, PartialEq, Eq)]
pub struct Selection {
    /// Their names.
    pub tests: BTreeSet<String>,
    /// `--skip` arguments for the test binary that leave exactly these tests.
    pub arguments: Vec<String>,
}

/// Selects the tests of `listed` that match `filter`.
///
/// Test names are `<architecture>::<model>::<device>::<check>`; other names run only without a
/// filter. Whole models, and whole devices, are skipped by a part of their name, because a command
/// line has a limited length.
pub fn select(filter: &SpecFilter, listed: &BTreeSet<String>) -> Selection {
    let tests = listed
        .iter()
        .filter(|test| keeps(filter, test))
        .cloned()
        .collect();
    // A set, because many tests lead to the same argument.
    let mut skipped = BTreeSet::new();
    for test in listed.iter().filter(|test| !keeps(filter, test)) {
        skipped.insert(match TestNameParts::parse(test) {
            // `--skip` takes any part of a name: without the `::` at its end, `bert` would also
            // skip `bert-large`.
            Some(parts) if !parts.model_is_kept(filter) => {
                format!("{}::{}::", parts.architecture, parts.model)
            }
            // By device and check, which all kept models skip alike; the models that are left out
            // are skipped as a whole.
            Some(parts) => format!("::{}::{}", parts.device, parts.check),
            None => test.clone(),
        });
    }
    let arguments = skipped
        .into_iter()
        .flat_map(|part| ["--skip".to_owned(), part])
        .collect();
    Selection { tests, arguments }
}

/// The models of the selected tests with their devices, as `TESTGEN_BENCH` names them:
/// `<architecture>::<model>::<device>`.
pub fn models_on_devices(selection: &Selection) -> BTreeSet<String> {
    models_on(selection, |_| true)
}

/// As [`models_on_devices`], on GPUs only, as `TESTGEN_KERNELS` names them.
pub fn models_on_gpus(selection: &Selection) -> BTreeSet<String> {
    models_on(selection, |device| device != DeviceKind::Cpu)
}

fn models_on(selection: &Selection, selects: impl Fn(DeviceKind) -> bool) -> BTreeSet<String> {
    let tests = selection.tests.iter();
    tests
        .filter_map(|test| TestNameParts::parse(test))
        .filter(|parts| selects(parts.device))
        .map(|parts| format!("{}::{}::{}", parts.architecture, parts.model, parts.device))
        .collect()
}

fn keeps(filter: &SpecFilter, test: &str) -> bool {
    match TestNameParts::parse(test) {
        Some(parts) => {
            parts.model_is_kept(filter)
                && (filter.devices.is_empty() || filter.devices.contains(&parts.device))
        }
        None => filter.is_empty(),
    }
}

/// The parts of a test name that filters use.
struct TestNameParts<'a> {
    architecture: Architecture,
    model: &'a str,
    device: DeviceKind,
    check: &'a str,
}

impl<'a> TestNameParts<'a> {
    fn parse(test: &'a str) -> Option<Self> {
        let mut parts = test.splitn(4, "::");
        let architecture = parts.next()?.parse().ok()?;
        let model = parts.next()?;
        let device = parts.next()?.parse().ok()?;
        parts.next().map(|check| Self {
            architecture,
            model,
            device,
            check,
        })
    }

    fn model_is_kept(&self, filter: &SpecFilter) -> bool {
        (filter.architectures.is_empty() || filter.architectures.contains(&self.architecture))
            && (filter.names.is_empty()
                || filter
                    .names
                    .iter()
                    .any(|pattern| pattern.matches(self.model)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glob::Pattern;

    fn listed() -> BTreeSet<String> {
        let mut tests = BTreeSet::from(["something_else".to_owned()]);
        for (architecture, model) in [
            ("encoder_only", "bert"),
            ("encoder_only", "roberta"),
            ("vision", "vit"),
            ("vision", "cpu"),
        ] {
            for device in ["cpu", "rocm"] {
                tests.insert(format!("{architecture}::{model}::{device}::finite_f32"));
            }
        }
        tests
    }

    /// The behaviour of `--skip` in libtest: it drops every test whose name contains one of the
    /// arguments.
    fn libtest(listed: &BTreeSet<String>, arguments: &[String]) -> BTreeSet<String> {
        let words: Vec<&String> = arguments
            .iter()
            .filter(|argument| *argument != "--skip")
            .collect();
        listed
            .iter()
            .filter(|test| !words.iter().any(|word| test.contains(*word)))
            .cloned()
            .collect()
    }

    #[test]
    fn an_empty_filter_selects_everything() {
        let selection = select(&SpecFilter::default(), &listed());
        assert_eq!(selection.tests, listed());
        assert_eq!(selection.arguments, Vec::<String>::new());
    }

    #[test]
    fn models_are_named_once_for_each_gpu() {
        let selection = select(
            &SpecFilter {
                architectures: vec![Architecture::Vision],
                ..SpecFilter::default()
            },
            &listed(),
        );
        let models: Vec<String> = models_on_gpus(&selection).into_iter().collect();
        assert_eq!(models, ["vision::cpu::rocm", "vision::vit::rocm"]);
    }

    #[test]
    fn the_arguments_leave_exactly_the_selection() {
        let pattern = |text| Pattern::new(text).expect("is a pattern");
        let filters = [
            SpecFilter {
                names: vec![pattern("*bert*")],
                ..SpecFilter::default()
            },
            SpecFilter {
                names: vec![pattern("bert")],
                devices: vec![DeviceKind::Rocm],
                ..SpecFilter::default()
            },
            SpecFilter {
                architectures: vec![Architecture::Vision],
                ..SpecFilter::default()
            },
            SpecFilter {
                devices: vec![DeviceKind::Cpu, DeviceKind::Cuda],
                ..SpecFilter::default()
            },
            SpecFilter {
                names: vec![pattern("nothing")],
                ..SpecFilter::default()
            },
        ];
        let counts = [4, 1, 4, 4, 0];
        for (filter, count) in filters.iter().zip(counts) {
            let selection = select(filter, &listed());
            assert_eq!(selection.tests.len(), count, "{filter:?}");
            assert_eq!(
                libtest(&listed(), &selection.arguments),
                selection.tests,
                "{filter:?}"
            );
        }
    }
}
