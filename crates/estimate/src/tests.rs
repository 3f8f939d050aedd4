//! The sequence of allocations of small cases that can be counted by hand.

mod convolutions;
mod gpu;
mod graphs;
mod retrieval;
mod types;

use crate::{
    CallSizes, CheckpointHeaders,
    attention::{KeyValueTensors, attend, split_heads},
    elementwise::{ActivationMemory, cat},
    layers::MlpKind,
    matrix_product::MatrixProduct,
    product::{Order, ProjectionMatrix},
    tensor::{Backend, ElementType, Machine, empty},
};
use serde_json::{Value, json};
use std::{fs, path::Path, rc::Rc};
use testgen_types::Precision;

fn machine(backend: Backend, element: ElementType) -> Rc<Machine> {
    Machine::new(backend, element, false)
}

/// The peak of `run` in bytes, with the input that it is called with.
fn peak(machine: &Rc<Machine>, run: impl FnOnce()) -> u64 {
    run();
    assert_eq!(machine.ledger.now().total(), 0, "something was not dropped");
    machine.ledger.peak().total()
}

#[test]
fn a_sum_is_written_over_an_operand_that_is_not_shared() {
    for backend in [Backend::Host, Backend::Gpu] {
        let machine = machine(backend, ElementType::F32);
        let x = || empty(&machine, &[2, 4], ElementType::F32);
        assert_eq!(peak(&machine, || drop(x().combine(x()))), 2 * 32);
        let shared = || {
            let x = x();
            drop(
                x.clone()
                    .combine(empty(&machine, &[2, 4], ElementType::F32)),
            );
            drop(x);
        };
        // A GPU also writes over the other operand.
        assert_eq!(
            peak(&machine, shared),
            if backend == Backend::Gpu {
                2 * 32
            } else {
                3 * 32
            }
        );
    }
}

#[test]
fn a_broadcast_row_is_added_in_place_and_a_broadcast_matrix_is_not() {
    let machine = machine(Backend::Host, ElementType::F32);
    let x = |dims: &[u64]| empty(&machine, dims, ElementType::F32);
    assert!(x(&[4, 2, 3]).combine(x(&[1, 1, 3])).is_unique());
    assert_eq!(machine.ledger.peak().total(), 4 * (24 + 3));
    drop(x(&[4, 2, 3]).combine(x(&[1, 2, 3])));
    assert_eq!(machine.ledger.peak().total(), 4 * (24 + 6 + 24));
}

#[test]
fn a_view_keeps_the_whole_block() {
    let machine = machine(Backend::Host, ElementType::F16);
    let view = empty(&machine, &[2, 6], ElementType::F16).narrow(1, 2, 2);
    assert_eq!(machine.ledger.now().activations, 24);
    let copy = view.contiguous();
    assert_eq!(
        (machine.ledger.now().activations, copy.dims()),
        (8, &[2, 2][..])
    );
    let heads = split_heads(empty(&machine, &[1, 3, 4], ElementType::F16), 2);
    assert_eq!(
        (heads.dims(), heads.is_contiguous()),
        (&[1, 2, 3, 2][..], false)
    );
    assert_eq!(cat(vec![copy], 0).dims(), [2, 2]);
}

#[test]
fn a_part_in_another_order_is_copied_beside_the_result() {
    for (backend, more) in [(Backend::Host, 3), (Backend::Gpu, 2)] {
        let machine = machine(backend, ElementType::F32);
        let part = || empty(&machine, &[4, 4], ElementType::F32);
        let join = || drop(cat(vec![part(), part().swap(0, 1)], 0));
        // Two parts of 64 bytes, a result of twice as many, and on the host a copy.
        assert_eq!(peak(&machine, join), 64 * (2 + more));
    }
}

#[test]
fn a_conversion_on_the_host_has_eight_bytes_for_each_element() {
    for (backend, expected) in [
        (Backend::Host, 16 * (2 + 8 + 4)),
        (Backend::Gpu, 16 * (2 + 4)),
    ] {
        let machine = machine(backend, ElementType::F16);
        let cast = || drop(empty(&machine, &[16], ElementType::F16).cast(ElementType::F32));
        assert_eq!(peak(&machine, cast), expected, "{backend:?}");
    }
}

