//! `pad_invariance` and `mask_golden` for models that read graphs: a graph in a batch with larger
//! ones, which is padded to their size, is computed as if it were alone.

use super::super::{
    inputs::graphs::{GraphBatch, GraphResult, PaddingChange},
    run::{Abort, CheckResult, CheckRun, Failures, RecordedOutput, SubjectUnderTest},
};
use crate::{
    compare::compare,
    golden::{Golden, RecordedCase},
};
use testgen_nn::array::Array;

/// Padding nodes added to the largest graph, so that it is padded as well.
const PADDING: usize = 5;

/// A model with one of its recorded cases.
#[derive(Clone, Copy)]
struct RecordedGraphs<'a> {
    tested: &'a SubjectUnderTest,
    golden: &'a Golden,
    case: &'a RecordedCase,
}

/// Every recorded graph alone, and with more padding, equals the graph in its batch.
pub(in crate::check) fn pad_invariance(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    let mut failures = Failures::default();
    for case in &golden.cases {
        let recorded = RecordedGraphs {
            tested: &tested,
            golden: &golden,
            case,
        };
        let batch = batch(case)?;
        let together = batch.run(tested.model())?;
        // Also for a batch of one graph, which has no padding by itself.
        let padded = batch.resized(batch.width() + PADDING).run(tested.model())?;
        recorded.compare_runs(run, "with more padding", &together, &padded, &mut failures);
        for graph in 0..batch.nodes.len() {
            let mut alone = batch.alone(graph).run(tested.model())?;
            // In a separate batch its number is 0, which messages must not show.
            alone.iter_mut().for_each(|result| result.graph = graph);
            let in_batch: Vec<_> = together
                .iter()
                .filter(|result| result.graph == graph)
                .cloned()
                .collect();
            recorded.compare_runs(run, "alone", &in_batch, &alone, &mut failures);
        }
    }
    failures.conclude()?;
    Ok(None)
}

/// Other distances, edges, degrees and features at padding have no influence, and have one if
/// padding is made nodes. Real nodes are as recorded.
pub(in crate::check) fn mask_golden(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    let mut failures = Failures::default();
    for case in &golden.cases {
        let recorded = RecordedGraphs {
            tested: &tested,
            golden: &golden,
            case,
        };
        let batch = batch(case)?;
        let batch = batch.resized(batch.width() + PADDING);
        let plain = batch.run(tested.model())?;
        recorded.compare_recorded(run, &batch, &plain, &mut failures);
        let hidden = batch.run_with(
            tested.model(),
            &batch.with_changed_padding(PaddingChange::Values),
        )?;
        recorded.compare_runs(
            run,
            "with other numbers at padding",
            &plain,
            &hidden,
            &mut failures,
        );
        // Without this, a model that ignores all nodes would pass.
        let shown = batch.run_with(
            tested.model(),
            &batch.with_changed_padding(PaddingChange::MadeNodes),
        )?;
        if !recorded.differs(run, &plain, &shown) {
            failures.push(format!(
                "padding has no influence even where `{}` says that it is nodes",
                case.qualified("input_nodes")
            ));
        }
    }
    failures.conclude()?;
    Ok(None)
}

fn batch(case: &RecordedCase) -> Result<GraphBatch, Abort> {
    let name = case.qualified("input_nodes");
    GraphBatch::from_inputs(&case.inputs).ok_or_else(|| {
        Abort::Fail(format!(
            "the golden has no `{name}` [graphs, nodes, features]"
        ))
    })
}

impl RecordedGraphs<'_> {
    /// Compares all graphs of an output at once.
    fn compare_recorded(
        &self,
        run: &mut CheckRun<'_>,
        batch: &GraphBatch,
        got: &[GraphResult],
        failures: &mut Failures,
    ) {
        // At once, because the tolerance is relative to the whole output.
        let tolerance = run.tolerance(self.golden, self.tested);
        for (name, expected) in &self.case.outputs {
            // The nodes of a graph cannot be taken out of a summary; `output_golden` compares it.
            let Some(expected) = expected.whole() else {
                continue;
            };
            let expected = joined(
                &batch.by_graph([(name.clone(), expected.clone())].into_iter()),
                name,
            );
            let label = format!("{} of real nodes", self.case.qualified(name));
            failures.extend(run.compare(
                &label,
                &expected,
                &joined(got, name),
                tolerance.golden(name),
            ));
        }
    }

    fn compare_runs(
        &self,
        run: &mut CheckRun<'_>,
        what: &str,
        expected: &[GraphResult],
        got: &[GraphResult],
        failures: &mut Failures,
    ) {
        let tolerance = run.tolerance(self.golden, self.tested);
        for expected in expected {
            let GraphResult { name, graph, .. } = expected;
            let label = format!("{} of graph {graph} {what}", self.case.qualified(name));
            let mut of_graph = got.iter().filter(|result| result.graph == *graph);
            let Some(got) = of_graph.find(|result| result.name == *name) else {
                failures.push(format!("`{label}` was not computed"));
                continue;
            };
            let output = RecordedOutput {
                golden: self.golden,
                name,
                tolerance,
            };
            failures.extend(run.compare_runs(&label, output, &expected.array, &got.array));
        }
    }

    fn differs(&self, run: &CheckRun<'_>, one: &[GraphResult], other: &[GraphResult]) -> bool {
        let tolerance = run.tolerance(self.golden, self.tested);
        one.iter().zip(other).any(|(one, other)| {
            compare(
                &one.name,
                &one.array,
                &other.array,
                tolerance.metamorphic(&one.name),
            )
            .failure
            .is_some()
        })
    }
}

/// The values of `name` of all graphs, [values].
fn joined(results: &[GraphResult], name: &str) -> Array {
    let of_name = results.iter().filter(|result| result.name == name);
    let values: Vec<f32> = of_name
        .flat_map(|result| result.array.as_floats().unwrap_or_default())
        .copied()
        .collect();
    Array::floats([values.len()], values)
}
