//! The vectors of graphs.

use super::{
    GraphEmbedding, Request, Response,
    call::{HandlerError, TaskCall},
    text_embedding::vector,
};
use testgen_nn::array::Array;

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let graphs = call.graphs(request)?;
    let forward = call
        .model
        .forward(&call.graph_collator()?.process(&graphs)?)?;
    let hidden = call.output(
        &forward,
        ("last_hidden_state", 3),
        &[graphs.len()],
        "a class such as `GraphormerModel`",
    )?;
    let width = hidden.shape[2];
    Ok(Response::GraphEmbeddings(
        (0..graphs.len())
            .map(|index| {
                // The graph's own token comes before its nodes, padding comes after them.
                let (graph, nodes) = hidden.row(index).split_at(width);
                let count = graphs[index].num_nodes;
                let nodes = Array::floats([count, width], nodes[..count * width].to_vec());
                GraphEmbedding {
                    nodes,
                    graph: vector(graph.to_vec()),
                }
            })
            .collect(),
    ))
}
