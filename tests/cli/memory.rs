//! `testgen show memory` and `show products`: tables, JSON, types without an estimate, damaged
//! checkpoints.

use crate::project::Project;
use serde_json::Value;
use std::{fs, path::Path};

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(name)
        .display()
        .to_string()
}

fn json(arguments: &[&str]) -> Value {
    let all: Vec<&str> = ["show", "memory", "--format", "json"]
        .iter()
        .chain(arguments)
        .copied()
        .collect();
    let outcome = Project::empty().run(&all).expect_code(0);
    serde_json::from_str(&outcome.stdout).expect("is JSON")
}

fn row<'a>(value: &'a Value, backend: &str, precision: &str) -> &'a Value {
    let rows = value["estimates"].as_array().expect("is a list");
    let is_it = |row: &&Value| row["backend"] == backend && row["precision"] == precision;
    rows.iter()
        .find(is_it)
        .unwrap_or_else(|| panic!("no {backend} {precision} in {value}"))
}

#[test]
fn weights_are_those_of_the_header_and_half_as_many_bytes_in_16_bits() {
    let value = json(&[&fixture("bert_masked_lm")]);
    assert_eq!(
        (&value["version"], &value["model_type"]),
        (&1.into(), &"bert".into())
    );
    let [single, half] =
        ["f32", "bf16"].map(|precision| row(&value, "cpu", precision)["weights"].as_u64());
    assert!(
        single > Some(10_000) && single == half.map(|half| 2 * half),
        "{value}"
    );
    for row in value["estimates"].as_array().expect("is a list") {
        let part = |name: &str| row[name].as_u64().expect("is a number");
        assert_eq!(
            part("total"),
            part("weights") + part("cache") + part("activations") + part("workspace")
        );
        assert!(part("activations") > 0 && part("cache") == 0, "{row}");
    }
    assert_eq!(value["devices"][0]["device"], "cpu:0");
    assert_eq!(value["devices"][0]["fits"]["f32"], "yes");
}

/// Two layers with two heads of 12 for keys and as many for values, in two texts of 16 tokens. On a
/// GPU the keys were rotated, and the values are in rows of 24 numbers, which take a power of two.
#[test]
fn the_cache_has_the_keys_and_values_of_every_token() {
    let value = json(&[&fixture("llama"), "--batch", "2", "--tokens", "16"]);
    let bytes = |backend: &str, precision: &str| row(&value, backend, precision)["cache"].as_u64();
    assert_eq!(bytes("cpu", "f32"), Some(2 * 2 * 2 * 12 * 2 * 16 * 4));
    assert_eq!(bytes("gpu", "f32"), Some(2 * 2 * 16 * (24 * 4 + 128)));
    assert_eq!(bytes("gpu", "f16"), Some(2 * 2 * 16 * (24 * 2 + 64)));
}

#[test]
fn memory_grows_with_batch_and_tokens() {
    let total = |batch: &str, tokens: &str| {
        let value = json(&[
            &fixture("t5"),
            "--batch",
            batch,
            "--tokens",
            tokens,
            "--precision",
            "f16",
        ]);
        assert_eq!(value["estimates"].as_array().map(Vec::len), Some(2));
        row(&value, "gpu", "f16")["total"].as_u64()
    };
    assert!(total("1", "16") < total("2", "16") && total("2", "16") < total("2", "32"));
}

#[test]
fn a_table_has_every_part_and_every_device() {
    let outcome = Project::empty()
        .run(&["show", "memory", &fixture("vit")])
        .expect_code(0);
    for word in [
        "ViT",
        "batch 1; MiB",
        "weights",
        "cache",
        "activations",
        "workspace",
        "total",
        "cpu:0",
        "f32: yes",
    ] {
        assert!(
            outcome.stdout.contains(word),
            "`{word}` is not in\n{}",
            outcome.stdout
        );
    }
}

#[test]
fn images_have_the_size_that_is_asked_for_where_a_type_reads_any() {
    let estimated = |name: &str, image: &str| {
        let value = json(&[&fixture(name), "--image", image, "--precision", "f32"]);
        let total = row(&value, "gpu", "f32")["total"].as_u64();
        (value["image"].clone(), total)
    };
    for name in ["resnet_basic", "unet"] {
        let [(image, small), (_, large)] = ["32x64", "64x64"].map(|image| estimated(name, image));
        assert_eq!(image, serde_json::json!([32, 64]));
        assert!(small < large, "{name}: {small:?}, {large:?}");
    }
    let project = Project::empty();
    let shown = project.run(&[
        "show",
        "memory",
        &fixture("resnet_basic"),
        "--image",
        "32x64",
    ]);
    let shown = shown.expect_code(0).stdout;
    assert!(shown.contains("batch 1, images of 32 x 64; MiB"), "{shown}");
    for (name, image, message) in [
        ("vit", "64x64", "`vit` does not read images of any size"),
        ("unet", "64x4096", "only sides from 1 to 1024"),
        ("resnet_basic", "0x64", "expected a height and a width"),
    ] {
        let refused = project.run(&["show", "memory", &fixture(name), "--image", image]);
        let stderr = refused.expect_code(2).stderr;
        assert!(stderr.contains(message), "{name}: {stderr}");
    }
}

