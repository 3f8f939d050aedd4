//! A violation of a rule at one position, and the form in which a rule reports it.

use crate::rule_id::RuleId;
use proc_macro2::Span;
use std::collections::BTreeSet;
use syn::spanned::Spanned;

/// A violation of a rule at one position. Findings are sorted by rule, then by position.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Finding {
    /// The violated rule.
    pub rule: RuleId,
    /// The file as it was given: relative, with `/` between its parts.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The column after the marked text, in the same line; for text of several lines, the column
    /// after its first character.
    pub end_column: usize,
    /// The message.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

/// The message of a rule at a position; the verifier adds the rule and the path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Diagnostic {
    line: usize,
    column: usize,
    end_column: usize,
    message: String,
    help: String,
}

impl Diagnostic {
    /// A diagnostic at the beginning of `place`.
    pub(crate) fn at(
        place: &(impl Spanned + ?Sized),
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::span(place.span(), message, help)
    }

    /// A diagnostic at the beginning of `span`.
    pub(crate) fn span(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        let (start, end) = (span.start(), span.end());
        let column = start.column + 1;
        // One line is shown, so of a span of several lines only the beginning is marked.
        let end_column = if end.line == start.line {
            end.column + 1
        } else {
            column
        };
        Self {
            line: start.line.max(1),
            column,
            // At least one character: the span may be empty, or cut to its beginning above.
            end_column: end_column.max(column + 1),
            message: message.into(),
            help: help.into(),
        }
    }

    /// A diagnostic about the file as a whole.
    pub(crate) fn top(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            line: 1,
            column: 1,
            end_column: 2,
            message: message.into(),
            help: help.into(),
        }
    }

    /// `diagnostics` without repetitions of a message further down.
    pub(crate) fn once(mut diagnostics: Vec<Self>) -> Vec<Self> {
        // Sorted first, so that the uppermost of equal messages is kept.
        diagnostics.sort();
        let mut said = BTreeSet::new();
        // Many paths may end without the same missing call.
        diagnostics.retain(|diagnostic| said.insert(diagnostic.message.clone()));
        diagnostics
    }

    /// The finding of `rule` in the file `path`.
    pub(crate) fn into_finding(self, rule: RuleId, path: &str) -> Finding {
        let Self {
            line,
            column,
            end_column,
            message,
            help,
        } = self;
        Finding {
            rule,
            path: path.to_owned(),
            line,
            column,
            end_column,
            message,
            help,
        }
    }
}
