//! Kubernetes: one Indexed Job for each runner and tier; its indices are the runner's slices.
//!
//! The image holds `/testgen`: the sources with specs and fixtures, and `target/ci` with the
//! archive and the binaries. The image of jobs that name none is called `testgen-suite`, which
//! kustomize replaces by an image with its digest.

use super::{
    File, MatrixPlan, RunnerFamily, ShardJob,
    files::header,
    script,
    yaml::{Yaml, list, map},
};
use std::collections::BTreeSet;
use testgen_types::DeviceKind;

const PATH: &str = "kubernetes/testgen.yml";

/// The image name that kustomize replaces:
/// `images: [{ name: testgen-suite, newName: ..., digest: "sha256:..." }]`.
const IMAGE: &str = "testgen-suite";

/// The claim that reports are written to.
const CLAIM: &str = "testgen-reports";

/// The first lines of every job.
// Scripts write below the working directory, where the claim is not mounted.
const START: &str = "cd /testgen\nln -sfn /reports reports";

/// Names of Kubernetes objects, which also become labels of pods.
// The limit of a label's value.
const LONGEST_NAME: usize = 63;

pub(super) fn file(plan: &MatrixPlan) -> File {
    let mut documents = vec![cpu(plan)];
    let mut names = BTreeSet::new();
    for family in &plan.families {
        let runners = family.jobs.chunk_by(|a, b| a.runner == b.runner);
        documents.extend(runners.map(|jobs| gpu(family, jobs, &mut names)));
    }
    let documents: Vec<String> = documents.iter().map(Yaml::render).collect();
    File {
        path: PATH,
        text: Some(format!(
            "{}{}",
            header("kubernetes"),
            documents.join("---\n")
        )),
    }
}

fn cpu(plan: &MatrixPlan) -> Yaml {
    let names: Vec<String> = plan.engines.iter().map(ToString::to_string).collect();
    let mut steps = vec![START.to_owned()];
    steps.extend(script::engines(&names, plan.ci.cpu.python.as_deref()));
    steps.push("export TESTGEN_REQUIRE=cpu".to_owned());
    steps.push(script::run_tests("-E 'test(/::cpu::/)'", "reports/cpu", ""));
    let script = steps.join("\n");
    let image = plan.ci.cpu.image.as_deref().unwrap_or(IMAGE);
    let pod = pod(image, &script, map([]), map([]));
    document(
        "testgen-cpu",
        "presubmit",
        1,
        plan.ci.timeout_minutes.get(),
        pod,
    )
}

/// The slices of one runner are consecutive.
fn gpu(family: &RunnerFamily, jobs: &[ShardJob], names: &mut BTreeSet<String>) -> Yaml {
    let first = &jobs[0];
    // The slice is then the sum of the job's index and the first slice.
    let before = first.slice - 1;
    // Kubernetes counts indices from 0, nextest counts slices from 1.
    let slice = format!(
        "\"slice:$((JOB_COMPLETION_INDEX + {}))/{}\"",
        before + 1,
        first.slices
    );
    let directory = format!(
        "reports/{}-{}-$JOB_COMPLETION_INDEX",
        family.name, first.runner
    );
    let script = format!(
        "{START}\n{}\n{}",
        script::preflight(family),
        script::run_slice(family, &slice, &directory)
    );
    let image = family.image.as_deref().unwrap_or(IMAGE);
    let selector = first
        .node_selector
        .iter()
        .map(|(key, value)| (key.clone(), value.into()))
        .collect();
    let pod = pod(image, &script, limits(family), security(family))
        .with("nodeSelector", Yaml::Map(selector));
    let name = object_name(&format!("testgen-{}-{}", family.name, first.runner), names);
    let tier = family.tier.as_str();
    document(
        &name,
        tier,
        jobs.len() as u32,
        first.timeout_minutes.get(),
        pod,
    )
}

/// A name that no other object has: two texts can have the same start, or differ in `_` and `-`.
fn object_name(text: &str, taken: &mut BTreeSet<String>) -> String {
    // Names of objects are DNS labels, which contain no `_`.
    let text = text.replace('_', "-");
    let mut suffix = String::new();
    let mut number = 1;
    loop {
        let kept: String = text.chars().take(LONGEST_NAME - suffix.len()).collect();
        let name = format!("{}{suffix}", kept.trim_end_matches('-'));
        if taken.insert(name.clone()) {
            return name;
        }
        number += 1;
        suffix = format!("-{number}");
    }
}

