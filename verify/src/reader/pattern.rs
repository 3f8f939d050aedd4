//! Patterns: the paths on which they match, and the values of their names.

use super::{
    interpreter::Interpreter,
    state::PathState,
    value::{BranchOutcome, Value},
};
use crate::names::Meaning;
use std::rc::Rc;
use syn::{Pat, PatIdent, Path, ext::IdentExt, spanned::Spanned};

/// Paths, each with whether the pattern matches.
pub(super) type Matched<'a> = Vec<(PathState<'a>, bool)>;

impl<'a> Interpreter<'_, 'a> {
    /// Matches `value` with `pattern`, and declares its names on the paths that match.
    pub(super) fn bind(
        &mut self,
        pattern: &'a Pat,
        value: Value<'a>,
        mut state: PathState<'a>,
    ) -> Matched<'a> {
        match pattern {
            Pat::Wild(_) => vec![(state, true)],
            Pat::Paren(inner) => self.bind(&inner.pat, value, state),
            Pat::Reference(inner) => self.bind(&inner.pat, value, state),
            Pat::Type(inner) => self.bind(&inner.pat, value, state),
            // A function that gets the borrow could change the value.
            Pat::Ident(ident) if ident.by_ref.is_some() && ident.mutability.is_some() => {
                self.unsupported(pattern, "a mutable borrow", "bind it without `ref mut`")
            }
            Pat::Ident(ident) if ident.subpat.is_none() && !self.is_constant(ident) => {
                // `syn` parses the pattern `None` as the name of a variable.
                if let Some(outcome) = BranchOutcome::constructor(&ident.ident.to_string()) {
                    return self.bind_side(pattern, outcome, &[], value, state);
                }
                state.declare(
                    ident.ident.unraw().to_string(),
                    Some(value),
                    ident.mutability.is_some(),
                );
                vec![(state, true)]
            }
            Pat::TupleStruct(side) => match self.constructor(&side.path) {
                Some(outcome) => {
                    let inner: Vec<&'a Pat> = side.elems.iter().collect();
                    self.bind_side(pattern, outcome, &inner, value, state)
                }
                None => self.odd_pattern(pattern),
            },
            Pat::Path(side) => match self.constructor(&side.path) {
                Some(outcome) => self.bind_side(pattern, outcome, &[], value, state),
                None => self.odd_pattern(pattern),
            },
            Pat::Tuple(tuple) => match value {
                Value::Tuple(values) if values.len() == tuple.elems.len() => {
                    self.bind_all(tuple.elems.iter().zip(values).collect(), state)
                }
                _ => self.odd_pattern(pattern),
            },
            Pat::Guard(guarded) => self.bind_guarded(guarded, value, state),
            _ => self.odd_pattern(pattern),
        }
    }

    /// The paths on which `value` is on the side `outcome`, with its payload.
    pub(super) fn side(
        &mut self,
        place: &impl Spanned,
        outcome: BranchOutcome,
        value: &Value<'a>,
        state: PathState<'a>,
    ) -> Vec<(PathState<'a>, Option<Value<'a>>)> {
        // A path must never end because the interpreter took an `Option` for a `Result`.
        if is_other_kind(outcome, value, &state) {
            return self.unsupported(
                place,
                "a value as this kind",
                "match with `Ok(name)` and `Err(name)`, one arm each",
            );
        }
        let payload = |outcome| Value::Payload(outcome, Rc::new(value.clone()));
        let known = match value {
            Value::Wrapped(known, inner) => Some((*known, Value::clone(inner))),
            _ => state.outcome(value).map(|known| (known, payload(known))),
        };
        if let Some((known, payload)) = known {
            return vec![(state, (known == outcome).then_some(payload))];
        }
        let (mut yes, mut no) = (state.clone(), state);
        yes.assume(value.clone(), outcome);
        no.assume(value.clone(), outcome.opposite());
        vec![(yes, Some(payload(outcome))), (no, None)]
    }

    fn bind_side(
        &mut self,
        pattern: &'a Pat,
        outcome: BranchOutcome,
        inner: &[&'a Pat],
        value: Value<'a>,
        state: PathState<'a>,
    ) -> Matched<'a> {
        let sides = self.side(pattern, outcome, &value, state);
        let matched = sides
            .into_iter()
            .flat_map(|(state, payload)| match (payload, inner) {
                (None, _) => vec![(state, false)],
                (Some(_), []) => vec![(state, true)],
                (Some(payload), [only]) => self.bind(only, payload, state),
                (Some(_), _) => self.odd_pattern(pattern),
            });
        matched.collect()
    }

    fn bind_all(&mut self, pairs: Vec<(&'a Pat, Value<'a>)>, state: PathState<'a>) -> Matched<'a> {
        let mut open = vec![state];
        let mut closed = Vec::new();
        for (pattern, value) in pairs {
            for state in std::mem::take(&mut open) {
                for (state, matched) in self.bind(pattern, value.clone(), state) {
                    if matched {
                        open.push(state)
                    } else {
                        closed.push((state, false))
                    }
                }
            }
        }
        closed.extend(open.into_iter().map(|state| (state, true)));
        closed
    }

    fn bind_guarded(
        &mut self,
        guarded: &'a syn::PatGuard,
        value: Value<'a>,
        state: PathState<'a>,
    ) -> Matched<'a> {
        let mut all = Vec::new();
        for (state, matched) in self.bind(&guarded.pat, value, state) {
            if !matched {
                all.push((state, false));
                continue;
            }
            let (conditions, left) = self.condition(&guarded.guard, state);
            // A pattern only matches or does not: it has no place for a path that leaves the
            // function.
            if !left.is_empty() {
                all.extend(self.unsupported(
                    &guarded.guard,
                    "a guard that returns",
                    "return in the arm's body",
                ));
            }
            all.extend(conditions);
        }
        all
    }

    /// A pattern of one identifier is a new variable, unless it names a constant or an imported
    /// variant.
    fn is_constant(&self, ident: &PatIdent) -> bool {
        match self.names.meaning(&ident.ident.clone().into()) {
            // Variants begin with a capital; a variable may have the name of a function, which it
            // hides.
            Meaning::Runtime(path) => path
                .rsplit("::")
                .next()
                .is_some_and(|name| name.starts_with(char::is_uppercase)),
            Meaning::Local(name) => !self.file_items.functions.contains_key(&name),
            Meaning::Prelude(_) | Meaning::Foreign(_) | Meaning::Unknown(_) => false,
        }
    }

    fn constructor(&self, path: &Path) -> Option<BranchOutcome> {
        match self.names.meaning(path) {
            Meaning::Prelude(name) => BranchOutcome::constructor(&name),
            _ => None,
        }
    }

    fn odd_pattern(&mut self, pattern: &'a Pat) -> Matched<'a> {
        self.unsupported(
            pattern,
            "this pattern",
            "match with `Ok(name)` and `Err(name)`, one arm each",
        )
    }
}

/// Whether `value` cannot have the side `outcome`: a text, or an `Option` in place of a `Result`.
fn is_other_kind<'a>(outcome: BranchOutcome, value: &Value<'a>, state: &PathState<'a>) -> bool {
    if matches!(
        value,
        Value::Text(_) | Value::Literal(_) | Value::Truth(_) | Value::Tuple(_) | Value::Closure(_)
    ) {
        return true;
    }
    known_side(value, state).is_some_and(|known| known != outcome && known != outcome.opposite())
}

/// The side on which `value` is known to be.
pub(super) fn known_side<'a>(value: &Value<'a>, state: &PathState<'a>) -> Option<BranchOutcome> {
    match value {
        Value::Wrapped(known, _) => Some(*known),
        _ => state.outcome(value),
    }
}

/// The side of `value` with which `?` and `map` continue: `Some` if it is known to be an `Option`,
/// else `Ok`.
pub(super) fn good_side<'a>(value: &Value<'a>, state: &PathState<'a>) -> BranchOutcome {
    match known_side(value, state) {
        Some(BranchOutcome::Some | BranchOutcome::None) => BranchOutcome::Some,
        _ => BranchOutcome::Ok,
    }
}
