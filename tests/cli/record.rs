//! `testgen record`: the chosen Python, its arguments, and messages about missing packages.

mod python;
mod refused;

use crate::project::{Outcome, Project};
use std::{collections::BTreeSet, fs, path::PathBuf};

/// A script in place of Python: prints its arguments and whether the recorder exists, and then runs
/// `body`.
fn fake_python(project: &Project, body: &str) -> PathBuf {
    let text = format!(
        "#!/bin/sh\necho \"$*\" > \"{}\"\ngrep -c 'def record' \"$2/record/goldens.py\" >&2\n{body}\n",
        seen(project).display()
    );
    project.script("bin/fake-python", text)
}

fn seen(project: &Project) -> PathBuf {
    project.path("seen")
}

fn with_checkpoint() -> Project {
    let project = Project::with_bert();
    project.write("fixtures/bert/config.json", "{}");
    project
}

fn record(project: &Project, body: &str, arguments: &[&str]) -> Outcome {
    let python = fake_python(project, body);
    project.finish(
        project
            .command()
            .arg("record")
            .args(arguments)
            .arg("--python")
            .arg(python),
    )
}

#[test]
fn a_directory_is_recorded_with_the_default_seed() {
    let project = with_checkpoint();
    let outcome = record(&project, "exit 0", &["fixtures/bert"]).expect_code(0);
    assert_eq!(outcome.stdout, "fixtures/bert/golden.safetensors\n");
    assert_eq!(outcome.stderr, "2\n", "the recorder is handed to Python");
    let seen = project.read("seen");
    assert!(
        seen.ends_with("record.goldens --progress --seed=0 -- fixtures/bert\n"),
        "{seen}"
    );
}

/// Each of two recorders waits until the other one runs, too.
#[test]
fn several_checkpoints_are_recorded_at_once() {
    let project = with_checkpoint();
    project.write("other/config.json", "{}");
    let started = project.path("started");
    fs::create_dir(&started).expect("a new directory");
    let body = format!(
        "cd \"{}\"\ntouch $$\nfor i in $(seq 1200); do [ $(ls | wc -l) = 2 ] && exit 0; sleep 0.05; done\nexit 9",
        started.display()
    );
    let outcome = record(
        &project,
        &body,
        &["bert", "other", "fixtures/bert", "--jobs", "2"],
    )
    .expect_code(0);
    let paths: BTreeSet<&str> = outcome.stdout.lines().collect();
    assert_eq!(
        paths.len(),
        2,
        "each checkpoint is recorded once: {}",
        outcome.stdout
    );
    assert!(
        outcome.stderr.contains("recorded 1/2 ") && outcome.stderr.contains("recorded 2/2 "),
        "{}",
        outcome.stderr
    );
    fs::remove_dir_all(&started).expect("it is there");
    fs::create_dir(&started).expect("a new directory");
    let quiet = record(
        &project,
        &body,
        &["bert", "other", "--jobs", "2", "--quiet"],
    )
    .expect_code(0);
    assert!(!quiet.stderr.contains("recorded"), "{}", quiet.stderr);
}

