//! The files of every CI system run each slice of the plan once.

use super::{plan_of, project, text};
use crate::runners::{ONE, THREE, fifty};
use serde_json::Value;
use std::collections::BTreeSet;

/// The jobs of a plan on runners with GPUs.
fn jobs(plan: &Value) -> impl Iterator<Item = &Value> {
    let families = plan["families"].as_array().expect("is a list").iter();
    families.flat_map(|family| family["jobs"].as_array().expect("is a list"))
}

fn yaml(text: &str) -> Vec<Value> {
    serde_yaml::from_multiple(text).expect("the file is YAML")
}

#[test]
fn every_slice_of_every_partition_is_run_once() {
    let plan = plan_of(&project(&fifty()));
    let families = plan["families"].as_array().expect("is a list");
    assert!(families.len() >= 10, "{}", families.len());
    for family in families {
        let jobs = family["jobs"].as_array().expect("is a list");
        let slices: Vec<u64> = jobs
            .iter()
            .map(|job| job["slice"].as_u64().expect("is a number"))
            .collect();
        assert_eq!(
            slices,
            (1..=jobs.len() as u64).collect::<Vec<_>>(),
            "{}",
            family["name"]
        );
        assert!(
            jobs.iter().all(|job| job["slices"] == jobs.len()),
            "{}",
            family["name"]
        );
    }
}

#[test]
fn every_runner_has_jobs_of_its_own_labels() {
    let plan = plan_of(&project(&fifty()));
    let runners: BTreeSet<&str> = jobs(&plan).map(|job| text(&job["runner"])).collect();
    assert_eq!(runners.len(), 50);
    let names: BTreeSet<&str> = jobs(&plan).map(|job| text(&job["name"])).collect();
    assert_eq!(names.len(), jobs(&plan).count(), "names are unique");
    for job in jobs(&plan) {
        let runner = text(&job["runner"]);
        assert_eq!(job["labels"], serde_json::json!(["self-hosted", runner]));
        let index: usize = runner
            .trim_start_matches("gpu-")
            .parse()
            .expect("ends with its number");
        assert_eq!(job["blocking"], !index.is_multiple_of(7), "{runner}");
    }
}

#[test]
fn github_has_every_job_of_the_plan() {
    let project = project(&fifty());
    project.run(&["matrix", "--write"]).expect_code(0);
    let workflow = yaml(&project.read(".github/workflows/testgen-gpu.yml")).remove(0);
    let plan = plan_of(&project);
    for family in plan["families"].as_array().expect("is a list") {
        let job = &workflow["jobs"][text(&family["name"])];
        assert!(
            text(&job["if"]).contains(&format!("inputs.tier == '{}'", text(&family["tier"]))),
            "{job}"
        );
        let entries = job["strategy"]["matrix"]["include"]
            .as_array()
            .expect("is a list");
        let expected = family["jobs"].as_array().expect("is a list");
        assert_eq!(entries.len(), expected.len());
        for (entry, expected) in entries.iter().zip(expected) {
            assert_eq!(
                (&entry["artifact"], &entry["labels"]),
                (&expected["name"], &expected["labels"])
            );
            assert_eq!(
                entry["slice"],
                format!("{}/{}", expected["slice"], expected["slices"])
            );
            assert_eq!(
                entry["kind"],
                if expected["blocking"] == true {
                    "report"
                } else {
                    "advisory"
                }
            );
        }
    }
}

#[test]
fn gitlab_has_every_job_of_the_plan() {
    let project = project(&fifty());
    project
        .run(&["matrix", "--format", "gitlab", "--write"])
        .expect_code(0);
    let pipeline = yaml(&project.read(".gitlab/testgen.yml")).remove(0);
    for expected in jobs(&plan_of(&project)) {
        let job = &pipeline[format!("testgen-{}", text(&expected["name"]))];
        assert_eq!(job["tags"], expected["labels"], "{expected}");
        assert_eq!(
            job["allow_failure"],
            expected["blocking"] == false,
            "{expected}"
        );
        let slice = format!("slice:{}/{}", expected["slice"], expected["slices"]);
        assert_eq!(job["variables"]["SLICE"], slice, "{expected}");
    }
    // GitLab refuses a pipeline in which a job needs one that its rules leave out.
    let always = serde_json::json!([{ "when": "on_success" }]);
    assert_eq!(pipeline["testgen-cpu"]["rules"], always);
}

