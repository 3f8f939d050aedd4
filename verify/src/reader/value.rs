//! Values, identified by their origin.

use std::{fmt, rc::Rc};
use syn::ExprClosure;

/// One side of a `Result`, an `Option` or a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BranchOutcome {
    Ok,
    Err,
    Some,
    None,
    True,
    False,
}

impl BranchOutcome {
    /// The other side.
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::Ok => Self::Err,
            Self::Err => Self::Ok,
            Self::Some => Self::None,
            Self::None => Self::Some,
            Self::True => Self::False,
            Self::False => Self::True,
        }
    }

    /// The constructor `Ok`, `Err`, `Some` or `None`, also when written with its enum.
    pub(crate) fn constructor(path: &str) -> Option<Self> {
        match path {
            "Ok" | "Result::Ok" => Some(Self::Ok),
            "Err" | "Result::Err" => Some(Self::Err),
            "Some" | "Option::Some" => Some(Self::Some),
            "None" | "Option::None" => Some(Self::None),
            _ => None,
        }
    }
}

/// A value, identified by its origin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    /// A parameter of the interpreted function, by position.
    Parameter(usize),
    /// The result of the call at this step.
    Called(usize),
    /// The payload of a value on one of its sides.
    Payload(BranchOutcome, Rc<Value<'a>>),
    /// `Ok(..)`, `Err(..)`, `Some(..)` or `None`.
    Wrapped(BranchOutcome, Rc<Value<'a>>),
    /// A field of a value.
    Field(Rc<Value<'a>>, String),
    /// A path of `testgen_runtime`, for instance `DeviceKind::Rocm`.
    Runtime(String),
    /// An item of the file.
    Local(String),
    /// A name of the prelude.
    Prelude(String),
    /// A string literal.
    Text(String),
    /// Any other literal.
    Literal(String),
    /// `true` or `false`.
    Truth(bool),
    /// A tuple; `()` is the empty one.
    Tuple(Vec<Value<'a>>),
    /// A struct or a variant with named fields of `testgen_runtime`, by its path there.
    Structure(String, Vec<(String, Value<'a>)>),
    /// A closure with what it captured.
    Closure(Rc<Closure<'a>>),
}

impl Value<'_> {
    /// `()`.
    pub(crate) fn unit() -> Self {
        Self::Tuple(Vec::new())
    }
}

/// A closure and the variables that it sees.
pub(crate) struct Closure<'a> {
    pub(super) expression: &'a ExprClosure,
    pub(super) captured: Bindings<'a>,
}

/// A local variable.
#[derive(Clone, Debug)]
pub(super) struct Binding<'a> {
    pub(super) name: String,
    /// None until it is assigned.
    pub(super) value: Option<Value<'a>>,
    pub(super) mutable: bool,
}

/// The local variables, innermost last.
pub(super) type Bindings<'a> = Vec<Binding<'a>>;

impl PartialEq for Closure<'_> {
    fn eq(&self, other: &Self) -> bool {
        // By its place in the file: two closures with the same text are two values.
        std::ptr::eq(self.expression, other.expression)
    }
}

impl fmt::Debug for Closure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closure")
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(position) => write!(f, "parameter {position}"),
            Self::Called(step) => write!(f, "%{step}"),
            Self::Payload(outcome, of) => write!(f, "{of}.{outcome:?}"),
            Self::Wrapped(outcome, of) => write!(f, "{outcome:?}({of})"),
            Self::Field(of, name) => write!(f, "{of}.{name}"),
            Self::Runtime(path) | Self::Local(path) | Self::Prelude(path) | Self::Literal(path) => {
                f.write_str(path)
            }
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Truth(truth) => write!(f, "{truth}"),
            Self::Tuple(values) => {
                f.write_str("(")?;
                values.iter().try_for_each(|value| write!(f, "{value},"))?;
                f.write_str(")")
            }
            Self::Structure(path, fields) => {
                write!(f, "{path} {{ ")?;
                fields
                    .iter()
                    .try_for_each(|(name, value)| write!(f, "{name}: {value}, "))?;
                f.write_str("}")
            }
            Self::Closure(_) => f.write_str("a closure"),
        }
    }
}
