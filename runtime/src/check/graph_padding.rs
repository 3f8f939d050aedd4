//! `pad_invariance` and `mask_golden` of models that read graphs: a graph is itself beside larger ones, whatever stands there.

use super::{
    Examination, Failures, Found, Stop,
    examination::Subject,
    graphs::{Batch, Results},
};
use crate::{
    Array,
    golden::{Case, Golden},
};

/// Nodes of padding beside the largest graph.
const PADDING: usize = 5;

/// Every recorded graph alone and with more padding equals the graph in its batch.
pub(super) fn pad_invariance(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    let mut failures = Failures::default();
    for case in &golden.cases {
        let batch = batch(case)?;
        let together = batch.run(subject.model())?;
        let padded = batch.resized(batch.width() + PADDING).run(subject.model())?;
        compare(exam, (&subject, &golden, case), "with more padding", [&together, &padded], &mut failures);
        for graph in 0..batch.nodes.len() {
            let alone = batch.alone(graph).run(subject.model())?;
            let alone = alone.into_iter().map(|(name, _, array)| (name, graph, array)).collect();
            let own = together.iter().filter(|(_, of, _)| *of == graph).cloned().collect();
            compare(exam, (&subject, &golden, case), "alone", [&own, &alone], &mut failures);
        }
    }
    failures.conclude()?;
    Ok(None)
}

/// Other distances, edges, degrees and kinds at padding change nothing, and would if it were a node; what is real is as recorded.
pub(super) fn mask_golden(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    let mut failures = Failures::default();
    for case in &golden.cases {
        let batch = batch(case)?;
        let batch = batch.resized(batch.width() + PADDING);
        let plain = batch.run(subject.model())?;
        recorded(exam, (&subject, &golden, case), &batch, &plain, &mut failures);
        let hidden = batch.run_with(subject.model(), &batch.disturbed(false))?;
        compare(exam, (&subject, &golden, case), "with other numbers at padding", [&plain, &hidden], &mut failures);
        let shown = batch.run_with(subject.model(), &batch.disturbed(true))?;
        if !differs(exam, (&subject, &golden), [&plain, &shown]) {
            failures.push(format!(
                "padding has no influence even where {} says that it is nodes",
                case.tell("input_nodes")
            ));
        }
    }
    failures.conclude()?;
    Ok(None)
}

fn batch(case: &Case) -> Result<Batch, Stop> {
    let none = || Stop::Fail(format!("the golden has no `{}` [graphs, nodes, features]", case.tell("input_nodes")));
    Batch::of(&case.inputs).ok_or_else(none)
}

/// All graphs together, as the tolerance is one of whole outputs.
fn recorded(
    exam: &mut Examination<'_>,
    (subject, golden, case): (&Subject, &Golden, &Case),
    batch: &Batch,
    got: &Results,
    failures: &mut Failures,
) {
    let tolerance = exam.tolerance(golden, subject);
    for (name, expected) in &case.outputs {
        let expected = joined(&batch.parts([(name.clone(), expected.clone())].into_iter()), name);
        let told = format!("{} of real nodes", case.tell(name));
        failures.note(exam.compare(&told, &expected, &joined(got, name), tolerance.golden(name)));
    }
}

/// The numbers of `name` of every graph.
fn joined(results: &Results, name: &str) -> Array {
    let of_name = results.iter().filter(|(found, _, _)| found == name);
    let values: Vec<f32> = of_name.flat_map(|(_, _, array)| array.as_floats().unwrap_or_default()).copied().collect();
    Array::floats([values.len()], values)
}

fn compare(
    exam: &mut Examination<'_>,
    (subject, golden, case): (&Subject, &Golden, &Case),
    what: &str,
    [expected, got]: [&Results; 2],
    failures: &mut Failures,
) {
    let tolerance = exam.tolerance(golden, subject);
    for ((name, graph, expected), (_, _, got)) in expected.iter().zip(got) {
        let told = format!("{} of graph {graph} {what}", case.tell(name));
        failures.note(exam.compare_runs(&told, (golden, name), [expected, got], tolerance));
    }
}

fn differs(exam: &Examination<'_>, (subject, golden): (&Subject, &Golden), [one, other]: [&Results; 2]) -> bool {
    let tolerance = exam.tolerance(golden, subject);
    one.iter().zip(other).any(|((name, _, one), (_, _, other))| {
        crate::compare::compare(name, one, other, tolerance.metamorphic(name)).failure.is_some()
    })
}
