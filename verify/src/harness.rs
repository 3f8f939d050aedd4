//! One harness as the rules see it: its tree, its names, what its statics say, and the ways through its functions.

use crate::{
    Expectation,
    expectation::Demand,
    journey::Journey,
    literal,
    names::Names,
    reader::{self, Library, Reading},
    spec::SpecLiteral,
    vocabulary::init_name,
};
use std::collections::BTreeMap;
use syn::{File, Item, ItemFn, ItemStatic, ext::IdentExt};
use testgen_types::DeviceKind;

/// One harness as the rules see it.
#[derive(Debug)]
pub(crate) struct Harness<'a> {
    pub(crate) file: &'a File,
    pub(crate) expectation: Option<&'a Expectation>,
    pub(crate) names: Names,
    /// Every function at the top of the file, by name; more than one of a name is a finding.
    pub(crate) functions: BTreeMap<String, Vec<&'a ItemFn>>,
    /// Every static, by name.
    pub(crate) statics: BTreeMap<String, Vec<&'a ItemStatic>>,
    pub(crate) spec: Option<SpecLiteral<'a>>,
    pub(crate) demand: Option<Demand>,
    /// The init functions that are there.
    pub(crate) inits: Vec<Entry<'a>>,
    /// The handlers that are there, once the task is known.
    pub(crate) handlers: Vec<Entry<'a>>,
    /// The function that builds the request.
    pub(crate) request: Option<RequestFunction<'a>>,
}

/// The name of the function that builds the request.
pub(crate) const REQUEST_FUNCTION: &str = "request";

/// The function that builds the request, read.
#[derive(Debug)]
pub(crate) struct RequestFunction<'a> {
    pub(crate) function: &'a ItemFn,
    pub(crate) reading: Reading<'a>,
}

/// A way into the harness, read.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) device: DeviceKind,
    pub(crate) function: &'a ItemFn,
    pub(crate) reading: Reading<'a>,
}

impl<'a> Harness<'a> {
    /// Reads everything that the rules ask for.
    pub(crate) fn new(file: &'a File, expectation: Option<&'a Expectation>) -> Self {
        let names = Names::new(file);
        let (functions, statics, library) = collect(file);
        let spec = statics.get("SPEC").and_then(|items| SpecLiteral::new(&names, items.first()?));
        let demand = Demand::new(expectation, spec.as_ref());
        let entries = |name: &dyn Fn(DeviceKind) -> String| {
            let found = DeviceKind::ALL.iter().filter_map(|&device| {
                let function = *functions.get(&name(device))?.first()?;
                Some(Entry { device, function, reading: reader::read(&names, &library, function) })
            });
            found.collect::<Vec<_>>()
        };
        let inits = entries(&init_name);
        let handlers = demand.as_ref().map(|demand| entries(&|device| handler_name(device, demand)));
        let handlers = handlers.unwrap_or_default();
        let request = functions.get(REQUEST_FUNCTION).and_then(|functions| functions.first().copied());
        let request =
            request.map(|function| RequestFunction { function, reading: reader::read(&names, &library, function) });
        Self { file, expectation, names, functions, statics, spec, demand, inits, handlers, request }
    }

    /// Every function that the suite calls, with how it was read.
    pub(crate) fn readings(&self) -> impl Iterator<Item = (&'a ItemFn, &Reading<'a>)> {
        let devices = self.inits.iter().chain(&self.handlers).map(|entry| (entry.function, &entry.reading));
        devices.chain(self.request.iter().map(|request| (request.function, &request.reading)))
    }

    /// Every way through every init function that could be read in full.
    pub(crate) fn journeys(&self) -> impl Iterator<Item = Journey<'_, 'a>> {
        let readable = self.inits.iter().filter(|entry| entry.reading.troubles.is_empty());
        readable.flat_map(|entry| entry.reading.ways.iter().map(|way| Journey { device: entry.device, way }))
    }

    /// The fields of `HARNESS`; none when there is no such literal.
    pub(crate) fn harness_fields(&self) -> Option<BTreeMap<String, &'a syn::Expr>> {
        let item = *self.statics.get("HARNESS")?.first()?;
        Some(literal::fields(literal::structure(&self.names, &item.expr, "Harness")?))
    }
}

/// `create_<device>_<task>_endpoint_handler`.
pub(crate) fn handler_name(device: DeviceKind, demand: &Demand) -> String {
    format!("create_{device}_{}_endpoint_handler", demand.task)
}

type Functions<'a> = BTreeMap<String, Vec<&'a ItemFn>>;
type Statics<'a> = BTreeMap<String, Vec<&'a ItemStatic>>;

fn collect(file: &File) -> (Functions<'_>, Statics<'_>, Library<'_>) {
    let (mut functions, mut statics, mut library) = (Functions::new(), Statics::new(), Library::default());
    for item in &file.items {
        match item {
            Item::Fn(function) => {
                let name = function.sig.ident.unraw().to_string();
                library.functions.entry(name.clone()).or_insert(function);
                functions.entry(name).or_default().push(function);
            }
            Item::Static(item) => statics.entry(item.ident.unraw().to_string()).or_default().push(item),
            Item::Const(item) => {
                library.constants.insert(item.ident.unraw().to_string(), &item.expr);
            }
            _ => {}
        }
    }
    (functions, statics, library)
}
