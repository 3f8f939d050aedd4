//! `batch_invariance`: a row alone equals the row in a batch, whatever the order of the batch.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    inputs::rows,
    run::{Abort, CheckResult, CheckRun, Failures, RecordedOutput},
};

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::RowDependsOnBatch,
    "a row depends on the size of its batch",
    "row 0 alone",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    let tolerance = run.tolerance(&golden, &tested);
    let mut failures = Failures::default();
    let mut largest = 0;
    for case in &golden.cases {
        let count = rows::count(&case.inputs);
        let together = tested.model().forward(&case.inputs)?;
        let alone = (0..count).map(|row| (format!("row {row} alone"), vec![row]));
        // For kernels that mix up rows: in this order rows have other places in the batch.
        let reversed = ("the batch reversed".to_owned(), (0..count).rev().collect());
        for (what, order) in alone.chain([reversed]) {
            let got = tested
                .model()
                .forward(&rows::of_inputs(&case.inputs, &order))?;
            for (name, whole) in &together.outputs {
                let label = format!("{} of {what}", case.qualified(name));
                // From the batch itself and not from the golden, so that an error against the
                // reference does not count here.
                let expected = rows::of_output(name, whole, &order, count);
                let output = RecordedOutput {
                    golden: &golden,
                    name,
                    tolerance,
                };
                match got.outputs.get(name) {
                    Some(got) => failures.extend(run.compare_runs(&label, output, &expected, got)),
                    None => failures.push(format!("`{label}` was not computed")),
                }
            }
        }
        // Of all cases, because a golden may record single rows beside a batch.
        largest = largest.max(count);
    }
    failures.conclude()?;
    // A row alone against itself proves nothing about batches.
    if largest < 2 {
        return Err(Abort::Skip(
            "the golden has no batch of two rows".to_owned(),
        ));
    }
    Ok(None)
}
