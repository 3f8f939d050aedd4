//! One harness as the rules see it: its tree, its names, the values of its statics, and the paths
//! through its functions.

use crate::{
    expectation::{Expectation, RequiredChecks},
    init_path::InitPath,
    literal,
    names::Names,
    reader::{self, FileItems, Interpretation},
    spec::SpecLiteral,
    vocabulary::init_name,
};
use std::collections::BTreeMap;
use syn::{File, Item, ItemFn, ItemStatic, ext::IdentExt};
use testgen_types::DeviceKind;

/// One harness as the rules see it.
#[derive(Debug)]
pub(crate) struct ParsedHarness<'a> {
    pub(crate) file: &'a File,
    pub(crate) expectation: Option<&'a Expectation>,
    pub(crate) names: Names,
    /// Every function at the top level of the file, by name; more than one of a name is a finding.
    pub(crate) functions: BTreeMap<String, Vec<&'a ItemFn>>,
    /// Every static, by name.
    pub(crate) statics: BTreeMap<String, Vec<&'a ItemStatic>>,
    pub(crate) spec: Option<SpecLiteral<'a>>,
    pub(crate) requirements: Option<RequiredChecks>,
    /// The init functions that exist.
    pub(crate) inits: Vec<EntryPoint<'a>>,
    /// The handlers that exist, if the task is known.
    pub(crate) handlers: Vec<EntryPoint<'a>>,
    /// The function that builds the request.
    pub(crate) request: Option<RequestFunction<'a>>,
}

/// The name of the function that builds the request.
pub(crate) const REQUEST_FUNCTION: &str = "request";

/// The function that builds the request, with its paths.
#[derive(Debug)]
pub(crate) struct RequestFunction<'a> {
    pub(crate) function: &'a ItemFn,
    pub(crate) interpretation: Interpretation<'a>,
}

/// An entry point of the harness, with its paths.
#[derive(Debug)]
pub(crate) struct EntryPoint<'a> {
    pub(crate) device: DeviceKind,
    pub(crate) function: &'a ItemFn,
    pub(crate) interpretation: Interpretation<'a>,
}

impl<'a> ParsedHarness<'a> {
    /// Collects everything that the rules use.
    pub(crate) fn new(file: &'a File, expectation: Option<&'a Expectation>) -> Self {
        let names = Names::new(file);
        let (functions, statics, file_items) = collect(file);
        let spec = statics
            .get("SPEC")
            // The first of two: `spec_static` reports the second.
            .and_then(|items| SpecLiteral::new(&names, items.first()?));
        let requirements = RequiredChecks::new(expectation, spec.as_ref());
        let entries = |name: &dyn Fn(DeviceKind) -> String| {
            let found = DeviceKind::ALL.iter().filter_map(|&device| {
                // A second definition is a finding of `signature::defined_once`; until it is fixed,
                // the first one is followed.
                let function = *functions.get(&name(device))?.first()?;
                Some(EntryPoint {
                    device,
                    function,
                    interpretation: reader::read(&names, &file_items, function),
                })
            });
            found.collect::<Vec<_>>()
        };
        let inits = entries(&init_name);
        let handlers = requirements
            .as_ref()
            .map(|requirements| entries(&|device| handler_name(device, requirements)));
        let handlers = handlers.unwrap_or_default();
        let request = functions
            .get(REQUEST_FUNCTION)
            .and_then(|functions| functions.first().copied());
        let request = request.map(|function| RequestFunction {
            function,
            interpretation: reader::read(&names, &file_items, function),
        });
        Self {
            file,
            expectation,
            names,
            functions,
            statics,
            spec,
            requirements,
            inits,
            handlers,
            request,
        }
    }

    /// Every function that the suite calls, with its interpretation.
    pub(crate) fn interpretations(
        &self,
    ) -> impl Iterator<Item = (&'a ItemFn, &Interpretation<'a>)> {
        let devices = self
            .inits
            .iter()
            .chain(&self.handlers)
            .map(|entry| (entry.function, &entry.interpretation));
        devices.chain(
            self.request
                .iter()
                .map(|request| (request.function, &request.interpretation)),
        )
    }

    /// Every path through every init function that could be interpreted completely.
    pub(crate) fn init_paths(&self) -> impl Iterator<Item = InitPath<'_, 'a>> {
        let readable = self
            .inits
            .iter()
            // The paths through unsupported code prove nothing, and `readable` reports it already.
            .filter(|entry| entry.interpretation.unsupported.is_empty());
        readable.flat_map(|entry| {
            entry
                .interpretation
                .code_paths
                .iter()
                .map(|code_path| InitPath {
                    device: entry.device,
                    code_path,
                })
        })
    }

    /// The fields of `HARNESS`, or `None` if there is no such literal.
    pub(crate) fn harness_fields(&self) -> Option<BTreeMap<String, &'a syn::Expr>> {
        let item = *self.statics.get("HARNESS")?.first()?;
        Some(literal::fields(literal::structure(
            &self.names,
            &item.expr,
            "Harness",
        )?))
    }
}

/// `create_<device>_<task>_endpoint_handler`.
pub(crate) fn handler_name(device: DeviceKind, requirements: &RequiredChecks) -> String {
    format!("create_{device}_{}_endpoint_handler", requirements.task)
}

type Functions<'a> = BTreeMap<String, Vec<&'a ItemFn>>;
type Statics<'a> = BTreeMap<String, Vec<&'a ItemStatic>>;

fn collect(file: &File) -> (Functions<'_>, Statics<'_>, FileItems<'_>) {
    let (mut functions, mut statics, mut file_items) =
        (Functions::new(), Statics::new(), FileItems::default());
    for item in &file.items {
        match item {
            Item::Fn(function) => {
                // To the compiler `r#init_cpu` and `init_cpu` are one name.
                let name = function.sig.ident.unraw().to_string();
                // The first of two helpers is followed, as with entry points; `imports` reports the
                // second.
                file_items.functions.entry(name.clone()).or_insert(function);
                functions.entry(name).or_default().push(function);
            }
            Item::Static(item) => statics
                .entry(item.ident.unraw().to_string())
                .or_default()
                .push(item),
            Item::Const(item) => {
                file_items
                    .constants
                    .insert(item.ident.unraw().to_string(), &item.expr);
            }
            _ => {}
        }
    }
    (functions, statics, file_items)
}
