//! Checks that the verifier's tables agree with the runtime. The runtime is read as text, because
//! building it compiles burn.

use std::{fs, path::PathBuf};
use syn::{Expr, ExprLit, Item, Lit, visit::Visit};
use testgen_types::Precision;

fn runtime(path: &str) -> syn::File {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../crates/runtime/src")
        .join(path);
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    syn::parse_file(&text).expect("the runtime is Rust")
}

/// The fields `ceiling: Threshold::new(a, b)` of the runtime's rows, in their order.
#[derive(Default)]
struct Ceilings(Vec<Vec<f64>>);

impl<'ast> Visit<'ast> for Ceilings {
    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        if matches!(&field.member, syn::Member::Named(name) if name == "ceiling")
            && let Expr::Call(call) = &field.expr
        {
            let number = |argument: &Expr| match argument {
                Expr::Lit(ExprLit {
                    lit: Lit::Float(number),
                    ..
                }) => number.base10_parse().expect("a number"),
                other => panic!("a ceiling that is not a number: {other:?}"),
            };
            self.0.push(call.args.iter().map(number).collect());
        }
        syn::visit::visit_field_value(self, field);
    }
}

#[test]
fn ceilings_are_those_of_the_runtimes_table() {
    let mut ceilings = Ceilings::default();
    ceilings.visit_file(&runtime("tolerance.rs"));
    assert_eq!(ceilings.0.len(), Precision::ALL.len());
    for (precision, row) in Precision::ALL.iter().zip(&ceilings.0) {
        assert_eq!(
            precision.tolerance_ceiling().as_slice(),
            row.as_slice(),
            "{precision}"
        );
    }
}

#[test]
fn harnesses_are_offered_what_the_runtime_exports() {
    let text = runtime("lib.rs")
        .items
        .iter()
        .filter_map(exported)
        .collect::<Vec<_>>()
        .join(" ");
    let exported: Vec<&str> = text
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .collect();
    assert!(testgen_verify::runtime_names().count() > 20);
    for name in testgen_verify::runtime_names() {
        assert!(
            !name.is_empty() && exported.contains(&name),
            "the runtime does not export `{name}`"
        );
    }
}

fn exported(item: &Item) -> Option<String> {
    match item {
        Item::Use(item) => Some(quote::quote!(#item).to_string()),
        Item::Mod(item) => Some(item.ident.to_string()),
        _ => None,
    }
}