#[test]
fn a_product_in_bf16_converts_both_factors_on_the_host() {
    let matrix = ProjectionMatrix {
        inner: 8,
        out: 16,
        bias: false,
        order: Order::Turned,
    };
    let product = |backend| {
        let machine = machine(backend, ElementType::Bf16);
        peak(&machine, || {
            drop(matrix.forward(empty(&machine, &[1, 3, 8], ElementType::Bf16)))
        })
    };
    let (x, weight, y) = (3 * 8, 8 * 16, 3 * 16);
    assert_eq!(product(Backend::Gpu), 2 * (x + y));
    // The f32 result is zeroed in memory that is then copied to an aligned place.
    assert_eq!(product(Backend::Host), 2 * x + 4 * (x + weight + 2 * y));
}

#[test]
fn a_mapped_matrix_needs_sums_by_columns_only_where_its_kernel_is_faster() {
    let machine = Machine::new(Backend::Host, ElementType::F32, true);
    let matrix = ProjectionMatrix::linear(1024, 512, false);
    let workspace = |rows: u64| {
        drop(matrix.forward(empty(&machine, &[1, rows, 1024], ElementType::F32)));
        machine.ledger.peak().workspace
    };
    assert_eq!(workspace(16), 16 * 512 * 4);
    assert_eq!(workspace(2000), 0);
}

#[test]
fn scores_are_the_peak_of_attention_to_many_tokens() {
    let machine = machine(Backend::Gpu, ElementType::F16);
    let (seq, heads, head_dim) = (1024, 4, 16);
    let tensor = || empty(&machine, &[1, heads, seq, head_dim], ElementType::F16);
    let attended = || {
        drop(attend(
            tensor(),
            KeyValueTensors {
                key: tensor(),
                value: tensor(),
            },
            false,
            None,
        ))
    };
    let (scores, value) = (2 * heads * seq * seq, 2 * heads * seq * head_dim);
    assert_eq!(peak(&machine, attended), 2 * scores + value);
}

#[test]
fn a_gated_mlp_holds_gate_and_up() {
    let machine = machine(Backend::Host, ElementType::F32);
    let mlp = MlpKind::gated([8, 32], false, ActivationMemory::named("silu"));
    let run = || drop(mlp.forward(empty(&machine, &[1, 4, 8], ElementType::F32)));
    assert_eq!(peak(&machine, run), 4 * 4 * (8 + 2 * 32));
}

#[test]
fn products_are_counted_by_their_sizes() {
    let machine = machine(Backend::Host, ElementType::F32);
    let x = || empty(&machine, &[2, 3, 8], ElementType::F32);
    let matrix = ProjectionMatrix::linear(8, 5, true);
    drop((matrix.forward(x()), matrix.forward(x())));
    let heads = || split_heads(x(), 4);
    let past = KeyValueTensors {
        key: heads(),
        value: heads(),
    };
    drop(attend(heads(), past, false, None));
    let product = |[batch, rows, inner, columns]: [u64; 4]| MatrixProduct {
        batch,
        rows,
        inner,
        columns,
    };
    let expected = [
        (product([1, 6, 8, 5]), 2),
        (product([8, 3, 2, 3]), 1),
        (product([8, 3, 3, 2]), 1),
    ];
    assert_eq!(machine.products.take(), expected.into());
    drop(ProjectionMatrix::linear(8, 0, false).forward(x()));
    assert!(machine.products.take().is_empty());
}

/// A checkpoint with matrices of 4 x 2 numbers, read by its headers.
fn headers(config: &Value, matrices: &[&str]) -> CheckpointHeaders {
    let directory = tempfile::tempdir().expect("it can be made");
    write_checkpoint(directory.path(), config, matrices);
    CheckpointHeaders::read(directory.path()).expect("it is a checkpoint")
}

fn write_checkpoint(directory: &Path, config: &Value, matrices: &[&str]) {
    write_headers(&directory.join("model.safetensors"), matrices);
    let config = config.to_string();
    fs::write(directory.join("config.json"), config).expect("it can be written");
}