#[test]
fn kubernetes_completes_every_job_of_the_plan() {
    let project = project(&fifty());
    project
        .run(&["matrix", "--format", "kubernetes", "--write"])
        .expect_code(0);
    let documents = yaml(&project.read("kubernetes/testgen.yml"));
    let plan = plan_of(&project);
    let names: BTreeSet<&str> = documents
        .iter()
        .map(|document| text(&document["metadata"]["name"]))
        .collect();
    assert_eq!(names.len(), documents.len(), "names are unique");
    let (cpu, gpu): (Vec<&Value>, Vec<&Value>) = documents
        .iter()
        .partition(|document| document["metadata"]["name"] == "testgen-cpu");
    assert_eq!(cpu.len(), 1);
    // The report decides, because a failure can be expected.
    let script = text(&cpu[0]["spec"]["template"]["spec"]["containers"][0]["args"][0]);
    assert!(
        script.contains("|| status=$?") && script.contains("testgen report reports/cpu --tests"),
        "{script}"
    );
    let completions = gpu
        .iter()
        .map(|job| job["spec"]["completions"].as_u64().expect("is a number"));
    assert_eq!(completions.sum::<u64>(), jobs(&plan).count() as u64);
    assert!(
        gpu.iter()
            .all(|job| job["spec"]["parallelism"].as_u64() <= job["spec"]["completions"].as_u64())
    );
}

#[test]
fn slurm_submits_every_slice_of_a_tier() {
    let project = project(&fifty());
    project
        .run(&["matrix", "--format", "slurm", "--write"])
        .expect_code(0);
    let script = project.read("slurm/testgen.sh");
    let expected = script
        .lines()
        .filter_map(|line| line.strip_prefix("printf '%s\\n' ")?.split(' ').next());
    let expand = |results: &str| {
        let Some((name, slices)) = results.split_once('{') else {
            return vec![results.to_owned()];
        };
        let (range, all) = slices.split_once('}').expect("a range ends");
        let (first, last) = range.split_once("..").expect("a range has two ends");
        let number = |text: &str| text.parse::<u32>().expect("a number");
        (number(first)..=number(last))
            .map(|slice| format!("{name}{slice}{all}"))
            .collect()
    };
    let submitted: BTreeSet<String> = expected.flat_map(expand).collect();
    let plan = plan_of(&project);
    let kind = |job: &Value| {
        if job["blocking"] == true {
            "blocking"
        } else {
            "advisory"
        }
    };
    let mut planned: BTreeSet<String> = jobs(&plan)
        .map(|job| format!("{}/{}", kind(job), text(&job["name"])))
        .collect();
    planned.extend(["blocking/cpu".to_owned(), "blocking/rocm-sim".to_owned()]);
    assert_eq!(submitted, planned);
}

#[test]
fn nothing_self_hosted_runs_for_a_fork() {
    let condition = "github.event.pull_request.head.repo.full_name == github.repository";
    for toml in [ONE.to_owned(), THREE.to_owned(), fifty()] {
        let project = project(&toml);
        project.run(&["matrix", "--write"]).expect_code(0);
        let caller = project.read(".github/workflows/testgen.yml");
        assert!(!caller.contains("self-hosted"), "{caller}");
        let called = project.read(".github/workflows/testgen-gpu.yml");
        assert!(
            called.contains("workflow_call") && !called.contains("pull_request:"),
            "{called}"
        );
        let jobs = called.matches("runs-on: ").count();
        assert!(jobs > 0);
        assert_eq!(called.matches(condition).count(), jobs);
    }
}
