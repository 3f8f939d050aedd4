//! The name of a type is unique in the workspace, so that a search for it finds one definition.

use super::{
    repository,
    scope::attributes,
    source_directories,
    tree::{Module, compiled_for_tests},
    trees,
};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use syn::{
    Ident, Item, Macro,
    visit::{self, Visit},
};

/// Keywords that precede the name of a type in the tokens of a macro; `type` may also be one in an
/// `impl`.
const KEYWORDS: [&str; 4] = ["enum", "struct", "trait", "union"];

#[test]
fn the_name_of_a_type_is_defined_once() {
    let mut places = BTreeMap::new();
    // One crate after another: the memory of this process counts as that of the commands that other
    // tests start.
    for directory in source_directories() {
        trees(&directory)
            .iter()
            .flat_map(|tree| &tree.modules)
            .for_each(|module| add_places(&mut places, module));
    }
    let found = defined_twice(places);
    assert!(
        found.is_empty(),
        "{} names of several types:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// Adds the places of the definitions in `module` to those of each name.
fn add_places(places: &mut BTreeMap<String, Vec<String>>, module: &Module) {
    let file = module
        .file
        .strip_prefix(repository())
        .unwrap_or(&module.file)
        .display();
    for name in type_names(&module.items) {
        places
            .entry(name.to_string())
            .or_default()
            .push(format!("{file}:{}", name.span().start().line));
    }
}

/// A line for each name that has several places.
fn defined_twice(places: BTreeMap<String, Vec<String>>) -> Vec<String> {
    let several = places.into_iter().filter(|(_, places)| places.len() > 1);
    several
        .map(|(name, places)| format!("{name}: {}", places.join(", ")))
        .collect()
}

/// The types that items define, also within functions and macros, without those compiled for tests
/// only.
fn type_names(items: &[Item]) -> Vec<Ident> {
    let mut names = TypeNames::default();
    items.iter().for_each(|item| names.visit_item(item));
    names.0
}

#[derive(Default)]
struct TypeNames(Vec<Ident>);

impl<'ast> Visit<'ast> for TypeNames {
    fn visit_item(&mut self, item: &'ast Item) {
        if compiled_for_tests(attributes(item)) {
            return;
        }
        match item {
            Item::Enum(item) => self.0.push(item.ident.clone()),
            Item::Struct(item) => self.0.push(item.ident.clone()),
            Item::Trait(item) => self.0.push(item.ident.clone()),
            Item::Type(item) => self.0.push(item.ident.clone()),
            Item::Union(item) => self.0.push(item.ident.clone()),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.add_tokens(call.tokens.clone());
    }
}

impl TypeNames {
    /// Types in the rules of a macro and in its arguments. A name that is a variable of the macro
    /// differs in every call.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (index, token) in tokens.iter().enumerate() {
            match (token, &tokens[index + 1..]) {
                (TokenTree::Ident(word), [TokenTree::Ident(name), ..])
                    if KEYWORDS.iter().any(|known| word == known) =>
                {
                    self.0.push(name.clone());
                }
                // `closed_enum!` has `Name: "name" { .. }`.
                (
                    TokenTree::Ident(name),
                    [
                        TokenTree::Punct(_),
                        TokenTree::Literal(_),
                        TokenTree::Group(_),
                        ..,
                    ],
                ) => {
                    self.0.push(name.clone());
                }
                (TokenTree::Group(group), _) => self.add_tokens(group.stream()),
                _ => {}
            }
        }
    }
}

#[test]
fn types_in_functions_and_macros_count_and_types_of_tests_do_not() {
    let source = r#"
        struct Plain;
        fn body() { enum Local {} }
        macro_rules! define { ($name:ident) => { pub trait Fixed {} struct $name; } }
        closed_enum! {
            /// A documented enum.
            Closed: "closed" { First = "first", }
        }
        type Alias = u8;
        impl Iterator for Plain { type Item = u8; }
        #[cfg(test)]
        struct OfTests;
    "#;
    let items = syn::parse_file(source)
        .map(|file| file.items)
        .unwrap_or_default();
    let names: Vec<String> = type_names(&items).iter().map(ToString::to_string).collect();
    assert_eq!(names, ["Plain", "Local", "Fixed", "Closed", "Alias"]);
}
