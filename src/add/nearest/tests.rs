//! Configurations that have a nearest architecture, and ambiguous ones.

use super::*;
use serde_json::json;

fn nearest_text(class: &str, fields: Value) -> Option<String> {
    let fields = fields
        .as_object()
        .expect("the fields are an object")
        .clone();
    nearest(Some(class), &fields).map(|nearest| nearest.architecture.to_string())
}

#[test]
fn configurations_decide_the_architecture() {
    let part = || json!({ "model_type": "part" });
    for (class, fields, expected) in [
        ("CamembertForMaskedLM", json!({}), "encoder_only"),
        (
            "StableLmForCausalLM",
            json!({ "num_attention_heads": 4 }),
            "decoder_only",
        ),
        (
            "OpenAIGPTLMHeadModel",
            json!({ "quantization_config": {} }),
            "decoder_only",
        ),
        (
            "PhimoeForCausalLM",
            json!({ "num_local_experts": 4 }),
            "moe",
        ),
        ("FalconMambaForCausalLM", json!({ "state_size": 16 }), "ssm"),
        (
            "PegasusForConditionalGeneration",
            json!({ "is_encoder_decoder": true, "vocab_size": 9 }),
            "encoder_decoder",
        ),
        (
            "MBartModel",
            json!({ "is_encoder_decoder": true, "vocab_size": 9 }),
            "encoder_decoder",
        ),
        (
            "Speech2TextForConditionalGeneration",
            json!({ "is_encoder_decoder": true, "vocab_size": 9, "input_feat_per_channel": 80 }),
            "speech",
        ),
        ("WavLMForCTC", json!({}), "speech"),
        ("BeitForImageClassification", json!({}), "vision"),
        ("RealmForMultipleChoice", json!({}), "encoder_only"),
        ("SegformerForSemanticSegmentation", json!({}), "vision"),
        ("DiskForKeypointDetection", json!({}), "vision"),
        ("KMaXForUniversalSegmentation", json!({}), "vision"),
        (
            "GLPNForDepthEstimation",
            json!({ "depths": [2, 2, 2, 2] }),
            "vision",
        ),
        (
            "RTDetrForObjectDetection",
            json!({ "is_encoder_decoder": true, "backbone_config": part() }),
            "object_detection",
        ),
        (
            "InformerForPrediction",
            json!({ "is_encoder_decoder": true }),
            "time_series",
        ),
        (
            "Gemma3ForConditionalGeneration",
            json!({ "vision_config": part(), "text_config": part() }),
            "multimodal",
        ),
        (
            "AltCLIPModel",
            json!({ "vision_config": part(), "text_config": part(), "logit_scale_init_value": 2.7 }),
            "vision_text",
        ),
        ("", json!({ "_diffusers_version": "0.42.1" }), "diffusion"),
    ] {
        assert_eq!(
            nearest_text(class, fields).as_deref(),
            Some(expected),
            "{class}"
        );
    }
}

#[test]
fn ambiguous_fields_have_no_nearest_architecture() {
    let part = || json!({ "model_type": "part" });
    for (class, fields) in [
        ("", json!({})),
        ("CamembertModel", json!({ "hidden_size": 4 })),
        (
            "BartForCausalLM",
            json!({ "is_encoder_decoder": true, "vocab_size": 9 }),
        ),
        (
            "JambaForCausalLM",
            json!({ "num_experts": 16, "mamba_d_state": 16, "num_attention_heads": 4 }),
        ),
        (
            "ClipLikeModel",
            json!({ "vision_config": part(), "text_config": part() }),
        ),
        (
            "BambaForCausalLM",
            json!({ "mamba_d_state": 16, "num_attention_heads": 4 }),
        ),
        (
            "ConditionalDetrModel",
            json!({ "is_encoder_decoder": true }),
        ),
        (
            "MusicgenForConditionalGeneration",
            json!({ "is_encoder_decoder": true, "audio_encoder": { "model_type": "a" } }),
        ),
        (
            "Qwen2AudioForConditionalGeneration",
            json!({ "audio_config": {}, "text_config": {}, "vocab_size": 9 }),
        ),
        ("SpeechT5Model", json!({ "state_size": 3 })),
    ] {
        assert_eq!(nearest_text(class, fields), None, "{class}");
    }
}

#[test]
fn every_fixture_is_nearest_to_its_own_architecture() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut nearest_text = 0;
    for fixture in std::fs::read_dir(fixtures)
        .expect("there are fixtures")
        .filter_map(Result::ok)
    {
        let Ok(text) = std::fs::read_to_string(fixture.path().join("config.json")) else {
            continue;
        };
        let fields: Map<String, Value> =
            serde_json::from_str(&text).expect("a fixture's file is an object");
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let class = fields
            .get("architectures")
            .and_then(|classes| text(&classes[0]));
        let own = fields
            .get("model_type")
            .or(fields.get("_class_name"))
            .and_then(text)
            .expect("it has a type");
        let own: testgen_types::ModelType = own.parse().expect("its type is supported");
        if let Some(nearest) = nearest(class.as_deref(), &fields) {
            assert_eq!(nearest.architecture, own.architecture(), "{own}: {nearest}");
            nearest_text += 1;
        }
    }
    assert!(nearest_text >= 50, "{nearest_text}");
}
