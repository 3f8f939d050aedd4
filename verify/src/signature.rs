//! Checks that a function is defined once, with the signature that the suite expects.

use crate::{finding::Diagnostic, harness::ParsedHarness, names::Names};
use syn::{
    FnArg, GenericArgument, ItemFn, Path, PathArguments, ReturnType, Safety, Type, Visibility,
};

/// A signature that the suite calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signature {
    pub(crate) parameters: &'static [SignatureType],
    pub(crate) returns: SignatureType,
    /// Parameters and result as a harness writes them.
    pub(crate) written: &'static str,
}

/// A type in a signature; names are from `testgen_runtime`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SignatureType {
    /// `&Name`.
    Borrowed(&'static str),
    /// `Name`.
    Owned(&'static str),
    /// `Result<Name, Name>`.
    Result(&'static str, &'static str),
}

/// Checks the definition of the function `name`.
pub(crate) fn defined_once(
    harness: &ParsedHarness<'_>,
    name: &str,
    signature: &Signature,
) -> Vec<Diagnostic> {
    let functions = harness
        .functions
        .get(name)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let [first, rest @ ..] = functions else {
        let help = format!("write `pub fn {name}{}`", signature.written);
        return vec![Diagnostic::top(
            format!("the file has no function `{name}`"),
            help,
        )];
    };
    let mut diagnostics = diagnostics(&harness.names, first, signature);
    let twice = format!("`{name}` is defined twice");
    diagnostics.extend(
        rest.iter().map(|function| {
            Diagnostic::at(&function.sig.ident, twice.as_str(), "keep one of them")
        }),
    );
    diagnostics
}

fn diagnostics(names: &Names, function: &ItemFn, signature: &Signature) -> Vec<Diagnostic> {
    let name = &function.sig.ident;
    let help = format!("write `pub fn {name}{}`", signature.written);
    let problems = [
        (
            !matches!(function.vis, Visibility::Public(_)),
            "is not public, so the suite cannot call it",
        ),
        (
            !is_plain(function),
            "is `const`, `async`, `unsafe`, `extern`, generic or variadic",
        ),
        (
            !takes(names, function, signature.parameters),
            "does not take the parameters that the suite passes",
        ),
        (
            !returns(names, function, signature.returns),
            "does not return what the suite expects",
        ),
    ];
    // Every problem, because each of them alone stops the suite from compiling.
    let found = problems.into_iter().filter(|(is_wrong, _)| *is_wrong);
    found
        .map(|(_, problem)| Diagnostic::at(name, format!("`{name}` {problem}"), &help))
        .collect()
}

fn is_plain(function: &ItemFn) -> bool {
    let signature = &function.sig;
    signature.constness.is_none()
        && signature.asyncness.is_none()
        && matches!(signature.safety, Safety::Default)
        && signature.abi.is_none()
        && signature.generics.params.is_empty()
        && signature.generics.where_clause.is_none()
        && signature.variadic.is_none()
}

fn takes(names: &Names, function: &ItemFn, parameters: &[SignatureType]) -> bool {
    let inputs = &function.sig.inputs;
    inputs.len() == parameters.len()
        && inputs
            .iter()
            .zip(parameters)
            .all(|(input, shape)| match input {
                FnArg::Typed(typed) => is_shape(names, &typed.ty, *shape),
                FnArg::Receiver(_) => false,
            })
}

fn returns(names: &Names, function: &ItemFn, shape: SignatureType) -> bool {
    matches!(&function.sig.output, ReturnType::Type(_, output) if is_shape(names, output, shape))
}

fn is_shape(names: &Names, found: &Type, shape: SignatureType) -> bool {
    match (found, shape) {
        (Type::Paren(inner), _) => is_shape(names, &inner.elem, shape),
        (Type::Path(path), SignatureType::Owned(name)) => {
            // With a `qself`, as in `<T as Trait>::Name`, the path may be any type.
            path.qself.is_none() && names.is_runtime(&path.path, name)
        }
        (Type::Path(path), SignatureType::Result(ok, error)) => {
            path.qself.is_none()
                && names.is_prelude(&path.path, "Result")
                && has_arguments(names, &path.path, [ok, error])
        }
        (Type::Reference(reference), SignatureType::Borrowed(name)) => {
            // A mutable borrow would let a harness change the target that the report is about.
            reference.mutability.is_none()
                && is_shape(names, &reference.elem, SignatureType::Owned(name))
        }
        _ => false,
    }
}

/// Whether the generic arguments of `path` are these types of the runtime.
fn has_arguments(names: &Names, path: &Path, expected: [&'static str; 2]) -> bool {
    let Some(PathArguments::AngleBracketed(arguments)) =
        path.segments.last().map(|segment| &segment.arguments)
    else {
        return false;
    };
    arguments.args.len() == expected.len()
        && arguments
            .args
            .iter()
            .zip(expected)
            .all(|(argument, name)| match argument {
                GenericArgument::Type(found) => is_shape(names, found, SignatureType::Owned(name)),
                _ => false,
            })
}
