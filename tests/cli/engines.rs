//! `testgen run --engine`: columns, names of tests, settings and expected failures of engines.

use crate::{fake::suite::run, project::Project, run::rows};
use std::fs;

const LOG: &str = "target/testgen/report.jsonl.log";

#[test]
fn an_engine_is_a_column_of_its_own() {
    let project = Project::with_bert();
    let rules = "finite_f32@torch/eager/tf32|fail|\"reason\":\"NaN\",\"device_name\":\"Fake host\"";
    let arguments = [
        "--device",
        "cpu",
        "--engine",
        "native",
        "--engine",
        "torch/tf32/eager",
        "--engine",
        "torch/eager",
    ];
    let outcome = run(&project, rules, &arguments).expect_code(1);
    let devices: Vec<String> = rows(&outcome)
        .iter()
        .map(|row| {
            row.split(' ')
                .skip(2)
                .step_by(2)
                .take(2)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    // Device and number of failures.
    assert_eq!(
        devices,
        ["cpu 0", "cpu@torch/eager 0", "cpu@torch/eager/tf32 1"],
        "{}",
        outcome.stdout
    );
    assert!(
        outcome
            .stdout
            .contains("encoder_only::bert::cpu::finite_f32@torch/eager/tf32"),
        "{}",
        outcome.stdout
    );
    assert!(
        !outcome.stdout.contains("not trustworthy"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn without_the_flag_the_settings_decide() {
    let project = Project::with_bert();
    project.write("testgen.toml", "engines = [\"torch\"]\n");
    let outcome = run(
        &project,
        "",
        &["--device", "cpu", "--python", "some/python"],
    )
    .expect_code(0);
    assert!(
        rows(&outcome)[0].contains("cpu@torch"),
        "{}",
        outcome.stdout
    );
    let log = fs::read_to_string(project.path(LOG)).expect("there is a log");
    let python = project.path("some/python");
    assert!(
        log.contains(&format!("python: Ok({:?})", python.display().to_string())),
        "{log}"
    );
    let outcome = run(&project, "", &["--device", "cpu", "--engine", "native"]).expect_code(0);
    assert!(!outcome.stdout.contains('@'), "{}", outcome.stdout);
}

#[test]
fn without_the_native_engine_burn_is_not_built() {
    let project = Project::with_bert();
    let features = |arguments: &[&str]| {
        run(&project, "", &[&["--device", "cpu"], arguments].concat()).expect_code(0);
        let log = fs::read_to_string(project.path(LOG)).expect("there is a log");
        log.lines()
            .find_map(|line| line.strip_prefix("features: ").map(str::to_owned))
            .expect("the suite prints them")
    };
    assert_eq!(
        features(&["--engine", "torch"]),
        "cuda false rocm false encoder_only false"
    );
    let both = features(&["--engine", "torch", "--engine", "native"]);
    assert_eq!(both, "cuda true rocm true encoder_only true");
}

#[test]
fn an_expected_failure_names_its_engine() {
    let project = Project::with_bert();
    let xfail = |rest: &str| {
        format!(
            "[[xfail]]\nmodel = \"bert\"\ncheck = \"finite\"\nprecision = \"f32\"\nreason = \"known\"\nowner = \"me\"\n\
             expires = \"9999-12-31\"\n{rest}"
        )
    };
    let rules = "finite_f32@torch|fail|\"reason\":\"NaN\",\"device_name\":\"Fake host\"";
    let arguments = ["--device", "cpu", "--engine", "torch"];
    project.write("testgen.toml", xfail("engine = \"torch\"\n"));
    run(&project, rules, &arguments).expect_code(0);
    project.write("testgen.toml", xfail(""));
    run(&project, rules, &arguments).expect_code(1);
}

#[test]
fn a_name_that_no_engine_can_have_is_an_error() {
    let project = Project::with_bert();
    for name in ["Torch", "torch/", "native/eager"] {
        let outcome = project.run(&["run", "--engine", name]).expect_code(2);
        assert!(
            outcome.stderr.contains("torch/eager/tf32"),
            "{}",
            outcome.stderr
        );
    }
    project.write("testgen.toml", "engines = [\"torch/eager/eager\"]\n");
    let outcome = project.run(&["run"]).expect_code(2);
    assert!(
        outcome.stderr.contains("an option is repeated"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_wrong_choice_of_a_library_is_a_failure_of_the_run() {
    let project = Project::with_bert();
    let run_with = |arguments: &[&str]| {
        let device = ["--device", "cpu", "--engine", "native/vendor"];
        run(&project, "", &[&device, arguments].concat())
    };
    let algorithm = |id: &str, time: &str, problem: &str| {
        format!(
            r#"{{"library":"rocblas","id":"{id}","configuration":"","microseconds":{time},"problem":{problem}}}"#
        )
    };
    let product = |algorithms: &str| {
        format!(
            r#"{{"version":1,"device":"AMD","libraries":["rocblas 4.4.0"],"product":"f32 NN 2x3x4","algorithms":[{algorithms}]}}"#
        )
    };
    let convolution =
        |algorithms: &str| product(algorithms).replace("\"product\"", "\"convolution\"");
    let right = algorithm("default", "4.0", "null");
    let wrong = |id: &str| algorithm(id, "null", "\"NaN\"");
    project.write("tuned", product(&format!("{right},{}", wrong("7"))));
    let outcome = run_with(&["--tune", "tuned"]).expect_code(0);
    let expected = "tuning: 1 product, 2 algorithms, 1 wrong; the fastest correct ones take 1.00";
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    project.write("tuned", product(&format!("{},{right}", wrong("default"))));
    let outcome = run_with(&["--tune", "tuned"]).expect_code(1);
    let expected = "the library's own choice is wrong for 1 product";
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    let lines = [
        product(&right),
        convolution(&format!("{},{right}", wrong("default"))),
    ];
    project.write("tuned", lines.join("\n"));
    let outcome = run_with(&["--tune", "tuned"]).expect_code(1);
    let expected = "the library's own choice is wrong for 1 convolution";
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    // The choices of a file were reported when it was written.
    let outcome = run_with(&["--tuned", "tuned"]).expect_code(0);
    assert!(!outcome.stderr.contains("tuning:"), "{}", outcome.stderr);
}

#[test]
fn only_products_of_a_library_are_tuned() {
    let project = Project::with_bert();
    let error = |arguments: &[&str]| {
        let outcome = project.run(&[&["run"], arguments].concat()).expect_code(2);
        outcome.stderr
    };
    let text = error(&["--tune", "tuned", "--engine", "native"]);
    assert!(text.contains("add `--engine native/vendor`"), "{text}");
    let text = error(&["--tuned", "absent", "--engine", "native/vendor"]);
    assert!(text.contains("`absent` is not a file"), "{text}");
    let text = error(&["--tuned", "a", "--tune", "b"]);
    assert!(text.contains("cannot be used with"), "{text}");
}
