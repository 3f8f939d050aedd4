//! The harness's `SPEC`, read from the tree.

use crate::{
    literal::{self, ARCHITECTURES, DEVICES, PRECISIONS, TASKS},
    names::Names,
    subject::{self, ExpectedSubject},
};
use std::collections::BTreeMap;
use syn::{Expr, ItemStatic};
use testgen_types::{Architecture, DeviceKind, Precision, Task};

/// The fields of `SPEC`; a field is none when it is missing or not written as a constant.
#[derive(Debug)]
pub(crate) struct SpecLiteral<'a> {
    pub(crate) item: &'a ItemStatic,
    pub(crate) name: Option<String>,
    pub(crate) subject: Option<ExpectedSubject>,
    pub(crate) architecture: Option<Architecture>,
    pub(crate) task: Option<Task>,
    pub(crate) devices: Option<Vec<DeviceKind>>,
    pub(crate) precisions: Option<Vec<Precision>>,
    /// Every field by its name, for positions and for the fields above that are none.
    pub(crate) fields: BTreeMap<String, &'a Expr>,
}

impl<'a> SpecLiteral<'a> {
    /// Reads `item`, or `None` if its value is not a `Spec { .. }`.
    pub(crate) fn new(names: &Names, item: &'a ItemStatic) -> Option<Self> {
        let fields = literal::fields(literal::structure(names, &item.expr, "Spec")?);
        let field = |name: &str| fields.get(name).copied();
        Some(Self {
            item,
            name: field("name").and_then(literal::text),
            subject: field("subject").and_then(|value| subject::read(names, value)),
            architecture: field("architecture")
                .and_then(|value| literal::variant(names, value, &ARCHITECTURES)),
            task: field("task").and_then(|value| literal::variant(names, value, &TASKS)),
            devices: field("devices")
                .and_then(|value| literal::variant_list(names, value, &DEVICES)),
            precisions: field("precisions")
                .and_then(|value| literal::variant_list(names, value, &PRECISIONS)),
            fields,
        })
    }
}
