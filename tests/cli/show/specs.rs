//! `testgen show specs`: the specs and their state.

use crate::project::{BERT, Project};

fn two_models() -> Project {
    let project = Project::with_bert();
    let vit = "name: vit\nmodel_type: vit\narchitecture: vision\ntask: image_embedding\ncheckpoint: { path: ../../vit }\n\
               devices: [cpu]\nprecisions: [f32]\n";
    project.write("model_specs/vision/vit.yaml", vit);
    project.write("vit/config.json", "{}");
    project.write("fixtures/bert/config.json", "{}");
    project.write("fixtures/bert/golden.safetensors", "");
    project
}

#[test]
fn a_table_of_all_specs() {
    let project = two_models();
    project.run(&["generate", "--name", "bert"]).expect_code(0);
    insta::assert_snapshot!(project.run(&["show", "specs"]).expect_code(0).stdout);
}

#[test]
fn json_for_scripts() {
    let project = two_models();
    insta::assert_snapshot!(
        project
            .run(&["show", "specs", "--format", "json"])
            .expect_code(0)
            .stdout
    );
}

#[test]
fn filters_and_places_are_those_of_generate() {
    let project = two_models();
    let names = |flags: &[&str]| {
        let outcome = project
            .run(&[&["show", "specs"], flags].concat())
            .expect_code(0);
        outcome
            .stdout
            .lines()
            .skip(1)
            .filter_map(|line| line.split(' ').next().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&["--name", "v*"]), ["vit"]);
    assert_eq!(names(&["--architecture", "encoder_only"]), ["bert"]);
    assert_eq!(names(&["--device", "rocm"]), ["bert"]);
    project
        .run(&["show", "specs", "--name", "x"])
        .expect_code(2);
    project
        .run(&["show", "specs", "--specs", "nowhere"])
        .expect_code(2);
    project.write("model_specs/broken.yaml", BERT);
    project.run(&["show", "specs"]).expect_code(2);
}

#[test]
fn help_shows_examples_and_every_flag() {
    insta::assert_snapshot!(
        Project::empty()
            .run(&["show", "specs", "--help"])
            .expect_code(0)
            .stdout
    );
}
