//! The outputs of two implementations, compared. The threshold is the one for two runs of one
//! device.

use super::{
    super::{
        super::{
            inputs::padding::with_padding_of,
            run::{CheckRun, Failures, RecordedOutput},
        },
        routing::{RouterRuns, matching_tokens},
    },
    calls::TracedResult,
};
use crate::{
    engine::CheckEngine,
    golden::{Golden, Router},
    tolerance::Tolerance,
};
use testgen_nn::array::Arrays;

/// The results of two implementations from the same inputs.
pub(super) struct ImplementationPair<'a> {
    pub(super) golden: &'a Golden,
    pub(super) tolerance: Tolerance<'a>,
    pub(super) inputs: &'a Arrays,
    pub(super) left: &'a TracedResult,
    pub(super) right: &'a TracedResult,
}

impl ImplementationPair<'_> {
    /// Compares every output. Returns the number of tokens that are left out because they were
    /// routed to other experts.
    pub(super) fn compare(
        &self,
        run: &mut CheckRun<'_>,
        what: &str,
        failures: &mut Failures,
    ) -> usize {
        let &Self {
            golden,
            tolerance,
            inputs,
            left,
            right,
        } = self;
        let engine = run.engine.clone();
        let got = self.routers_of_right(&engine);
        let runs = RouterRuns {
            golden,
            tolerance,
            expected: &left.routers,
            got: &got,
        };
        let matching = matching_tokens(run, what, runs, failures);
        let extra = right.outputs.keys();
        let extra = extra.filter(|name| !left.outputs.contains_key(*name));
        failures
            .extend(extra.map(|name| format!("`{name} of {what}` has nothing to compare with")));
        for (name, expected) in &left.outputs {
            let label = format!("{name} of {what}");
            let Some(got) = right.outputs.get(name) else {
                failures.push(format!("`{label}` was not computed"));
                continue;
            };
            let got = with_padding_of(&engine, inputs, expected, got);
            if let (Some(expected), Some(got)) = (matching.select(expected), matching.select(&got))
            {
                let output = RecordedOutput {
                    golden,
                    name,
                    tolerance,
                };
                failures.extend(run.compare_runs(&label, output, &expected, &got));
            }
        }
        matching.left_out()
    }

    /// The routers that both have, as the right one computed them; padding is taken from the left.
    fn routers_of_right(&self, engine: &CheckEngine) -> Vec<Router> {
        let pairs = self.right.routers.iter().filter_map(|got| {
            let mut expected = self.left.routers.iter();
            Some((expected.find(|expected| expected.layer == got.layer)?, got))
        });
        pairs
            .map(|(expected, got)| Router {
                layer: got.layer,
                probabilities: with_padding_of(
                    engine,
                    self.inputs,
                    &expected.probabilities,
                    &got.probabilities,
                ),
                weights: with_padding_of(engine, self.inputs, &expected.weights, &got.weights),
            })
            .collect()
    }
}
