//! `batch_invariance`: a row alone equals the row in a batch, in any order.

use super::{Examination, Failures, Found, Stop, rows};

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    let tolerance = exam.tolerance(&golden, &subject);
    let mut failures = Failures::default();
    let mut rows_compared = 0;
    for case in &golden.cases {
        let count = rows::count(&case.inputs);
        let together = subject.model().forward(&case.inputs)?;
        let alone = (0..count).map(|row| (format!("row {row} alone"), vec![row]));
        let reversed = ("the batch reversed".to_owned(), (0..count).rev().collect());
        for (what, order) in alone.chain([reversed]) {
            let got = subject.model().forward(&rows::of_inputs(&case.inputs, &order))?;
            for (name, whole) in &together.outputs {
                let told = format!("{} of {what}", case.tell(name));
                let expected = rows::of_output(name, whole, &order, count);
                match got.outputs.get(name) {
                    Some(got) => failures.note(exam.compare_runs(&told, (&golden, name), [&expected, got], tolerance)),
                    None => failures.push(format!("`{told}` was not computed")),
                }
            }
        }
        rows_compared += count;
    }
    if rows_compared < 2 {
        return Err(Stop::Ignored("the golden has no batch of two rows".to_owned()));
    }
    failures.conclude()?;
    Ok(None)
}
