//! The subject of a harness, read from its `SPEC`.

use crate::{
    expected_subject::{ExpectedOperator, ExpectedStress, ExpectedSubject},
    literal::{self, MODEL_TYPES, OPERATORS},
    names::Names,
};
use syn::Expr;

/// Reads `Subject::Model { .. }` or `Subject::Operators { shapes: &[..] }`, or `None` if it is
/// written in another way.
pub(crate) fn read(names: &Names, value: &Expr) -> Option<ExpectedSubject> {
    if let Some(operators) = literal::structure(names, value, "Subject::Operators") {
        let list = literal::elements(literal::fields(operators).get("shapes")?)?;
        let operators = list.into_iter().map(|element| operator(names, element));
        return Some(ExpectedSubject::Operators(
            operators.collect::<Option<Vec<_>>>()?,
        ));
    }
    model(names, value)
}

/// `Subject::Model { model_type: .., source: Source { path: "..", hub: .. } }`.
fn model(names: &Names, value: &Expr) -> Option<ExpectedSubject> {
    let fields = literal::fields(literal::structure(names, value, "Subject::Model")?);
    let model_type = literal::variant(names, fields.get("model_type")?, &MODEL_TYPES)?;
    let source = literal::fields(literal::structure(names, fields.get("source")?, "Source")?);
    let checkpoint = literal::text(source.get("path")?).filter(|path| !path.is_empty())?;
    let hub = match literal::option(names, source.get("hub")?)? {
        Some(hub) => Some(literal::text(hub)?),
        None => None,
    };
    Some(ExpectedSubject::Model {
        model_type,
        checkpoint,
        hub,
    })
}

/// `OperatorShapes { operator: .., shapes: &[&[..]], stress: &[..] }`.
fn operator(names: &Names, value: &Expr) -> Option<ExpectedOperator> {
    let fields = literal::fields(literal::structure(names, value, "OperatorShapes")?);
    let operator = literal::variant(names, fields.get("operator")?, &OPERATORS)?;
    let shapes = shapes(fields.get("shapes")?)?;
    let groups = literal::elements(fields.get("stress")?)?.into_iter();
    let stress = groups
        .map(|group| stress(names, group))
        .collect::<Option<Vec<_>>>()?;
    Some(ExpectedOperator {
        operator,
        shapes,
        stress,
    })
}

/// `StressShapes { issue: "..", shapes: &[&[..]] }`.
fn stress(names: &Names, value: &Expr) -> Option<ExpectedStress> {
    let fields = literal::fields(literal::structure(names, value, "StressShapes")?);
    Some(ExpectedStress {
        issue: literal::text(fields.get("issue")?)?,
        shapes: shapes(fields.get("shapes")?)?,
    })
}

/// `&[&[..]]`.
fn shapes(value: &Expr) -> Option<Vec<Vec<u64>>> {
    literal::elements(value)?
        .into_iter()
        .map(|shape| {
            literal::elements(shape)?
                .into_iter()
                .map(literal::integer)
                .collect::<Option<Vec<_>>>()
        })
        .collect()
}
