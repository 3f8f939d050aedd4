//! Calls that what computes them does not support, for instance in a type: no failures, and no
//! passes.

use super::super::super::run::Abort;
use std::{collections::BTreeMap, fmt};
use testgen_types::Operator;

/// The operators of such calls, each with the first reason and their number.
#[derive(Debug, Default)]
pub(in crate::check::operators) struct UnsupportedCalls {
    operators: BTreeMap<Operator, (String, usize)>,
}

impl UnsupportedCalls {
    /// Adds a call.
    pub(in crate::check::operators) fn add(&mut self, operator: Operator, reason: &str) {
        self.operators
            .entry(operator)
            .or_insert_with(|| (reason.to_owned(), 0))
            .1 += 1;
    }

    /// Ends the check as ignored if nothing was compared.
    pub(in crate::check::operators) fn conclude(&self, compared: usize) -> Result<(), Abort> {
        // A check that compared nothing must not count as a pass.
        if compared > 0 {
            return Ok(());
        }
        Err(Abort::Skip(match self.operators.first_key_value() {
            Some((operator, (reason, _))) => format!("`{operator}`: {reason}"),
            None => "no operator of the spec has such cases".to_owned(),
        }))
    }
}

impl fmt::Display for UnsupportedCalls {
    /// As the end of a summary; nothing without such calls.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.operators
            .iter()
            .try_for_each(|(operator, (reason, count))| {
                write!(f, "; {count} of `{operator}` not supported: {reason}")
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_compared_nothing_is_ignored() {
        let mut calls = UnsupportedCalls::default();
        let skipped = |reason: &str| Err(Abort::Skip(reason.to_owned()));
        assert_eq!(
            calls.conclude(0),
            skipped("no operator of the spec has such cases")
        );
        assert_eq!(calls.conclude(1), Ok(()));
        calls.add(Operator::Add, "no f16");
        assert_eq!(calls.conclude(0), skipped("`add`: no f16"));
        assert_eq!(calls.conclude(1), Ok(()));
    }
}
