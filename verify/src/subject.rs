//! The subject of a harness: a model with its checkpoint, or operators with their shapes, as the
//! spec has it and as it is read from `SPEC`.

use crate::{
    literal::{self, MODEL_TYPES, OPERATORS},
    names::Names,
};
use syn::Expr;
use testgen_types::{Architecture, ModelType, Operator};

/// The subject of the spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedSubject {
    /// A model.
    Model {
        /// The `model_type` of `config.json`.
        model_type: ModelType,
        /// The path of the checkpoint, as the harness contains it.
        checkpoint: String,
        /// The checkpoint's name on the hub, if the spec has one.
        hub: Option<String>,
    },
    /// Operators.
    Operators(Vec<ExpectedOperator>),
}

/// An operator of the spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedOperator {
    /// The operator.
    pub operator: Operator,
    /// The sizes of each of its shapes.
    pub shapes: Vec<Vec<u64>>,
    /// Its shapes in the check `stress`.
    pub stress: Vec<ExpectedStress>,
}

/// Shapes of the check `stress`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedStress {
    /// The issue that reports a fault of such sizes, or a word.
    pub issue: String,
    /// The sizes of each shape.
    pub shapes: Vec<Vec<u64>>,
}

impl ExpectedSubject {
    /// The word for it, and its architecture.
    pub(crate) fn architecture(&self) -> (&'static str, Architecture) {
        match self {
            Self::Model { model_type, .. } => (model_type.as_str(), model_type.architecture()),
            Self::Operators(_) => ("operators", Architecture::Operators),
        }
    }

    /// The requirement for any spec that it does not meet.
    pub(crate) fn incomplete(&self) -> Option<&'static str> {
        match self {
            Self::Model { .. } => None,
            Self::Operators(operators) => {
                let complete = !operators.is_empty() && operators.iter().all(has_all_sizes);
                (!complete).then_some(
                    "`SPEC.subject` must name operators, each with shapes of as many sizes as it has",
                )
            }
        }
    }
}

/// Whether an operator has shapes, each with as many sizes as the operator has.
fn has_all_sizes(one: &ExpectedOperator) -> bool {
    if one.shapes.is_empty() || one.stress.iter().any(|it| it.shapes.is_empty()) {
        return false;
    }
    let all = one
        .shapes
        .iter()
        .chain(one.stress.iter().flat_map(|stress| &stress.shapes));
    all.into_iter()
        // A shape with fewer sizes would compute another call than the spec names.
        .all(|shape| shape.len() == one.operator.sizes().len())
}

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
    // An empty path is the directory of the suite.
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
