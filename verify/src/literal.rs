//! Constants as a harness writes them: variants of closed enums, texts, lists and structs.

use crate::names::{Meaning, Names};
use std::collections::BTreeMap;
use syn::{Expr, ExprLit, ExprStruct, Lit, Member, Path};

/// `expression` without parentheses and borrows.
pub(crate) fn plain(expression: &Expr) -> &Expr {
    match expression {
        Expr::Paren(inner) => plain(&inner.expr),
        Expr::Reference(inner) => plain(&inner.expr),
        other => other,
    }
}

/// The variant of a closed enum that `expression` names, for instance `DeviceKind::Rocm`.
pub(crate) fn variant<T: Copy>(
    names: &Names,
    expression: &Expr,
    closed: &EnumLiteral<T>,
) -> Option<T> {
    let Expr::Path(path) = plain(expression) else {
        return None;
    };
    // By its meaning and not by its spelling: an import may rename an enum.
    let named = names.variant(&path.path, closed.kind)?;
    closed
        .all
        .iter()
        .copied()
        .find(|candidate| named.is((closed.variant)(*candidate)))
}

/// A closed enum of `testgen-types`.
pub(crate) struct EnumLiteral<T: 'static> {
    /// The enum's name.
    pub(crate) kind: &'static str,
    /// Every variant.
    pub(crate) all: &'static [T],
    /// The name of a variant.
    pub(crate) variant: fn(T) -> &'static str,
}

macro_rules! closed_enum {
    ($($constant:ident: $kind:ident),+ $(,)?) => {
        $(
            #[doc = concat!("The variants of `", stringify!($kind), "`.")]
            pub(crate) const $constant: EnumLiteral<testgen_types::$kind> = EnumLiteral {
                kind: stringify!($kind),
                all: testgen_types::$kind::ALL,
                variant: testgen_types::$kind::variant_name,
            };
        )+
    };
}
closed_enum! {
    ARCHITECTURES: Architecture, CHECKS: Check, DEVICES: DeviceKind, MODEL_TYPES: ModelType, OPERATORS: Operator,
    PRECISIONS: Precision, TASKS: Task,
}

/// The text of a string literal.
pub(crate) fn text(expression: &Expr) -> Option<String> {
    match plain(expression) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// The number of a literal with a fraction or an exponent.
pub(crate) fn number(expression: &Expr) -> Option<f64> {
    let Expr::Lit(literal) = plain(expression) else {
        return None;
    };
    // A literal without either is not an `f64` in Rust.
    match &literal.lit {
        Lit::Float(number) => number.base10_parse().ok(),
        _ => None,
    }
}

/// The whole number of a literal.
pub(crate) fn integer(expression: &Expr) -> Option<u64> {
    match plain(expression) {
        Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) => number.base10_parse().ok(),
        _ => None,
    }
}

/// The content of `Some(..)`, or `None`, or `None` if it is neither.
pub(crate) fn option<'e>(names: &Names, expression: &'e Expr) -> Option<Option<&'e Expr>> {
    match plain(expression) {
        Expr::Path(path) if is_prelude(&path.path, "None", names) => Some(None),
        Expr::Call(call) => {
            // By its meaning, because a harness could define its own `Some`.
            let some = matches!(plain(&call.func), Expr::Path(path) if is_prelude(&path.path, "Some", names));
            (some && call.args.len() == 1).then(|| call.args.first())
        }
        _ => None,
    }
}

/// The elements of `&[..]`.
pub(crate) fn elements(expression: &Expr) -> Option<Vec<&Expr>> {
    match plain(expression) {
        Expr::Array(array) => Some(array.elems.iter().collect()),
        _ => None,
    }
}

/// The variants in a list.
pub(crate) fn variant_list<T: Copy>(
    names: &Names,
    expression: &Expr,
    closed: &EnumLiteral<T>,
) -> Option<Vec<T>> {
    elements(expression)?
        .into_iter()
        .map(|element| variant(names, element, closed))
        .collect()
}

/// The struct literal of `expression` if it is one of `testgen_runtime::<name>` without `..rest`.
pub(crate) fn structure<'a>(
    names: &Names,
    expression: &'a Expr,
    name: &str,
) -> Option<&'a ExprStruct> {
    match plain(expression) {
        Expr::Struct(literal)
            // With `..rest` the fields that are not written would come from elsewhere.
            if literal.rest.is_none() && names.is_runtime(&literal.path, name) =>
        {
            Some(literal)
        }
        _ => None,
    }
}

/// The fields of a struct literal by name.
pub(crate) fn fields(literal: &ExprStruct) -> BTreeMap<String, &Expr> {
    let named = literal
        .fields
        .iter()
        .filter_map(|field| match &field.member {
            Member::Named(name) => Some((name.to_string(), &field.expr)),
            Member::Unnamed(_) => None,
        });
    named.collect()
}

/// The item of the file that `expression` names, whether it exists or not; another rule checks
/// that.
pub(crate) fn local(names: &Names, expression: &Expr) -> Option<String> {
    let Expr::Path(path) = plain(expression) else {
        return None;
    };
    local_path(names, &path.path)
}

fn local_path(names: &Names, path: &Path) -> Option<String> {
    match names.meaning(path) {
        Meaning::Local(name) | Meaning::Unknown(name) => Some(name),
        _ => None,
    }
}

fn is_prelude(path: &Path, name: &str, names: &Names) -> bool {
    matches!(names.meaning(path), Meaning::Prelude(found) if found == name)
}
