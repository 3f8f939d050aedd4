//! The decisions of the model type and of the class in a spec.

use super::{CONFIG, with_checkpoint};

#[test]
fn the_head_decides_the_task_unless_it_is_given() {
    for (model_type, head, task) in [
        (
            "roberta",
            "RobertaForTokenClassification",
            "token_classification",
        ),
        (
            "distilbert",
            "DistilBertForQuestionAnswering",
            "question_answering",
        ),
        ("bert", "BertModel", "text_embedding"),
        ("gpt2", "GPT2LMHeadModel", "text_generation"),
        ("llama", "LlamaForCausalLM", "text_generation"),
        ("llama", "LlamaModel", "text_embedding"),
        (
            "llama",
            "LlamaForSequenceClassification",
            "text_classification",
        ),
        ("vit", "ViTForImageClassification", "image_classification"),
        ("resnet", "ResNetModel", "image_embedding"),
    ] {
        let project = with_checkpoint(&format!(
            r#"{{ "model_type": "{model_type}", "architectures": ["{head}"] }}"#
        ));
        let outcome = project.run(&["add", "fixtures/tiny"]).expect_code(0);
        assert!(
            outcome.stdout.contains(&format!(", {task}\n")),
            "{}",
            outcome.stdout
        );
    }
    let project = with_checkpoint(CONFIG);
    let outcome = project
        .run(&["add", "fixtures/tiny", "--task", "text_embedding"])
        .expect_code(0);
    assert!(
        outcome.stdout.contains(", text_embedding\n"),
        "{}",
        outcome.stdout
    );
    project
        .run(&[
            "add",
            "fixtures/tiny",
            "--force",
            "--task",
            "image_embedding",
        ])
        .expect_code(2);
}

#[test]
fn a_causal_model_without_a_language_model_head_skips_its_checks() {
    let project = with_checkpoint(r#"{ "model_type": "llama", "architectures": ["LlamaModel"] }"#);
    project.write("fixtures/tiny/tokenizer.json", "");
    project.run(&["add", "fixtures/tiny"]).expect_code(0);
    let text = project.read("model_specs/decoder_only/tiny.yaml");
    for check in ["greedy_margin", "generation_controls"] {
        let line = format!(
            "    - {{ check: {check}, reason: \"the checkpoint has no language-model head\" }}\n"
        );
        assert!(text.contains(&line), "{text}");
    }
    assert!(!text.contains("preprocess_golden"), "{text}");
    project.run(&["generate"]).expect_code(0);
}

#[test]
fn a_model_of_graphs_needs_nothing_beside_its_configuration() {
    let config =
        r#"{ "model_type": "graphormer", "architectures": ["GraphormerForGraphClassification"] }"#;
    let project = with_checkpoint(config);
    project.run(&["add", "fixtures/tiny"]).expect_code(0);
    let text = project.read("model_specs/graph/tiny.yaml");
    assert!(
        text.contains("task: graph_classification\n") && !text.contains("skip"),
        "{text}"
    );
    project.run(&["generate"]).expect_code(0);
}

#[test]
fn a_type_without_a_native_implementation_is_added_like_any_other() {
    let config = r#"{ "model_type": "camembert", "architectures": ["CamembertForMaskedLM"] }"#;
    let project = with_checkpoint(config);
    project.run(&["add", "fixtures/tiny"]).expect_code(0);
    let text = project.read("model_specs/encoder_only/tiny.yaml");
    assert!(
        text.contains("model_type: camembert\n") && text.contains("task: fill_mask\n"),
        "{text}"
    );
    project.run(&["generate"]).expect_code(0);
    assert!(
        project
            .read("generated/src/encoder_only/tiny.rs")
            .contains("ModelType::Camembert")
    );
    project.run(&["verify"]).expect_code(0);
    let refused = project.run(&["run"]).expect_code(2).stderr;
    assert!(
        refused.contains(
            "no selected engine computes `tiny`: the native engine does not implement `camembert`"
        ),
        "{refused}"
    );
}
