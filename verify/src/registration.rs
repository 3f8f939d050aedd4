//! The harness's list of checks, read from the tree.

use crate::{
    literal::{self, CHECKS, DEVICES, PRECISIONS},
    names::Names,
};
use syn::Expr;
use testgen_contract::Registration;

/// One line of the list.
#[derive(Debug)]
pub(crate) struct Registered<'a> {
    pub(crate) registration: Registration,
    /// Why it is skipped; none when it runs.
    pub(crate) skip: Option<String>,
    pub(crate) place: &'a Expr,
}

/// A line of the list that is not one.
#[derive(Debug)]
pub(crate) struct Illegible<'a> {
    pub(crate) place: &'a Expr,
    pub(crate) why: String,
}

/// Reads one line: `Registered::run(device, check, precision)` or `Registered::skip(device, check, precision, reason)`.
pub(crate) fn read<'a>(names: &Names, place: &'a Expr) -> Result<Registered<'a>, Illegible<'a>> {
    let illegible = |why: &str| Illegible { place, why: why.to_owned() };
    let Expr::Call(call) = literal::plain(place) else { return Err(illegible("this is no registration")) };
    let Expr::Path(function) = literal::plain(&call.func) else { return Err(illegible("this is no registration")) };
    let skips = match names.variant(&function.path, "Registered") {
        Some(name) if name.is("run") => false,
        Some(name) if name.is("skip") => true,
        _ => return Err(illegible("this is neither `Registered::run` nor `Registered::skip`")),
    };
    if call.args.len() != 3 + usize::from(skips) {
        return Err(illegible("this registration has the wrong number of arguments"));
    }
    let device = literal::word(names, &call.args[0], &DEVICES).ok_or_else(|| illegible("the device is unknown"))?;
    let check = literal::word(names, &call.args[1], &CHECKS).ok_or_else(|| illegible("the check is unknown"))?;
    let precision =
        literal::word(names, &call.args[2], &PRECISIONS).ok_or_else(|| illegible("the precision is unknown"))?;
    let skip = match call.args.get(3) {
        Some(reason) => Some(literal::text(reason).ok_or_else(|| illegible("the reason is no text"))?),
        None => None,
    };
    Ok(Registered { registration: Registration { device, check, precision }, skip, place })
}
