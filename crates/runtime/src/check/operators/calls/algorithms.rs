//! The algorithms of an engine that is a library: products or convolutions of its own list, each
//! computed with every algorithm that the library offers.

use super::{
    super::super::run::{Abort, CheckRun, Failures},
    evidence::of_algorithm,
    under_test::shapes,
};
use testgen_types::Operator;

/// The operators whose specs compute the list: one spec of products, and one of convolutions.
const LISTED: [Operator; 2] = [Operator::Gemm, Operator::Conv2d];

/// Adds an output for each algorithm, if the engine has algorithms and computes an operator of the
/// spec that is listed. Returns a summary, or `None` elsewhere.
pub(in crate::check::operators) fn compared(
    run: &mut CheckRun<'_>,
) -> Result<Option<String>, Abort> {
    if !shapes(run)?
        .iter()
        .any(|shapes| LISTED.contains(&shapes.operator))
    {
        return Ok(None);
    }
    let Some(process) = run.engine.process() else {
        return Ok(None);
    };
    let Some(found) = process
        .algorithms(run.registration.precision)
        .map_err(Abort::Fail)?
    else {
        return Ok(None);
    };
    let (mut failures, mut results) = (Failures::default(), 0);
    for row in &found.rows {
        results += row.results;
        if row.wrong > 0 {
            let first = row
                .problems
                .first()
                .map_or("no description", String::as_str);
            failures.push(format!(
                "`{}`: {} of {} results are wrong: {first}",
                row.name, row.wrong, row.results
            ));
        }
        run.evidence.add(of_algorithm(row));
    }
    failures.conclude()?;
    let lacking = if found.unsupported.is_empty() {
        String::new()
    } else {
        format!("; not offered: {}", found.unsupported.join("; "))
    };
    Ok(Some(format!(
        "{results} results of {} algorithms{lacking}",
        found.rows.len()
    )))
}
