//! `testgen replay`: files that are refused, and the outcomes of the suite's process.

use crate::{
    fake::suite::{command as run_command, run},
    project::{Outcome, Project},
};
use std::{fs, process::Command};
use testgen_operators::calls::{
    Actual, Again, Attributes, Call, Element, Expected, FailedCall, HostTensor, LaunchedKernel,
    Reduced, Repetition, ReplayOutcome, Replayed, WorstOf,
};
use testgen_types::{Check, DeviceKind, Operator, Precision};

/// A softmax of one row that was wrong on a simulated GPU.
fn failed() -> FailedCall {
    let tensor = |values: [f64; 3]| HostTensor::new([1, 3], Element::F32, values.to_vec());
    FailedCall {
        version: FailedCall::VERSION,
        subject: "activation".to_owned(),
        check: Check::Forward,
        case: "`softmax` of [1, 3], dim 1".to_owned(),
        precision: Precision::F32,
        tf32: false,
        device: DeviceKind::Rocm,
        device_name: Some("AMD gfx1100 (hip-sim)".to_owned()),
        simulated: true,
        engine: None,
        failure: "1 of 3 elements are wrong".to_owned(),
        again: Again {
            plain: Repetition::Same,
            blocking: Some(Repetition::Same),
        },
        kernels: Vec::new(),
        call: Call::new(
            Operator::Softmax,
            vec![tensor([0.0, 1.0, 2.0])],
            Attributes::of_dim(1),
        ),
        expected: Expected {
            shape: vec![1, 3],
            element: Element::F32,
            values: vec![0.1, 0.2, 0.7],
            bounds: vec![1e-7; 3],
        },
        actual: Actual::Computed(tensor([0.1, 0.2, f64::NAN])),
    }
}

/// The result of the suite's process.
fn replayed(repetition: Repetition) -> Replayed {
    let correct = repetition == Repetition::Correct;
    Replayed {
        device_name: "AMD gfx1100 (hip-sim)".to_owned(),
        simulated: true,
        repetition,
        blocking: Some(repetition),
        failure: (!correct).then(|| {
            "1 of 3 elements are wrong; [0, 2] is NaN, expected 0.7 within 1e-7".to_owned()
        }),
        differing: Some(usize::from(repetition != Repetition::Same)),
        elements: 3,
        worst: Some(WorstOf {
            index: vec![0, 2],
            expected: "0.7".to_owned(),
            bound: "1e-7".to_owned(),
            recorded: Some("NaN".to_owned()),
            got: if correct { "0.7" } else { "NaN" }.to_owned(),
        }),
        kernels: vec![LaunchedKernel {
            name: "testgen_gpu::fused::softmax::MaskedSoftmax".to_owned(),
            digest: "0123456789abcdef".to_owned(),
        }],
        reduced: None,
    }
}

/// A project with a suite on the fake runtime and a failed call.
fn project() -> Project {
    let project = Project::with_bert();
    run(&project, "", &[]).expect_code(0);
    project.write("failures/x-1.json", failed().to_json());
    project
}

/// `testgen replay failures/x-1.json`, where the suite's process ends with `outcome`.
fn replay(project: &Project, outcome: &str, arguments: &[&str]) -> Outcome {
    let path = project.write("outcome.json", outcome);
    // The environment of a run, with the arguments of a replay.
    let of_run = run_command(project, "", &[]);
    let mut command = Command::new(of_run.get_program());
    command
        .current_dir(of_run.get_current_dir().expect("is the project"))
        .env_clear();
    let environment = of_run
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    command
        .envs(std::env::vars_os().filter(|(name, _)| name == "PATH"))
        .envs(environment);
    command
        .args(["replay", "failures/x-1.json"])
        .args(arguments)
        .env("FAKE_OUTCOME", path);
    project.finish(&mut command)
}

fn of(replayed: Replayed) -> String {
    serde_json::to_string(&ReplayOutcome::Replayed(Box::new(replayed))).expect("is JSON")
}

