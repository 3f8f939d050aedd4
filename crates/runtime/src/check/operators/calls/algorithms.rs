//! The algorithms of an engine that is a library: calls of its own lists, each computed with every
//! algorithm that the library offers.

use super::{
    super::super::run::{Abort, CheckRun, Failures},
    evidence::of_algorithm,
    under_test::shapes,
};
use testgen_types::Operator;

/// Adds an output for each algorithm, if the engine has lists for operators of the spec. Returns a
/// summary, or `None` elsewhere.
pub(in crate::check::operators) fn compared(
    run: &mut CheckRun<'_>,
) -> Result<Option<String>, Abort> {
    let operators: Vec<Operator> = shapes(run)?.iter().map(|shapes| shapes.operator).collect();
    let Some(process) = run.engine.process() else {
        return Ok(None);
    };
    let Some(found) = process
        .algorithms(operators, run.registration.precision)
        .map_err(Abort::Fail)?
    else {
        return Ok(None);
    };
    // No list has these operators: a summary would name zero results of zero algorithms.
    if found.rows.is_empty() && found.unsupported.is_empty() {
        return Ok(None);
    }
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
        format!("; not compared: {}", found.unsupported.join("; "))
    };
    Ok(Some(format!(
        "{results} results of {} algorithms{lacking}",
        found.rows.len()
    )))
}
