//! Graphs: the handlers' answers for the graphs of the goldens, compared with the outputs of
//! transformers.

use crate::support::{TOLERANCE, answer, golden};
use testgen_runtime::{
    Graph, ModelType, Task,
    task::{self, Handler, Request, Response},
};

/// The graphs of a golden, and one of its outputs as [graphs, numbers].
fn recorded(fixture: &str, output: &str) -> (Vec<Graph>, Vec<Vec<f32>>) {
    let golden = golden(fixture);
    let integers = |name: String| golden[&name].clone();
    let count = golden
        .keys()
        .filter(|name| name.ends_with(".num_nodes"))
        .count();
    let graph = |index: usize| Graph {
        num_nodes: integers(format!("graph.{index}.num_nodes"))
            .as_integers()
            .expect("they are integers")[0] as usize,
        edge_index: integers(format!("graph.{index}.edge_index")),
        node_feat: Some(integers(format!("graph.{index}.node_feat"))),
        edge_attr: Some(integers(format!("graph.{index}.edge_attr"))),
    };
    let output = &golden[&format!("output.{output}")];
    let values = output.as_floats().expect("they are floats");
    let rows = values
        .chunks(values.len() / output.shape()[0])
        .map(<[f32]>::to_vec)
        .collect();
    ((0..count).map(graph).collect(), rows)
}

fn answered(fixture: &str, task: Task, handler: Handler, graphs: Vec<Graph>) -> Response {
    answer(
        fixture,
        ModelType::Graphormer,
        task,
        handler,
        Request::Graphs(graphs),
    )
}

#[track_caller]
fn assert_near(got: &[f32], expected: &[f32]) {
    assert_eq!(got.len(), expected.len());
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        let near =
            f64::from((got - expected).abs()) <= TOLERANCE * f64::from(expected.abs().max(1.0));
        assert!(near, "element {index}: got {got}, expected {expected}");
    }
}

#[test]
fn classification_returns_every_label_with_its_probability() {
    let (graphs, logits) = recorded("graphormer", "logits");
    let response = answered(
        "graphormer",
        Task::GraphClassification,
        task::graph_classification,
        graphs,
    );
    let Response::Labels(labels) = response else {
        panic!("it is {response:?}")
    };
    assert_eq!(labels.len(), logits.len());
    for (labels, logits) in labels.iter().zip(&logits) {
        let total: f32 = logits.iter().map(|logit| logit.exp()).sum();
        let expected = |label: &str| {
            let index: usize = label
                .trim_start_matches("LABEL_")
                .parse()
                .expect("labels without names are numbered");
            logits[index].exp() / total
        };
        let expected: Vec<f32> = labels.iter().map(|each| expected(&each.label)).collect();
        assert_near(
            &labels.iter().map(|each| each.score).collect::<Vec<_>>(),
            &expected,
        );
        assert!(
            expected.is_sorted_by(|one, next| one >= next),
            "best first: {expected:?}"
        );
    }
}

#[test]
fn a_model_with_one_output_returns_its_number() {
    let (graphs, logits) = recorded("graphormer_regression", "logits");
    let response = answered(
        "graphormer_regression",
        Task::GraphClassification,
        task::graph_classification,
        graphs,
    );
    let Response::Regressions(numbers) = response else {
        panic!("it is {response:?}")
    };
    let numbers: Vec<f32> = numbers
        .iter()
        .flat_map(|array| array.as_floats().expect("floats").to_vec())
        .collect();
    assert_near(&numbers, &logits.concat());
}

#[test]
fn embedding_returns_the_vectors_of_the_nodes_without_padding() {
    let (graphs, hidden) = recorded("graphormer_base", "last_hidden_state");
    let counts: Vec<usize> = graphs.iter().map(|graph| graph.num_nodes).collect();
    let response = answered(
        "graphormer_base",
        Task::GraphEmbedding,
        task::graph_embedding,
        graphs,
    );
    let Response::GraphEmbeddings(embeddings) = response else {
        panic!("it is {response:?}")
    };
    for ((embedding, count), hidden) in embeddings.iter().zip(counts).zip(hidden) {
        assert_eq!(embedding.nodes.shape(), [count, 40]);
        assert_near(embedding.graph.as_floats().expect("floats"), &hidden[..40]);
        assert_near(
            embedding.nodes.as_floats().expect("floats"),
            &hidden[40..(count + 1) * 40],
        );
    }
}