/// A file with the headers of matrices of 4 x 2 numbers.
fn write_headers(path: &Path, matrices: &[&str]) {
    let tensor = json!({ "dtype": "F32", "shape": [4, 2], "data_offsets": [0, 0] });
    let named = matrices
        .iter()
        .map(|name| ((*name).to_owned(), tensor.clone()));
    let header = Value::Object(named.collect()).to_string();
    let file = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
    fs::write(path, file).expect("it can be written");
}

#[test]
fn t5_has_a_head_if_the_file_has_one() {
    let class = "T5ForConditionalGeneration";
    let config =
        json!({ "model_type": "t5", "architectures": [class], "tie_word_embeddings": true });
    let weights =
        |matrices: &[&str]| headers(&config, matrices).weights(Backend::Host, Precision::F32);
    // Encoder and decoder load the table.
    assert_eq!(weights(&["shared.weight"]), 2 * 32);
    assert_eq!(weights(&["shared.weight", "lm_head.weight"]), 3 * 32);
}

/// The columns of the products of a call with a given inner size.
fn columns(config: &Value, inner: u64) -> Vec<u64> {
    let sizes = CallSizes {
        batch: 1,
        tokens: 4,
    };
    let products = headers(config, &["a"])
        .products(sizes)
        .expect("it has sizes");
    products
        .into_iter()
        .filter(|(product, _)| product.inner == inner)
        .flat_map(|(product, count)| vec![product.columns; count as usize])
        .collect()
}

#[test]
fn heads_of_images_read_what_the_class_says() {
    let of = |model_type: &str, class: &str, inner| {
        let config = json!({
            "model_type": model_type, "architectures": [class], "hidden_size": 6, "num_hidden_layers": 1, "num_attention_heads": 1,
            "intermediate_size": 7, "mlp_ratio": 1.2, "hidden_act": "gelu", "image_size": 4, "patch_size": 2, "num_channels": 3,
            "id2label": { "0": "a", "1": "b", "2": "c" }
        });
        columns(&config, inner)
    };
    let labels = |all: Vec<u64>| all.into_iter().filter(|count| *count == 3).count();
    // Twice the width: the class token and the mean of the patches, which have 3 * 2 * 2 numbers.
    assert_eq!(of("dinov2", "Dinov2ForImageClassification", 12), [3, 6]);
    assert_eq!(labels(of("dinov2", "Dinov2ForImageClassification", 6)), 0);
    assert_eq!(labels(of("vit", "ViTForImageClassification", 6)), 1);
    assert_eq!(
        labels(of("deit", "DeiTForImageClassificationWithTeacher", 6)),
        2
    );
    // Query, key, value and output; only DINOv2 has no dense layer after the class token.
    let width = |all: Vec<u64>| all.into_iter().filter(|count| *count == 6).count();
    assert_eq!(width(of("dinov2", "Dinov2Model", 6)), 4);
    assert_eq!(width(of("vit", "ViTModel", 6)), 5);
}

#[test]
fn the_next_sentence_is_one_or_is_not() {
    let config = json!({
        "model_type": "bert", "architectures": ["BertForNextSentencePrediction"], "hidden_size": 6, "num_hidden_layers": 1,
        "num_attention_heads": 1, "intermediate_size": 7, "hidden_act": "gelu", "vocab_size": 11, "max_position_embeddings": 8,
        "type_vocab_size": 2, "id2label": { "0": "a", "1": "b", "2": "c" }
    });
    let found = columns(&config, 6);
    assert!(found.contains(&2) && !found.contains(&3), "{found:?}");
}

#[test]
fn sizes_of_a_damaged_configuration_do_not_overflow() {
    let most = u32::MAX;
    let sizes = CallSizes {
        batch: 1,
        tokens: 1,
    };
    for config in [
        json!({
            "model_type": "vit", "hidden_size": 2, "num_hidden_layers": 1, "num_attention_heads": 1,
            "intermediate_size": 2, "hidden_act": "gelu", "image_size": most, "patch_size": most,
            "num_channels": most
        }),
        json!({
            "model_type": "mamba2", "hidden_size": 2, "num_hidden_layers": 1, "num_heads": 1,
            "n_groups": most, "state_size": most
        }),
    ] {
        let estimate = headers(&config, &["a"]).estimate(Backend::Host, Precision::F32, sizes);
        assert_eq!(estimate.expect("it has sizes").activations, u64::MAX);
    }
}
