//! The values of the `ci` section that cannot be planned: names, devices, precisions, labels and
//! images.

use super::{
    MatrixError,
    settings::{CpuSettings, Runner},
};
use std::collections::BTreeSet;
use testgen_types::{DeviceKind, Precision, excerpt};

/// Checks the job on the CPU.
pub(super) fn check_cpu(cpu: &CpuSettings) -> Result<(), MatrixError> {
    if !cpu.label.starts_with("ubuntu-") {
        let what = format!("`{}` is not a hosted Linux runner", cpu.label);
        let help = "this job runs for changes from forks, too, and nothing self-hosted may; write `ubuntu-24.04`";
        return Err(MatrixError::setting("cpu.label", what, help));
    }
    cpu.slurm.check("cpu.slurm")?;
    check_image("cpu.image", cpu.image.as_deref())
}

/// Checks a runner; `devices` and `precisions` are the ones that specs name.
pub(super) fn check_runner(
    runner: &Runner,
    devices: &BTreeSet<DeviceKind>,
    precisions: &BTreeSet<Precision>,
) -> Result<(), MatrixError> {
    check_words(runner)?;
    check_device(runner, devices)?;
    check_precisions(runner, precisions)?;
    check_labels(runner)?;
    check_node_selector(runner)?;
    runner.slurm.check("runner.slurm")?;
    check_image("runner.image", runner.image.as_deref())
}

/// Checks that no two runners have a name in common.
pub(super) fn check_runner_names(runners: &[Runner]) -> Result<(), MatrixError> {
    // Artifacts of jobs contain the name.
    let mut names = BTreeSet::new();
    match runners.iter().find(|runner| !names.insert(&runner.name)) {
        None => Ok(()),
        Some(runner) => {
            let what = format!("two runners are called `{}`", runner.name);
            Err(MatrixError::setting(
                "runner",
                what,
                "give each its own name",
            ))
        }
    }
}

fn check_words(runner: &Runner) -> Result<(), MatrixError> {
    for (key, text) in [("name", &runner.name), ("family", &runner.family)] {
        if !is_word(text) {
            let help = "use up to 40 lower-case letters, digits, `-` and `_`";
            return wrong(key, format!("`{text}` is not a valid name"), help);
        }
    }
    Ok(())
}

fn check_device(runner: &Runner, devices: &BTreeSet<DeviceKind>) -> Result<(), MatrixError> {
    let Runner { name, device, .. } = runner;
    if *device == DeviceKind::Cpu {
        let what = "`cpu` has its own job".to_owned();
        return wrong("device", what, "write `cuda` or `rocm`");
    }
    if !devices.contains(device) {
        let what = format!("runner `{name}` is for {device}, which no spec names");
        let help = "add the device to a spec, or remove the runner";
        return wrong("device", what, help);
    }
    Ok(())
}

fn check_precisions(runner: &Runner, known: &BTreeSet<Precision>) -> Result<(), MatrixError> {
    let mut precisions = runner.precisions.iter();
    // By the device first: a spec may have a precision that no check computes there.
    if let Some(precision) = precisions.find(|precision| !precision.applies_on(runner.device)) {
        let what = format!("{} computes nothing in `{precision}`", runner.device);
        return wrong("precisions", what, "remove it");
    }
    let mut precisions = runner.precisions.iter();
    if let Some(precision) = precisions.find(|precision| !known.contains(precision)) {
        let what = format!("no spec names `{precision}`");
        return wrong("precisions", what, "remove it, or add it to a spec");
    }
    Ok(())
}

fn check_labels(runner: &Runner) -> Result<(), MatrixError> {
    let name = &runner.name;
    if runner.labels.is_empty() || runner.labels.iter().any(|label| label.trim().is_empty()) {
        let what = format!("runner `{name}` has none");
        return wrong("labels", what, "write what the CI system knows it by");
    }
    if runner.tiers.is_empty() {
        let help = "write at least one of `presubmit`, `postsubmit`, `nightly`";
        return wrong("tiers", format!("runner `{name}` never runs"), help);
    }
    Ok(())
}

fn check_node_selector(runner: &Runner) -> Result<(), MatrixError> {
    // The API server would refuse the label only when a job is created.
    let mut selector = runner.node_selector.iter();
    let Some((key, value)) = selector.find(|(key, value)| !is_label_key(key) || !is_label(value))
    else {
        return Ok(());
    };
    let (key, value) = (excerpt(key), excerpt(value));
    let what = format!("`{key}` = `{value}` is not a label of a node");
    let help = "write a label of Kubernetes: [PREFIX/]NAME, of up to 253 and 63 letters, digits, `-`, `_` and `.`, with a letter or a digit at both ends";
    wrong("node_selector", what, help)
}

fn is_label_key(text: &str) -> bool {
    // The name again if there is no prefix.
    let (prefix, name) = text.rsplit_once('/').unwrap_or((text, text));
    let parts = [(prefix, 253), (name, 63)];
    parts
        .iter()
        .all(|(part, longest)| !part.is_empty() && part.len() <= *longest && has_label_form(part))
}

/// A label's value, which may be empty.
fn is_label(text: &str) -> bool {
    text.len() <= 63 && has_label_form(text)
}

fn has_label_form(text: &str) -> bool {
    let signs = ['-', '_', '.'];
    text.chars()
        .all(|c| c.is_ascii_alphanumeric() || signs.contains(&c))
        && !text.starts_with(signs)
        && !text.ends_with(signs)
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 40
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c))
}

/// Requires a digest.
fn check_image(key: &str, image: Option<&str>) -> Result<(), MatrixError> {
    let Some(image) = image else { return Ok(()) };
    // A tag can refer to another image later.
    let digest = image
        .split_once("@sha256:")
        .map_or("", |(_, digest)| digest);
    if digest.len() == 64 && digest.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')) {
        return Ok(());
    }
    let help =
        "write `NAME@sha256:DIGEST`; `docker buildx imagetools inspect NAME:TAG` shows the digest";
    Err(MatrixError::setting(
        key,
        format!("`{image}` does not name its digest"),
        help,
    ))
}

fn wrong<T>(key: &str, what: String, help: &str) -> Result<T, MatrixError> {
    Err(MatrixError::setting(format!("runner.{key}"), what, help))
}

#[cfg(test)]
mod tests {
    use super::{is_label, is_label_key};

    #[test]
    fn labels_have_the_form_that_kubernetes_accepts() {
        for key in ["gpu", "amd.com/gpu.product-name", "a_b"] {
            assert!(is_label_key(key), "{key}");
        }
        for key in [
            "",
            "/",
            "/gpu",
            "amd.com/",
            "gpu-",
            ".gpu",
            "amd.com./gpu",
            "gpu model",
        ] {
            assert!(!is_label_key(key), "{key}");
        }
        assert!(is_label("") && is_label("AMD_Instinct_MI300X"));
        for value in ["-a", "a_", ".", &"a".repeat(64)] {
            assert!(!is_label(value), "{value}");
        }
    }
}
