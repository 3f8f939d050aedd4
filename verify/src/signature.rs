//! Whether a function has the signature that the suite calls it by.

use crate::{finding::Remark, names::Names};
use syn::{FnArg, ItemFn, ReturnType, Safety, Type, Visibility};

/// A type as a harness writes it in a signature.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// `&Name` of `testgen_runtime`.
    Borrowed(&'static str),
    /// `Name` of `testgen_runtime`.
    Owned(&'static str),
    /// `&str`.
    Text,
}

/// What is wrong with the signature of `function`, if anything.
pub(crate) fn remarks(names: &Names, function: &ItemFn, parameters: &[Shape], written: &str) -> Vec<Remark> {
    let name = &function.sig.ident;
    let help = format!("write `pub fn {name}{written}`");
    let mut remarks = Vec::new();
    let mut add = |message: String| remarks.push(Remark::at(name, message, &help));
    if !matches!(function.vis, Visibility::Public(_)) {
        add(format!("`{name}` is not public, so the suite cannot call it"));
    }
    if !is_plain(function) {
        add(format!("`{name}` is not a plain function"));
    }
    let inputs = &function.sig.inputs;
    let fits = inputs.len() == parameters.len()
        && inputs.iter().zip(parameters).all(|(input, shape)| match input {
            FnArg::Typed(typed) => is_shape(names, &typed.ty, *shape),
            FnArg::Receiver(_) => false,
        });
    if !fits {
        add(format!("`{name}` does not take the parameters that the suite gives it"));
    }
    let gives = matches!(&function.sig.output, ReturnType::Type(_, output)
        if is_shape(names, output, Shape::Owned("Endpoint")));
    if !gives {
        add(format!("`{name}` does not return an `Endpoint`"));
    }
    remarks
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

fn is_shape(names: &Names, found: &Type, shape: Shape) -> bool {
    match (found, shape) {
        (Type::Paren(inner), _) => is_shape(names, &inner.elem, shape),
        (Type::Path(path), Shape::Owned(name)) => path.qself.is_none() && names.is_runtime(&path.path, name),
        (Type::Reference(reference), Shape::Borrowed(name)) => {
            reference.mutability.is_none() && is_shape(names, &reference.elem, Shape::Owned(name))
        }
        (Type::Reference(reference), Shape::Text) => {
            reference.mutability.is_none()
                && matches!(reference.elem.as_ref(), Type::Path(path) if path.path.is_ident("str"))
        }
        _ => false,
    }
}
