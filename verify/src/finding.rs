//! A broken rule at one place, and the form in which a rule reports it.

use crate::RuleId;
use proc_macro2::Span;
use std::collections::BTreeSet;
use syn::spanned::Spanned;

/// One broken rule at one place. Findings sort by rule, then by place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: RuleId,
    /// The file as it was given: relative, with `/` between its parts.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The column behind what is wrong, in the same line: what goes on further ends there with its first character.
    pub end_column: usize,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub help: String,
}

/// What a rule says about a place; the verifier adds the rule and the path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Remark {
    line: usize,
    column: usize,
    end_column: usize,
    message: String,
    help: String,
}

impl Remark {
    /// A remark where `place` begins.
    pub(crate) fn at(place: &(impl Spanned + ?Sized), message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::span(place.span(), message, help)
    }

    /// A remark where `span` begins.
    pub(crate) fn span(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        let (start, end) = (span.start(), span.end());
        let column = start.column + 1;
        let end_column = if end.line == start.line { end.column + 1 } else { column };
        Self {
            line: start.line.max(1),
            column,
            end_column: end_column.max(column + 1),
            message: message.into(),
            help: help.into(),
        }
    }

    /// A remark about the file as a whole.
    pub(crate) fn top(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { line: 1, column: 1, end_column: 2, message: message.into(), help: help.into() }
    }

    /// `remarks` without those that say again, further down, what one has said: many ways end, one thing is missing.
    pub(crate) fn once(mut remarks: Vec<Self>) -> Vec<Self> {
        remarks.sort();
        let mut said = BTreeSet::new();
        remarks.retain(|remark| said.insert(remark.message.clone()));
        remarks
    }

    /// The finding of `rule` in the file `path`.
    pub(crate) fn into_finding(self, rule: RuleId, path: &str) -> Finding {
        let Self { line, column, end_column, message, help } = self;
        Finding { rule, path: path.to_owned(), line, column, end_column, message, help }
    }
}
