//! The capabilities that a configuration describes are those of the network.

use crate::{
    capabilities::{Capabilities, Pooling},
    checkpoint::Checkpoint,
    config, describe, load_model,
};
use std::{fs, path::Path};
use testgen_nn::{device::BackendDevice, weights::Residency};
use testgen_types::{Head, ModelType, Precision};

#[test]
fn described_capabilities_are_those_of_the_network() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut compared = 0;
    let mut wrong = Vec::new();
    for entry in fs::read_dir(fixtures).expect("there are fixtures") {
        let checkpoint = Checkpoint::at(entry.expect("an entry of the folder").path());
        let Ok(config) = checkpoint.config() else {
            continue;
        };
        let model_type =
            ModelType::find(config::model_type(&config)).expect("a fixture's type is known");
        let device = BackendDevice::Cpu(Default::default());
        let network = load_model(
            model_type,
            &checkpoint,
            &device,
            Precision::F32,
            Residency::Resident,
        )
        .expect("a fixture loads")
        .capabilities();
        let described = describe(model_type, &checkpoint)
            .expect("a fixture is described")
            .capabilities();
        compared += 1;
        if comparable(described) != comparable(network) {
            let name = checkpoint
                .directory()
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            wrong.push(format!(
                "{name}:\n  {:?}\n  {:?}",
                comparable(described),
                comparable(network)
            ));
        }
    }
    assert!(compared > 90, "{compared}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_dual_encoder_without_native_implementation_pools_as_its_text_encoder_does() {
    let described = |model_type, text: serde_json::Value| {
        Capabilities::described(
            model_type,
            Head::Base,
            &serde_json::json!({ "text_config": text }),
        )
    };
    let siglip = described(
        ModelType::Siglip2,
        serde_json::json!({ "max_position_embeddings": 64 }),
    );
    assert_eq!(
        (siglip.pooling, siglip.causal, siglip.full_text_length()),
        (Pooling::LastColumn, false, Some(64))
    );
    let clip = described(
        ModelType::Metaclip2,
        serde_json::json!({ "max_position_embeddings": 77 }),
    );
    assert_eq!((clip.pooling, clip.causal), (Pooling::EndToken, true));
    let bert = described(
        ModelType::ChineseClip,
        serde_json::json!({ "type_vocab_size": 2 }),
    );
    assert_eq!((bert.pooling, bert.causal), (Pooling::Fixed, false));
    let roberta = serde_json::json!({ "type_vocab_size": 1, "max_position_embeddings": 64, "pad_token_id": 1 });
    assert_eq!(
        described(ModelType::Altclip, roberta).max_positions,
        Some(62)
    );
}

#[test]
fn tables_of_positions_limit_a_text() {
    let longest =
        |model_type, head, config| Capabilities::described(model_type, head, &config).max_positions;
    let esm = serde_json::json!({
        "max_position_embeddings": 64, "pad_token_id": 1, "position_embedding_type": "absolute", "rope_parameters": {}
    });
    assert_eq!(longest(ModelType::Esm, Head::MaskedLm, esm), Some(62));
    let mpt = serde_json::json!({ "max_seq_len": 64, "attn_config": { "alibi": true } });
    assert_eq!(longest(ModelType::Mpt, Head::CausalLm, mpt), Some(64));
}

#[test]
fn a_pad_token_of_minus_one_reserves_no_position() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let checkpoint = Checkpoint::at(fixtures.join("roberta"));
    let mut config = checkpoint.config().expect("the fixture has one");
    config["pad_token_id"] = (-1).into();
    let model = load_model(
        ModelType::Roberta,
        &checkpoint.with_config(config),
        &BackendDevice::Cpu(Default::default()),
        Precision::F32,
        Residency::Resident,
    );
    let capabilities = model.expect("is loaded").capabilities();
    assert_eq!(capabilities.max_positions, Some(50));
}

/// Without what only a native session asks for.
fn comparable(own: Capabilities) -> Capabilities {
    Capabilities {
        cached_layers: own.cached_layers.map(|_| 1),
        cache_reset_length: None,
        ..own
    }
}