#[test]
fn files_that_are_not_failed_calls_are_refused_before_anything_is_built() {
    let project = Project::empty();
    let good = failed().to_json();
    let engine = FailedCall {
        engine: Some("torch".to_owned()),
        ..failed()
    }
    .to_json();
    for (text, part) in [
        (
            &good[..good.len() - 9],
            "`x.json` is not a failed call of an operator: EOF",
        ),
        ("", "EOF"),
        (
            r#"{"version":1,"model":"bert","check":"finite"}"#,
            "unknown field `model`",
        ),
        (
            &good.replacen("\"version\":1", "\"version\":7", 1),
            "version 7, but this testgen reads version 1",
        ),
        (
            &good.replacen("[1,3]", "[4294967296,4294967296]", 1),
            "has 3 elements",
        ),
        (&good.replacen("softmax", "softmux", 2), "softmux"),
        (&engine, "failed on the engine `torch`"),
        (&good, "there is no suite at `generated/Cargo.toml`"),
    ] {
        project.write("x.json", text);
        let outcome = project.run(&["replay", "x.json"]).expect_code(2);
        assert!(
            outcome.stderr.contains(part),
            "no `{part}` in: {}",
            outcome.stderr
        );
        assert!(outcome.stderr.lines().count() <= 3, "{}", outcome.stderr);
    }
    let outcome = project.run(&["replay", "missing.json"]).expect_code(2);
    assert!(
        outcome.stderr.contains("missing.json"),
        "{}",
        outcome.stderr
    );
    let huge = fs::File::create(project.path("huge.json")).expect("can be made");
    huge.set_len(FailedCall::BYTES + 1)
        .expect("sparse files can be made");
    let outcome = project.run(&["replay", "huge.json"]).expect_code(2);
    assert!(outcome.stderr.contains("at most"), "{}", outcome.stderr);
}

#[test]
fn the_exit_code_says_whether_the_result_is_correct_now() {
    let project = project();
    let same = replay(&project, &of(replayed(Repetition::Same)), &["--quiet"]).expect_code(1);
    insta::assert_snapshot!("replay_same", same.stdout);
    let correct = replay(&project, &of(replayed(Repetition::Correct)), &["--quiet"]).expect_code(0);
    assert!(correct.stdout.contains("correct now"), "{}", correct.stdout);
    let other = replay(
        &project,
        &of(replayed(Repetition::OtherFailure)),
        &["--quiet"],
    )
    .expect_code(1);
    assert!(
        other.stdout.contains("another wrong result"),
        "{}",
        other.stdout
    );
    let refused = serde_json::to_string(&ReplayOutcome::Refused("input 1 is missing".to_owned()))
        .expect("is JSON");
    let outcome = replay(&project, &refused, &[]).expect_code(2);
    assert!(
        outcome
            .stderr
            .contains("x-1.json` cannot be computed: input 1 is missing"),
        "{}",
        outcome.stderr
    );
    let absent =
        serde_json::to_string(&ReplayOutcome::NoDevice("no usable rocm device".to_owned()))
            .expect("is JSON");
    let outcome = replay(&project, &absent, &[]).expect_code(3);
    assert!(
        outcome.stderr.contains("add `--simulate rocm`"),
        "{}",
        outcome.stderr
    );
    // The fake process ends without an outcome.
    let outcome = replay(&project, "", &[]).expect_code(1);
    assert!(outcome.stderr.contains("ended early"), "{}", outcome.stderr);
}

#[test]
fn the_request_names_the_device_and_the_smaller_call_is_written_beside_the_file() {
    let project = project();
    let mut smaller = failed();
    smaller.call.inputs[0].tensor = HostTensor::new([1, 1], Element::F32, vec![2.0]);
    let reduced = Reduced {
        failed: smaller,
        runs: 7,
        incomplete: false,
    };
    let outcome = of(Replayed {
        reduced: Some(reduced),
        ..replayed(Repetition::Same)
    });
    let arguments = ["--device", "rocm:1", "--reduce", "--format", "json"];
    let outcome = replay(&project, &outcome, &arguments).expect_code(1);
    let value: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("is JSON");
    assert_eq!(
        (&value["version"], &value["repetition"], &value["correct"]),
        (&1.into(), &"same".into(), &false.into())
    );
    assert_eq!(value["reduced"]["shapes"], serde_json::json!([[1, 1]]));
    let written =
        FailedCall::read(&project.path("failures/x-1.reduced.json")).expect("is a failed call");
    assert_eq!(written.call.inputs[0].tensor.shape, [1, 1]);
    let request = project.read("outcome.json.request");
    assert_eq!(
        request,
        "device rocm, TESTGEN_DEVICE rocm:1, reduce true, report false, failures false\n"
    );
}