#[test]
fn a_checkpoint_that_cannot_be_recorded_does_not_stop_the_others() {
    let project = with_checkpoint();
    project.write("other/config.json", "{}");
    project.write("pickle/config.json", "{}");
    project.write("pickle/pytorch_model.bin", "");
    let body = "case \"$*\" in *other) echo 'error: no such head' >&2; exit 1;; esac";
    let outcome =
        record(&project, body, &["other", "pickle", "bert", "--jobs", "1"]).expect_code(2);
    assert!(
        outcome
            .stdout
            .ends_with("fixtures/bert/golden.safetensors\n"),
        "{}",
        outcome.stdout
    );
    for message in [
        "other: error: no such head\n",
        "pickle: error: `pickle/pytorch_model.bin` is a pickle",
        "error: 2 of 3 checkpoints were not recorded: other, pickle\n",
    ] {
        assert!(
            outcome.stderr.contains(message),
            "{message}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn inputs_of_a_file_are_those_of_one_checkpoint() {
    let project = with_checkpoint();
    project.write("other/config.json", "{}");
    let outcome = record(
        &project,
        "exit 0",
        &["bert", "other", "--inputs", "x.safetensors"],
    )
    .expect_code(2);
    assert!(
        outcome
            .stderr
            .contains("--inputs names the inputs of one checkpoint"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn own_inputs_are_handed_to_the_recorder() {
    let project = with_checkpoint();
    record(&project, "exit 0", &["bert", "--inputs", "-x.safetensors"]).expect_code(2);
    record(&project, "exit 0", &["bert", "--inputs=-x.safetensors"]).expect_code(0);
    assert!(
        project
            .read("seen")
            .contains(" --seed=0 --inputs=-x.safetensors -- "),
        "{}",
        project.read("seen")
    );
    record(&project, "exit 0", &["bert", "--inputs=x", "--seed=7"]).expect_code(2);
}

#[test]
fn the_recorder_is_handed_to_python() {
    let project = with_checkpoint();
    let body = format!(
        "cat \"$2/record/goldens.py\" > \"{}\"",
        project.path("main").display()
    );
    record(&project, &body, &["bert"]).expect_code(0);
    let main = concat!(env!("CARGO_MANIFEST_DIR"), "/python/record/goldens.py");
    assert_eq!(
        project.read("main"),
        fs::read_to_string(main).expect("there is a recorder")
    );
}

#[test]
fn a_name_is_looked_up_in_the_specs() {
    let project = with_checkpoint();
    record(&project, "exit 0", &["bert"]).expect_code(0);
    assert!(
        project.read("seen").trim_end().ends_with("fixtures/bert"),
        "{}",
        project.read("seen")
    );
}

#[test]
fn specs_says_where_names_are_looked_up() {
    let project = with_checkpoint();
    fs::rename(project.path("model_specs"), project.path("other")).expect("can be renamed");
    record(&project, "exit 0", &["bert"]).expect_code(2);
    record(&project, "exit 0", &["bert", "--specs", "other"]).expect_code(0);
}

#[test]
fn an_unknown_name_lists_similar_ones() {
    let outcome = record(&with_checkpoint(), "exit 0", &["brt"]).expect_code(2);
    assert!(
        outcome.stderr.contains("`brt`") && outcome.stderr.contains("`bert`"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn seed_noise_samples_and_force_reach_the_recorder() {
    let project = with_checkpoint();
    record(
        &project,
        "exit 0",
        &["fixtures/bert", "--seed", "7", "--force"],
    )
    .expect_code(0);
    let seen = project.read("seen");
    assert!(
        seen.contains("--seed=7 --force -- fixtures/bert"),
        "the recorder has the default number of samples: {seen}"
    );
    record(
        &project,
        "exit 0",
        &["fixtures/bert", "--noise-samples", "8", "--force"],
    )
    .expect_code(0);
    let seen = project.read("seen");
    assert!(
        seen.contains("--seed=0 --noise-samples=8 --force -- fixtures/bert"),
        "{seen}"
    );
    record(
        &project,
        "exit 0",
        &["fixtures/bert", "--noise-samples", "0"],
    )
    .expect_code(2);
}

#[test]
fn answers_alone_are_recorded_without_a_new_golden() {
    let project = with_checkpoint();
    let outcome = record(&project, "exit 0", &["fixtures/bert", "--answers"]).expect_code(0);
    assert!(
        outcome.stdout.ends_with("answers.json\n"),
        "{}",
        outcome.stdout
    );
    let seen = project.read("seen");
    assert!(seen.contains("--answers -- fixtures/bert"), "{seen}");
    record(
        &project,
        "exit 0",
        &["fixtures/bert", "--answers", "--force"],
    )
    .expect_code(2);
}
