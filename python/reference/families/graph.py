"""Inputs and results of models that read graphs.

The arguments are those of transformers' own collator. It reserves 510 positions for every path as soon as two nodes have no path. The
main case's paths are truncated after the last edge that the model reads; the other case has shorter paths, not truncated.
"""

import copy
import warnings

import numpy
import torch

from reference.errors import NeedsPackage, RecordError, first_line

# The last that has the model, and what its collator needs: newer compilers refuse the file that it compiles.
TRANSFORMERS = "4.57"
INSTALL = "pip install 'transformers==4.57.6' 'cython<3.1' setuptools"
# With `traceable` the hidden states are one tensor; they are recorded as traces in any case.
IGNORED = ("hidden_states",)

# The number of ids of one feature, and the offset of the first one.
KINDS, SHIFT = 512, 3
# The position of nodes without a path between them.
UNREACHABLE = 511


def cases(_directory, config, random, _seed):
    """Main case of three graphs of different sizes, one of them disconnected where the tables permit it; then two connected ones."""
    longest, hops = longest_path(config), config.multi_hop_max_dist
    parts = config.num_spatial > UNREACHABLE and (config.edge_type != "multi_hop" or 0 < hops <= config.num_edge_dis)
    main = [draw(random, config, nodes, longest, parts and nodes == 7) for nodes in (10, 7, 4)]
    other = [draw(random, config, nodes, longest, False) for nodes in (6, longest + 3)]
    case = collated(config, main)
    if hops > 0:
        case["input_edges"] = case["input_edges"][:, :, :, :hops].clone()
    tensors = {f"graph.{index}.{name}": value for index, graph in enumerate(main) for name, value in graph.items()}
    collator = f"GraphormerDataCollator (spatial_pos_max {config.spatial_pos_max})"
    return [case, collated(config, other)], tensors, {"graph_collator": collator}


def longest_path(config):
    """The largest number of edges between two nodes: more than half of those that are read, so that reading half as many changes
    the result, and at most the rows of the tables."""
    longest = min(max(7, config.multi_hop_max_dist // 2 + 2), config.num_spatial - 2)
    return min(longest, config.num_edge_dis) if config.edge_type == "multi_hop" else longest


def draw(random, config, nodes, longest, parts):
    """A chain, a node that is a second path from its first to its third, and leaves; with `parts` two nodes are disconnected. Nodes are
    numbered at random. The two directions of an edge are of different kinds, one edge has a single direction, one exists twice."""
    whole = nodes - 2 if parts else nodes
    chain = min(whole - 1, longest + 1)
    pairs = [(node, node + 1) for node in range(chain - 1)] + [(0, chain), (chain, 2)]
    pairs += [(int(random.integers(1, chain - 1)), leaf) for leaf in range(chain + 1, whole)]
    pairs += [(whole, whole + 1)] if parts else []
    edges = pairs + [(end, start) for start, end in pairs] + [(chain - 1, 0)]
    edges = [edges[place] for place in random.permutation(len(edges))]
    edges.append(edges[0])
    names = random.permutation(nodes)
    return {
        "num_nodes": torch.tensor([nodes]),
        "edge_index": torch.from_numpy(names[numpy.array(edges)].T.copy()),
        "node_feat": kinds(random, nodes, config.num_atoms),
        "edge_attr": kinds(random, len(edges), config.num_edges),
    }


def kinds(random, count, rows):
    """One feature, or two where the table has rows for them, with ids from 0."""
    features = max(1, min(2, 1 + (rows - SHIFT - 1) // KINDS))
    highest = rows - SHIFT - KINDS * (features - 1)
    return torch.from_numpy(random.integers(0, min(9, highest) + 1, (count, features)))


def collated(config, graphs):
    """The arguments of a call, from transformers' collator."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from transformers.models.deprecated.graphormer.collating_graphormer import GraphormerDataCollator

            collator = GraphormerDataCollator(config.spatial_pos_max, on_the_fly_processing=True)
    except ImportError as error:
        raise NeedsPackage(f"the collator of transformers does not compile: {first_line(error)}", INSTALL) from error
    items = [{name: copy.deepcopy(value.numpy()) for name, value in graph.items()} for graph in graphs]
    batch = collator([item | {"num_nodes": int(item["num_nodes"][0]), "labels": [0]} for item in items])
    case = {name: value for name, value in batch.items() if name != "labels"}
    for name, rows in (("in_degree", config.num_in_degree), ("out_degree", config.num_out_degree), ("spatial_pos", config.num_spatial)):
        if int(case[name].max()) >= rows:
            raise RecordError(f"`{name}` {int(case[name].max())} is beyond the table of {rows} rows that config.json asks for")
    return case


def trace(result):
    """Hidden states as [graphs, nodes, width]; the model returns [nodes, graphs, width]."""
    names = ["embed"] + [f"layer.{index}" for index in range(len(result.hidden_states) - 1)]
    return {f"trace.{name}": state.transpose(0, 1) for name, state in zip(names, result.hidden_states, strict=True)}
