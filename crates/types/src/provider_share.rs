//! The part of a graph that an execution provider computed: ONNX Runtime places each node on one of
//! its providers, and on the provider of the CPU if the requested one does not have the operation.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The provider that every build of ONNX Runtime has.
const CPU: &str = "CPUExecutionProvider";

/// The nodes of a graph that one execution provider computed, in a profiled run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderShare {
    /// Its name, for instance `MIGraphXExecutionProvider`.
    pub provider: String,
    /// The number of nodes. A provider may compute many operations of the graph as one node.
    pub nodes: u64,
    /// Their time in microseconds.
    pub microseconds: u64,
}

/// All providers of a graph.
#[derive(Debug, Clone, Copy)]
pub struct ProviderShares<'a>(pub &'a [ProviderShare]);

impl ProviderShares<'_> {
    /// The nodes, and the time in microseconds, of the CPU's provider and of all.
    fn on_cpu(self) -> [(u64, u64); 2] {
        [true, false].map(|only_cpu| {
            let shares = self
                .0
                .iter()
                .filter(|share| !only_cpu || share.provider == CPU);
            // An engine may report any numbers.
            shares.fold((0, 0), |(nodes, time): (u64, u64), share| {
                (
                    nodes.saturating_add(share.nodes),
                    time.saturating_add(share.microseconds),
                )
            })
        })
    }

    /// Whether nodes ran on the CPU although another provider has some, too.
    pub fn fell_back(self) -> bool {
        let [(on_cpu, _), (all, _)] = self.on_cpu();
        // If the CPU has all nodes, the list of providers shows that without a share.
        on_cpu > 0 && on_cpu < all
    }
}

impl fmt::Display for ProviderShares<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shares = self
            .0
            .iter()
            .map(|share| format!("{} nodes on {}", share.nodes, share.provider));
        f.write_str(&shares.collect::<Vec<_>>().join(", "))?;
        if self.fell_back() {
            let [(on_cpu, time_on_cpu), (all, time)] = self.on_cpu();
            let (nodes, time) = (percent(on_cpu, all), percent(time_on_cpu, time));
            write!(
                f,
                "; {nodes:.0} % of the nodes and {time:.0} % of their time on the CPU"
            )?;
        }
        Ok(())
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    // Without nodes it is 0 %, not NaN.
    100.0 * part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(provider: &str, nodes: u64, microseconds: u64) -> ProviderShare {
        ProviderShare {
            provider: provider.to_owned(),
            nodes,
            microseconds,
        }
    }

    #[test]
    fn the_share_of_the_cpu_is_shown() {
        let shares = [share(CPU, 25, 10), share("CUDAExecutionProvider", 75, 990)];
        let text = "25 nodes on CPUExecutionProvider, 75 nodes on CUDAExecutionProvider; 25 % of the nodes and 1 % of their time on the CPU";
        assert_eq!(ProviderShares(&shares).to_string(), text);
        assert!(ProviderShares(&shares).fell_back());
    }

    #[test]
    fn a_graph_on_one_provider_has_not_fallen_back() {
        for shares in [
            vec![],
            vec![share(CPU, 3, 1)],
            vec![share("CUDAExecutionProvider", 3, 1)],
        ] {
            assert!(!ProviderShares(&shares).fell_back());
            assert!(!ProviderShares(&shares).to_string().contains('%'));
        }
        let endless = [share(CPU, u64::MAX, u64::MAX), share("other", 1, 1)];
        assert!(!ProviderShares(&endless).to_string().is_empty());
    }
}
