//! Checkpoints of each method, in the forms that its tools write, and every fixture of this
//! repository, which has none.

use super::QuantizedCheckpoint;
use serde_json::{Value, json};
use std::{fs, path::Path};

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("the temporary directory can be written")
}

/// The message about a configuration, or `none`.
fn of_config(config: &Value) -> String {
    message(QuantizedCheckpoint::find(directory().path(), config))
}

fn message(found: Option<QuantizedCheckpoint>) -> String {
    found.map_or_else(
        || "none".to_owned(),
        |found| format!("{found}; {}", found.remedy()),
    )
}

fn with_file(name: &str, bytes: &[u8]) -> String {
    let directory = directory();
    fs::write(directory.path().join(name), bytes).expect("can be written");
    message(QuantizedCheckpoint::in_directory(directory.path()))
}

/// A file with the header of safetensors alone: nothing else is read.
fn with_tensors(tensors: &[(&str, &str)]) -> String {
    let mut header = json!({ "__metadata__": { "format": "pt", "dtype": "I8" } });
    for (name, dtype) in tensors {
        header[*name] = json!({ "dtype": dtype, "shape": [2, 2], "data_offsets": [0, 4] });
    }
    let text = header.to_string();
    let bytes = [&(text.len() as u64).to_le_bytes(), text.as_bytes(), b"data"].concat();
    with_file("model-00001-of-00002.safetensors", &bytes)
}

#[track_caller]
fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

#[test]
fn only_methods_that_are_not_dequantized_are_said_to_be_so() {
    for (method, is_refused) in [("awq", false), ("gptq", false), ("hqq", true)] {
        let message = of_config(&json!({ "quantization_config": { "quant_method": method } }));
        let found = message.contains("testgen does not dequantize this method");
        assert_eq!(found, is_refused, "{message}");
    }
}

#[test]
fn each_method_of_transformers_and_diffusers_is_named() {
    for (id, name) in [
        ("aqlm", "AQLM"),
        ("auto-round", "AutoRound"),
        ("awq", "AWQ"),
        ("bitnet", "BitNet"),
        ("bitsandbytes", "bitsandbytes"),
        ("compressed-tensors", "compressed-tensors"),
        ("eetq", "EETQ"),
        ("fbgemm_fp8", "FBGEMM FP8"),
        ("fouroversix", "Four Over Six"),
        ("fp8", "FP8"),
        ("fp_quant", "FP-Quant"),
        ("gguf", "GGUF"),
        ("gptq", "GPTQ"),
        ("higgs", "HIGGS"),
        ("hqq", "HQQ"),
        ("metal", "Metal"),
        ("modelopt", "ModelOpt"),
        ("mxfp4", "MXFP4"),
        ("mxfp8", "MXFP8"),
        ("nvfp4", "NVFP4"),
        ("quanto", "Quanto"),
        ("quark", "Quark"),
        ("sinq", "SINQ"),
        ("spqr", "SpQR"),
        ("torchao", "torchao"),
        ("vptq", "VPTQ"),
    ] {
        for spelled in [id.to_owned(), id.to_uppercase()] {
            let text = of_config(&json!({ "quantization_config": { "quant_method": spelled } }));
            assert_contains(
                &text,
                &[
                    &format!(
                        "the weights are quantized with {name}, according to `quantization_config` in `config.json`"
                    ),
                    "use the checkpoint that it was quantized from",
                ],
            );
        }
    }
    let text = of_config(&json!({ "quantization_config": { "quant_method": "q\u{1b}[2Jnew" } }));
    assert_contains(&text, &["the unknown method `q\u{fffd}[2Jnew`"]);
}

#[test]
fn options_are_found_where_the_method_is() {
    for off in [Value::Null, json!({})] {
        let options = json!({ "quant_method": "gptq", "bits": 4 });
        let config = json!({ "quantization_config": off, "compression_config": options });
        assert!(of_config(&config).contains("GPTQ (4 bits)"));
        assert_eq!(QuantizedCheckpoint::options(&config), &options);
        let nested = json!({ "quantization_config": off, "text_config": config });
        assert_eq!(QuantizedCheckpoint::options(&nested), &options);
    }
}

#[test]
fn formats_of_a_method_are_named() {
    for (options, expected) in [
        (
            json!({ "quant_method": "gptq", "bits": 4, "group_size": 128 }),
            "GPTQ (4 bits)",
        ),
        (json!({ "bits": 8, "desc_act": true }), "GPTQ (8 bits)"),
        (
            json!({ "w_bit": 4, "zero_point": true, "version": "gemm" }),
            "AWQ (4 bits)",
        ),
        (
            json!({ "quant_method": "bitsandbytes", "load_in_8bit": true }),
            "bitsandbytes (int8)",
        ),
        (json!({ "load_in_8bit": true }), "bitsandbytes (int8)"),
        (
            json!({ "load_in_4bit": true, "bnb_4bit_quant_type": "nf4" }),
            "bitsandbytes (nf4)",
        ),
        (json!({ "load_in_4bit": true }), "bitsandbytes (fp4)"),
        (
            json!({ "quant_method": "fp8", "fmt": "e4m3" }),
            "FP8 (e4m3)",
        ),
        (
            json!({ "config_groups": {}, "format": "float-quantized" }),
            "compressed-tensors (float-quantized)",
        ),
        (
            json!({ "quant_method": "quanto", "weights": "int8" }),
            "Quanto (int8)",
        ),
        (json!({ "group_size": 128 }), "the unknown method `unnamed`"),
    ] {
        assert_contains(
            &of_config(&json!({ "quantization_config": options })),
            &[expected],
        );
    }
    assert_contains(
        &of_config(&json!({ "compression_config": { "sparsity_config": {} } })),
        &["compressed-tensors"],
    );
    assert_contains(
        &of_config(&json!({ "quantization": { "group_size": 64, "bits": 4 } })),
        &["MLX (4 bits)"],
    );
}

