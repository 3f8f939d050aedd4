//! Messages about damaged files of `config.json`: they name the field and its path.

use super::read;
use crate::{
    decoder_only::{gemma::Gemma2Config, llama::Llama},
    encoder_decoder::bart::BartConfig,
    encoder_only::bert::BertConfig,
    multimodal::llava::LlavaConfig,
    vision_text::clip::ClipConfig,
};

#[track_caller]
fn assert_message(message: &str, expected: &str) {
    assert!(
        message.contains(expected),
        "{expected:?} is not in {message:?}"
    );
}

#[test]
fn a_field_of_the_file() {
    let null = read::<Llama>(r#"{ "model_type": "llama", "hidden_size": null }"#);
    assert_message(
        &null,
        "config.json of a `llama`: hidden_size: invalid type: null, expected usize",
    );
    let text = read::<BertConfig>(r#"{ "model_type": "bert", "layer_norm_eps": "tiny" }"#);
    assert_message(
        &text,
        "layer_norm_eps: invalid type: string \"tiny\", expected f64",
    );
    let word = read::<BertConfig>(r#"{ "model_type": "bert", "hidden_act": "swoosh" }"#);
    assert_message(&word, "hidden_act: unknown variant `swoosh`");
    let negative = read::<BertConfig>(r#"{ "model_type": "bert", "vocab_size": -1 }"#);
    assert_message(
        &negative,
        "vocab_size: invalid value: integer `-1`, expected usize",
    );
    let window = read::<Gemma2Config>(r#"{ "model_type": "gemma2", "sliding_window": null }"#);
    assert_message(
        &window,
        "config.json of a `gemma2`: sliding_window: invalid type: null, expected usize",
    );
}

#[test]
fn several_fields() {
    let both = read::<Llama>(
        r#"{ "model_type": "llama", "hidden_size": null, "vocab_size": null, "head_dim": 8 }"#,
    );
    assert_message(
        &both,
        "hidden_size: invalid type: null, expected usize; vocab_size: invalid type: null",
    );
}

#[test]
fn a_field_of_an_object() {
    let factor = read::<Llama>(
        r#"{ "model_type": "llama", "rope_scaling": { "type": "linear", "factor": "2" } }"#,
    );
    assert_message(
        &factor,
        "rope_scaling.factor: invalid type: string \"2\", expected f64",
    );
    let unknown = read::<Llama>(
        r#"{ "model_type": "llama", "rope_scaling": { "type": "linear", "faktor": 2.0 } }"#,
    );
    assert_message(&unknown, "rope_scaling.faktor: unknown field `faktor`");
}

#[test]
fn a_field_of_a_nested_configuration() {
    let width = read::<LlavaConfig>(
        r#"{ "model_type": "llava", "vision_config": {}, "text_config": { "hidden_size": null, "rms_norm_eps": 1e-5 } }"#,
    );
    assert_message(
        &width,
        "config.json of a `llava`: text_config.hidden_size: invalid type: null, expected usize",
    );
    let whole = read::<ClipConfig>(r#"{ "model_type": "clip", "text_config": 3 }"#);
    assert_message(
        &whole,
        "text_config: invalid type: integer `3`, expected a map",
    );
    let unsupported =
        read::<ClipConfig>(r#"{ "model_type": "clip", "vision_config": { "rotation": 2 } }"#);
    assert_message(
        &unsupported,
        "`vision_config.rotation` = 2, which is not supported",
    );
    let relation =
        read::<ClipConfig>(r#"{ "model_type": "clip", "text_config": { "hidden_size": 30 } }"#);
    assert_message(
        &relation,
        "text_config: `hidden_size` 30 is not a multiple of `num_attention_heads` 8",
    );
}

#[test]
fn two_names_of_one_field() {
    let twice = read::<BartConfig>(
        r#"{ "model_type": "bart", "encoder_layers": 2, "num_hidden_layers": 3 }"#,
    );
    assert_message(&twice, "`num_hidden_layers` 3 is not `encoder_layers` 2");
    let second = read::<BartConfig>(r#"{ "model_type": "bart", "num_hidden_layers": null }"#);
    assert_message(
        &second,
        "num_hidden_layers: invalid type: null, expected usize",
    );
}

#[test]
fn a_field_of_another_type_with_the_same_definition() {
    let bias = read::<Llama>(r#"{ "model_type": "mistral", "attention_bias": true }"#);
    assert_message(&bias, "`attention_bias` = true, which is not supported");
    let window = read::<Llama>(r#"{ "model_type": "llama", "sliding_window": 8 }"#);
    assert_message(&window, "`sliding_window` = 8, which is not supported");
}