#[test]
fn graphs_have_nodes_and_questions_have_passages() {
    let calls = |name: &str, tokens: &str| {
        let value = json(&[&fixture(name), "--tokens", tokens, "--precision", "f32"]);
        assert_eq!(value["tokens"].to_string(), tokens);
        row(&value, "cpu", "f32").clone()
    };
    let activations = |name: &str, tokens| calls(name, tokens)["activations"].as_u64();
    // Pairs of nodes: twice as many nodes have four times as many.
    let [few, many] = ["40", "80"].map(|nodes| activations("graphormer", nodes));
    assert!(many > few.map(|few| 3 * few), "{few:?}, {many:?}");
    let project = Project::empty();
    let shown = project.run(&["show", "memory", &fixture("graphormer"), "--tokens", "40"]);
    let shown = shown.expect_code(0).stdout;
    assert!(shown.contains("batch 1, 40 nodes; MiB"), "{shown}");
    let keys = calls("rag_token", "5")["cache"].as_u64();
    // Keys and values of 20 numbers, in one layer: of 5 decoded tokens and of 25 for each of three passages.
    assert_eq!(keys, Some(2 * 4 * 20 * 3 * (5 + 25)));
}

#[test]
fn a_type_without_an_estimate_is_refused_by_its_name() {
    let project = Project::empty();
    let directory = with_field(&project, "model_type", "vits".into());
    let outcome = project.run(&["show", "memory", &directory]).expect_code(2);
    assert!(
        outcome
            .stderr
            .contains("the memory of model type `vits` cannot be estimated"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("docs/memory.md"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn more_tokens_than_positions_are_refused() {
    let outcome = Project::empty()
        .run(&["show", "memory", &fixture("bert"), "--tokens", "100000"])
        .expect_code(2);
    assert!(
        outcome.stderr.contains("100000 tokens are more than the"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stderr.contains("--tokens"), "{}", outcome.stderr);
}

/// A copy of a fixture with one field of its configuration replaced.
fn with_field(project: &Project, field: &str, value: Value) -> String {
    let text =
        fs::read(Path::new(&fixture("bert")).join("config.json")).expect("it has a configuration");
    let mut config: Value = serde_json::from_slice(&text).expect("is JSON");
    config[field] = value;
    project.write("damaged/config.json", config.to_string());
    let weights =
        fs::read(Path::new(&fixture("bert")).join("model.safetensors")).expect("it has weights");
    project.write("damaged/model.safetensors", weights);
    project.path("damaged").display().to_string()
}

#[test]
fn sizes_that_no_model_has_are_refused() {
    let project = Project::empty();
    let cases: [(&str, Value); 5] = [
        ("num_attention_heads", 0.into()),
        ("hidden_size", "wide".into()),
        ("hidden_size", u64::MAX.into()),
        ("num_hidden_layers", 4_000_000_000_u64.into()),
        ("intermediate_size", (-1).into()),
    ];
    for (field, value) in cases {
        let directory = with_field(&project, field, value);
        let outcome = project.run(&["show", "memory", &directory]).expect_code(2);
        assert!(
            outcome.stderr.contains(field),
            "{field}: {}",
            outcome.stderr
        );
    }
    let directory = with_field(&project, "model_type", "unheard-of".into());
    let outcome = project.run(&["show", "memory", &directory]).expect_code(2);
    assert!(
        outcome.stderr.contains("unknown model type `unheard-of`"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_damaged_header_is_refused() {
    let project = Project::empty();
    let directory = with_field(&project, "hidden_size", 32.into());
    for bytes in [
        &b"\xff\xff\xff\xff\xff\xff\xff\xff{}"[..],
        b"\x02\0\0\0\0\0\0\0[]",
        b"\x01",
    ] {
        project.write("damaged/model.safetensors", bytes);
        let outcome = project.run(&["show", "memory", &directory]).expect_code(2);
        assert!(
            outcome.stderr.contains("model.safetensors"),
            "{}",
            outcome.stderr
        );
    }
}

/// Every projection of BERT, which the configuration of the fixture determines.
#[test]
fn the_products_of_a_model_are_a_table_and_a_valid_spec() {
    let project = Project::empty();
    let bert = fixture("bert");
    let config = fs::read_to_string(Path::new(&bert).join("config.json")).expect("a configuration");
    let config: Value = serde_json::from_str(&config).expect("JSON");
    let size = |name: &str| config[name].as_u64().expect("a size");
    let (width, inner) = (size("hidden_size"), size("intermediate_size"));
    let heads = size("num_attention_heads");
    let arguments = ["show", "products", &bert, "--batch", "2", "--tokens", "5"];
    let human = project.run(&arguments).expect_code(0).stdout;
    let number = 4 * size("num_hidden_layers");
    let row = format!("1 10 {width} {width} {number}");
    let rows: Vec<String> = human
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert!(
        rows.iter().any(|line| line.starts_with(&row)),
        "{row}: {human}"
    );
    let spec = project.run(&[&arguments[..], &["--format", "spec"]].concat());
    let spec = spec.expect_code(0).stdout;
    for shape in [
        format!("[10, {width}, {inner}]"),
        format!("[10, {inner}, {width}]"),
        format!("[{}, 5, {}, 5]", 2 * heads, width / heads),
    ] {
        assert!(spec.contains(&shape), "{shape}: {spec}");
    }
    assert!(spec.contains("name: bert_products"), "{spec}");
    project.write("model_specs/operators/bert_products.yaml", &spec);
    let shown = project.run(&["show", "specs"]).expect_code(0).stdout;
    assert!(shown.contains("bert_products"), "{shown}");
    let directory = with_field(&project, "model_type", "vits".into());
    let unknown = project.run(&["show", "products", &directory]);
    assert!(unknown.expect_code(2).stderr.contains("docs/memory.md"));
}
