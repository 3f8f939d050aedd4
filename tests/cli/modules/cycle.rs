//! The shortest cycles of imports in each folder of a crate's modules.

use super::{
    import::Edge,
    tree::{ModuleId, ModuleTree},
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Modules that import each other: the uses that lead around.
pub(super) struct Cycle {
    pub(super) edges: Vec<Edge>,
    /// Neighbours in the folder that the uses lead through.
    parts: Vec<ModuleId>,
}

/// For each module, the cycles among its children, each with everything below it, and its own code;
/// the shortest first.
///
/// That forbids cycles between files and between folders: of the modules of any cycle, one is
/// declared outermost.
pub(super) fn cycles(tree: &ModuleTree, edges: &[Edge]) -> Vec<Cycle> {
    (0..tree.modules.len())
        .flat_map(|folder| in_folder(&neighbours(tree, edges, folder)))
        .collect()
}

/// For each part of a folder the shortest cycle through it, unless it is in one that is reported
/// already.
fn in_folder(graph: &Graph) -> Vec<Cycle> {
    let mut found: Vec<_> = graph
        .keys()
        .filter_map(|start| Some((*start, through(graph, *start)?)))
        .collect();
    found.sort_by_key(|(_, cycle)| cycle.parts.len());
    let mut reported = BTreeSet::new();
    found.retain(|(start, cycle)| {
        let new = !reported.contains(start);
        reported.extend(cycle.parts.iter().copied().filter(|_| new));
        new
    });
    found.into_iter().map(|(_, cycle)| cycle).collect()
}

/// One use for each pair of neighbours that has any, from the first to the second.
type Graph = BTreeMap<ModuleId, BTreeMap<ModuleId, Edge>>;

fn neighbours(tree: &ModuleTree, edges: &[Edge], folder: ModuleId) -> Graph {
    let mut graph = Graph::new();
    for edge in edges {
        if let (Some(from), Some(to)) = (part(tree, folder, edge.from), part(tree, folder, edge.to))
            && from != to
        {
            graph
                .entry(from)
                .or_default()
                .entry(to)
                .or_insert_with(|| edge.clone());
        }
    }
    graph
}

/// The child of `folder` that contains `module`, or `folder` itself for its own code.
fn part(tree: &ModuleTree, folder: ModuleId, module: ModuleId) -> Option<ModuleId> {
    if folder == module {
        return Some(folder);
    }
    tree.ancestors(module)
        .find(|inner| tree.modules[*inner].parent == Some(folder))
}

/// The shortest cycle that contains `start`.
fn through(graph: &Graph, start: ModuleId) -> Option<Cycle> {
    let mut reached_by: BTreeMap<ModuleId, ModuleId> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(module) = queue.pop_front() {
        for next in graph.get(&module).into_iter().flat_map(BTreeMap::keys) {
            if reached_by.contains_key(next) {
                continue;
            }
            reached_by.insert(*next, module);
            if *next == start {
                return Some(walk_back(graph, &reached_by, start));
            }
            queue.push_back(*next);
        }
    }
    None
}

fn walk_back(graph: &Graph, reached_by: &BTreeMap<ModuleId, ModuleId>, start: ModuleId) -> Cycle {
    let mut parts = vec![start];
    while let Some(from) = parts
        .last()
        .map(|to| reached_by[to])
        .filter(|from| *from != start)
    {
        parts.push(from);
    }
    parts.push(start);
    parts.reverse();
    let edges = parts
        .windows(2)
        .map(|pair| graph[&pair[0]][&pair[1]].clone())
        .collect();
    Cycle { edges, parts }
}