#[test]
fn parts_of_a_model_count_and_fields_that_are_off_do_not() {
    let nested = json!({ "text_config": { "quantization_config": { "quant_method": "awq" } } });
    assert_contains(
        &of_config(&nested),
        &["AWQ", "`text_config.quantization_config` in `config.json`"],
    );
    for off in [json!(null), json!(false), json!({})] {
        assert_eq!(
            of_config(&json!({ "quantization_config": off, "hidden_size": 8 })),
            "none"
        );
    }
    assert_eq!(of_config(&Value::Null), "none");
}

#[test]
fn files_of_older_tools_count() {
    for (file, text, expected) in [
        (
            "quantize_config.json",
            r#"{ "bits": 4, "group_size": 128 }"#,
            "GPTQ (4 bits)",
        ),
        ("quant_config.json", r#"{ "w_bit": 4 }"#, "AWQ (4 bits)"),
        (
            "hf_quant_config.json",
            r#"{ "quantization": { "quant_algo": "NVFP4" } }"#,
            "ModelOpt (NVFP4)",
        ),
        ("quanto_qmap.json", "garbled", "Quanto"),
        ("model.Q4_K_M.gguf", "", "GGUF"),
    ] {
        assert_contains(
            &with_file(file, text.as_bytes()),
            &[expected, &format!("according to the file `{file}`")],
        );
    }
}

#[test]
fn tensors_count_where_the_configuration_is_silent() {
    for (tensors, expected) in [
        (
            &[("a.qweight", "I32"), ("a.g_idx", "I32")][..],
            "GPTQ, according to the tensor `a.g_idx`",
        ),
        (&[("a.qweight", "I32"), ("a.qzeros", "I32")], "AWQ"),
        (
            &[("a.SCB", "F32"), ("a.weight", "I8")],
            "bitsandbytes (int8)",
        ),
        (
            &[
                ("a.weight.quant_state.bitsandbytes__nf4", "U8"),
                ("a.weight", "U8"),
            ],
            "bitsandbytes (nf4)",
        ),
        (&[("a.weight_packed", "I32")], "compressed-tensors"),
        (
            &[("a.weight", "F8_E4M3"), ("a.weight_scale_inv", "F32")],
            "FP8, according to the tensor `a.weight_scale_inv`",
        ),
        (&[("a.weight", "F8_E4M3FNUZ")], "FP8 (F8_E4M3FNUZ)"),
        (
            &[
                ("a.gate_up_proj_blocks", "U8"),
                ("a.gate_up_proj_scales", "U8"),
            ],
            "MXFP4",
        ),
        (&[("a.weight._data", "I8")], "Quanto"),
        (&[("a.W_q", "U8")], "HQQ"),
        (&[("a.codebooks", "F16")], "AQLM"),
        (&[("a.weight_scales", "F16"), ("a.weight", "I8")], "EETQ"),
        (&[("a.weight", "I8")], "integers (I8)"),
    ] {
        assert_contains(&with_tensors(tensors), &[expected]);
    }
    for plain in [
        ("a.weight", "BF16"),
        ("a.num_batches_tracked", "I64"),
        ("a.position_ids", "I32"),
        ("a_blocks", "F32"),
    ] {
        assert_eq!(with_tensors(&[plain]), "none", "{plain:?}");
    }
    for damaged in [&b""[..], b"1234567", &[255; 64]] {
        assert_eq!(with_file("model.safetensors", damaged), "none");
    }
}

#[test]
fn the_methods_that_are_dequantized_are_not_refused() {
    let dequantized = |method: &str| {
        let config =
            json!({ "text_config": { "quantization_config": { "quant_method": method } } });
        QuantizedCheckpoint::find(directory().path(), &config).and_then(|found| found.dequantized())
    };
    assert_eq!(
        dequantized("compressed_tensors"),
        Some("compressed-tensors")
    );
    assert_eq!(dequantized("GPTQ"), Some("gptq"));
    assert_eq!(dequantized("hqq"), None);
    assert_eq!(dequantized("new"), None);
}

#[test]
fn without_its_options_a_configuration_is_not_quantized() {
    let mut config = json!({
        "hidden_size": 4,
        "text_config": { "quantization_config": { "quant_method": "awq" }, "vocab_size": 9 },
    });
    assert_eq!(QuantizedCheckpoint::options(&config)["quant_method"], "awq");
    QuantizedCheckpoint::remove_options(&mut config);
    let expected = json!({ "hidden_size": 4, "text_config": { "vocab_size": 9 } });
    assert_eq!(config, expected);
    assert_eq!(QuantizedCheckpoint::options(&config), &Value::Null);
}

/// Otherwise models that are tested without quantization would be dequantized or refused.
#[test]
fn only_fixtures_that_say_so_are_quantized() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let directories = fs::read_dir(fixtures)
        .expect("there are fixtures")
        .filter_map(Result::ok);
    let checkpoints: Vec<_> = directories
        .map(|entry| entry.path())
        .filter(|path| path.join("config.json").is_file())
        .collect();
    assert!(checkpoints.len() > 90, "{}", checkpoints.len());
    let found = checkpoints.iter().filter_map(|checkpoint| {
        let found = QuantizedCheckpoint::in_directory(checkpoint)?;
        Some((checkpoint.file_name()?.to_str()?, found.dequantized()?))
    });
    let mut found: Vec<_> = found.collect();
    found.sort_unstable();
    let expected = [("llama_gptq", "gptq"), ("qwen3_fp8", "fp8")];
    assert_eq!(found, expected);
}
