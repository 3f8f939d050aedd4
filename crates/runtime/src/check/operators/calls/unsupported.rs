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

    /// Ends the check as ignored if nothing else was compared.
    pub(in crate::check::operators) fn conclude(&self, compared: usize) -> Result<(), Abort> {
        match self.operators.first_key_value() {
            Some((operator, (reason, _))) if compared == 0 => {
                Err(Abort::Skip(format!("`{operator}`: {reason}")))
            }
            _ => Ok(()),
        }
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