fn limits(family: &RunnerFamily) -> Yaml {
    let resource = match family.device {
        DeviceKind::Rocm => "amd.com/gpu",
        DeviceKind::Cuda => "nvidia.com/gpu",
        DeviceKind::Cpu => return map([]),
    };
    map([("limits", map([(resource, family.gpus.get().into())]))])
}

/// The device plugin adds `/dev/kfd` and `/dev/dri`; the groups that may open them are the node's.
fn security(family: &RunnerFamily) -> Yaml {
    if family.device != DeviceKind::Rocm {
        return map([]);
    }
    // 44 is the group `video` of Debian and Ubuntu. seccomp would block system calls for memory
    // placement, which AMD recommends permitting.
    let groups = [Some(44), family.render_group].into_iter().flatten();
    map([
        ("supplementalGroups", list(groups)),
        ("seccompProfile", map([("type", "Unconfined".into())])),
    ])
}

fn document(name: &str, tier: &str, completions: u32, minutes: u32, pod: Yaml) -> Yaml {
    // Kubernetes accepts no larger number for a pod. Not in the Job, whose seconds count while pods
    // wait for a node.
    let seconds = minutes.saturating_mul(60).min(i32::MAX as u32);
    let pod = pod.with("activeDeadlineSeconds", seconds);
    map([
        ("apiVersion", "batch/v1".into()),
        ("kind", "Job".into()),
        (
            "metadata",
            map([("name", name.into()), ("labels", labels(tier))]),
        ),
        (
            "spec",
            map([
                ("completionMode", "Indexed".into()),
                ("completions", completions.into()),
                // All at once: a pod waits by itself until a node has free GPUs.
                ("parallelism", completions.into()),
                // A slice that fails is not run again: a result that changes from run to run must
                // be seen.
                ("backoffLimit", 0.into()),
                (
                    "template",
                    map([("metadata", map([("labels", labels(tier))])), ("spec", pod)]),
                ),
            ]),
        ),
    ])
}

fn pod(image: &str, script: &str, resources: Yaml, security: Yaml) -> Yaml {
    let container = map([
        ("name", "suite".into()),
        ("image", image.into()),
        ("command", list(["bash", "-euo", "pipefail", "-c"])),
        ("args", list([script])),
        ("resources", resources),
        (
            "volumeMounts",
            list([
                mount("reports", "/reports"),
                mount("shared-memory", "/dev/shm"),
            ]),
        ),
    ]);
    let claim = map([("claimName", CLAIM.into())]);
    // The default of 64 MiB is small for processes that share memory; 16 GiB as in containers of
    // the other systems.
    let memory = map([("medium", "Memory".into()), ("sizeLimit", "16Gi".into())]);
    map([
        // A failed container must not start again: its second result would hide the first.
        ("restartPolicy", "Never".into()),
        ("securityContext", security),
        ("containers", list([container])),
        (
            "volumes",
            list([
                map([("name", "reports".into()), ("persistentVolumeClaim", claim)]),
                map([("name", "shared-memory".into()), ("emptyDir", memory)]),
            ]),
        ),
    ])
}

fn mount(name: &str, path: &str) -> Yaml {
    map([("name", name.into()), ("mountPath", path.into())])
}

fn labels(tier: &str) -> Yaml {
    map([
        ("app.kubernetes.io/name", "testgen".into()),
        ("testgen/tier", tier.into()),
    ])
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_NAME, document, map, object_name};
    use std::collections::BTreeSet;

    #[test]
    fn a_pod_has_the_limit_of_time_from_its_start() {
        let text = document("name", "nightly", 8, u32::MAX, map([])).render();
        let limit = "    spec:\n      activeDeadlineSeconds: 2147483647\n";
        assert!(text.ends_with(limit), "{text}");
    }

    #[test]
    fn objects_have_different_names() {
        let mut taken = BTreeSet::new();
        let mut name = |text: &str| object_name(text, &mut taken);
        assert_eq!(name("testgen-a_b-c"), "testgen-a-b-c");
        assert_eq!(name("testgen-a-b-c"), "testgen-a-b-c-2");
        let long = "x".repeat(LONGEST_NAME);
        assert_eq!(name(&format!("{long}1")), long);
        let second = name(&format!("{long}2"));
        assert!(second.len() == LONGEST_NAME && second.ends_with("x-2"));
    }
}
