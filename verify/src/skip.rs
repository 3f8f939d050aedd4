//! The skips of a harness, read from the tree.

use crate::{
    expectation::ExpectedSkip,
    literal::{self, CHECKS, DEVICES, PRECISIONS},
    names::Names,
};
use syn::{Expr, ExprCall};

/// One entry of `HARNESS.skipped`.
#[derive(Debug)]
pub(crate) struct SkipEntry<'a> {
    pub(crate) place: &'a Expr,
    pub(crate) skip: ExpectedSkip,
}

/// An entry that is not a skip, and the reason.
#[derive(Debug)]
pub(crate) struct ParseError<'a> {
    pub(crate) place: &'a Expr,
    pub(crate) message: &'static str,
}

impl<'a> SkipEntry<'a> {
    /// Reads a call of one of the constructors of `Skip`.
    pub(crate) fn read(names: &Names, place: &'a Expr) -> Result<Self, ParseError<'a>> {
        match literal::plain(place) {
            Expr::Call(call) => read_call(names, call).map(|skip| Self { place, skip }),
            _ => Err(NOT_A_SKIP),
        }
        .map_err(|message| ParseError { place, message })
    }
}

const NOT_A_SKIP: &str = "this is not a call of a constructor of `Skip`";

/// The arguments are in the order device, precision, check, reason; the constructor decides which
/// are present.
fn read_call(names: &Names, call: &ExprCall) -> Result<ExpectedSkip, &'static str> {
    let Expr::Path(function) = literal::plain(&call.func) else {
        return Err(NOT_A_SKIP);
    };
    let constructor = names.variant(&function.path, "Skip").ok_or(NOT_A_SKIP)?;
    let restrictions = [
        ("new", false, false),
        ("on", true, false),
        ("in_precision", false, true),
        ("on_in_precision", true, true),
    ];
    let found = restrictions
        .into_iter()
        .find(|(name, ..)| constructor.is(name));
    let (_, has_device, has_precision) = found.ok_or(NOT_A_SKIP)?;
    // Every constructor takes at least a check and a reason.
    if call.args.len() != 2 + usize::from(has_device) + usize::from(has_precision) {
        return Err("this constructor of `Skip` takes another number of arguments");
    }
    let mut arguments = call.args.iter();
    let mut next = || arguments.next().ok_or(NOT_A_SKIP);
    let device = match has_device {
        true => Some(literal::variant(names, next()?, &DEVICES).ok_or("the device is unknown")?),
        false => None,
    };
    let precision = match has_precision {
        true => {
            Some(literal::variant(names, next()?, &PRECISIONS).ok_or("the precision is unknown")?)
        }
        false => None,
    };
    let check = literal::variant(names, next()?, &CHECKS).ok_or("the check is unknown")?;
    let reason = literal::text(next()?).ok_or("the reason is not a string literal")?;
    Ok(ExpectedSkip {
        check,
        device,
        precision,
        reason,
    })
}
