//! All shortest paths of a graph, by the algorithm of Floyd and Warshall as Graphormer uses it.
//!
//! Own code, although crates have the algorithm: of several paths of one length Graphormer reads
//! the edges of the one that goes through the first node that shortened it, and recurses over these
//! nodes. Other paths would be as short, with other edges.

/// Graphormer's distance of nodes without a path, and its word for that among the nodes on the way.
// It is at once the number of a node in graphs of more than 510, whose pairs then have no edges;
// transformers computes that, and so it is computed here.
pub(crate) const UNREACHABLE: i32 = 510;

/// No intermediate node.
const DIRECT: i32 = -1;

/// Distances, and for each pair the node that its path was last shortened by.
pub(crate) struct ShortestPaths {
    nodes: usize,
    distances: Vec<i32>,
    via: Vec<i32>,
}

impl ShortestPaths {
    /// Of `adjacent` [nodes, nodes].
    pub(crate) fn compute(nodes: usize, adjacent: &[bool]) -> Self {
        let distance =
            |(flat, adjacent): (usize, &bool)| match (flat / nodes == flat % nodes, adjacent) {
                (true, _) => 0,
                (false, true) => 1,
                (false, false) => UNREACHABLE,
            };
        let distances = adjacent.iter().enumerate().map(distance).collect();
        let mut paths = Self {
            nodes,
            distances,
            via: vec![DIRECT; nodes * nodes],
        };
        for middle in 0..nodes {
            paths.shorten(middle);
        }
        for (distance, via) in paths.distances.iter_mut().zip(&mut paths.via) {
            if *distance >= UNREACHABLE {
                (*distance, *via) = (UNREACHABLE, UNREACHABLE);
            }
        }
        paths
    }

    fn shorten(&mut self, middle: usize) {
        let nodes = self.nodes;
        for start in 0..nodes {
            let first = self.distances[start * nodes + middle];
            for end in 0..nodes {
                let through = first + self.distances[middle * nodes + end];
                // Strictly shorter: of equal paths the first one found stays, and its edges are
                // what the model reads.
                if self.distances[start * nodes + end] > through {
                    self.distances[start * nodes + end] = through;
                    self.via[start * nodes + end] = middle as i32;
                }
            }
        }
    }

    /// [nodes, nodes], at most [`UNREACHABLE`].
    pub(crate) fn distances(&self) -> &[i32] {
        &self.distances
    }

    /// The edges from `start` to `end`; empty for a node and itself, and if there is no path.
    pub(crate) fn edges(&self, start: usize, end: usize) -> Vec<[usize; 2]> {
        if start == end || self.via[start * self.nodes + end] == UNREACHABLE {
            return Vec::new();
        }
        let mut stops = vec![start];
        self.between(start, end, &mut stops);
        stops.push(end);
        stops.windows(2).map(|pair| [pair[0], pair[1]]).collect()
    }

    fn between(&self, start: usize, end: usize, stops: &mut Vec<usize>) {
        if let Ok(middle) = usize::try_from(self.via[start * self.nodes + end]) {
            self.between(start, middle, stops);
            stops.push(middle);
            self.between(middle, end, stops);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(nodes: usize, edges: &[[usize; 2]]) -> ShortestPaths {
        let mut adjacent = vec![false; nodes * nodes];
        edges
            .iter()
            .for_each(|[start, end]| adjacent[start * nodes + end] = true);
        ShortestPaths::compute(nodes, &adjacent)
    }

    #[test]
    fn of_paths_of_one_length_the_first_that_was_found_counts() {
        let square = paths(4, &[[0, 2], [2, 3], [0, 1], [1, 3]]);
        assert_eq!(square.distances()[3], 2);
        assert_eq!(square.edges(0, 3), [[0, 1], [1, 3]]);
    }

    #[test]
    fn directions_count_and_what_is_not_reached_is_far() {
        let line = paths(4, &[[0, 1], [1, 2]]);
        assert_eq!(line.distances()[2], 2);
        assert_eq!(line.edges(0, 2), [[0, 1], [1, 2]]);
        assert_eq!([line.distances()[8], line.distances()[3]], [UNREACHABLE; 2]);
        assert!(
            line.edges(2, 0).is_empty()
                && line.edges(0, 3).is_empty()
                && line.edges(1, 1).is_empty()
        );
    }

    #[test]
    fn a_node_with_an_edge_to_itself_stays_at_distance_zero() {
        assert_eq!(paths(1, &[[0, 0]]).distances(), [0]);
    }
}
