//! Changes of a harness's tree, at one position at a time.

use super::good_harness;
use quote::ToTokens;
use std::{collections::BTreeMap, env, sync::LazyLock};
use syn::{
    Arm, Block, Expr, File, Item, ItemFn, Stmt, parse_quote,
    visit_mut::{self, VisitMut},
};

/// A changed harness and what was done to it.
pub(crate) struct Mutant {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
}

/// The number of mutants of a kind in an ordinary run, over all models; at least two of each.
const SAMPLE: usize = 24;

/// The number of mutants of a kind and a model in this run: its part of [`SAMPLE`], or the value of
/// `TESTGEN_SAMPLE`, or all of them when `TESTGEN_ALL_MUTANTS` is set.
fn sample_size() -> usize {
    static SIZE: LazyLock<usize> = LazyLock::new(|| match env::var_os("TESTGEN_ALL_MUTANTS") {
        Some(_) => usize::MAX,
        None => given_sample()
            .unwrap_or((SAMPLE / good_harness::models().len()).max(2))
            .max(1),
    });
    *SIZE
}

fn given_sample() -> Option<usize> {
    env::var("TESTGEN_SAMPLE").ok()?.parse().ok()
}

/// Whether `TESTGEN_SAMPLE` requests another number of mutants, as cargo-mutants does for every
/// change that it tries.
pub(crate) fn is_reduced() -> bool {
    given_sample().is_some() && !is_everything()
}

/// Whether this run looks at every place.
pub(crate) fn is_everything() -> bool {
    sample_size() == usize::MAX
}

/// Of each kind [`sample_size`] at most, spread evenly.
pub(crate) fn sample(all: Vec<Mutant>) -> Vec<Mutant> {
    let mut kinds: BTreeMap<&str, Vec<Mutant>> = BTreeMap::new();
    all.into_iter()
        .for_each(|mutant| kinds.entry(mutant.kind).or_default().push(mutant));
    kinds.into_values().flat_map(thin).collect()
}

/// The places that an ordinary run looks at; the others need not even be written out.
fn thin<T>(all: Vec<T>) -> Vec<T> {
    let step = all.len().div_ceil(sample_size()).max(1);
    all.into_iter().step_by(step).collect()
}

/// Whether a function is one that the rules are about: one that the suite calls, or the helper that
/// loads the model.
fn is_entry(function: &ItemFn) -> bool {
    let name = function.sig.ident.to_string();
    name.starts_with("init_")
        || name.starts_with("create_")
        || name == "load_on"
        || name == "request"
}

/// Visits the entries: counts the positions where a change applies, with the new code, or applies
/// one of the changes.
struct Places<'c, T> {
    change: &'c dyn Fn(&mut T) -> bool,
    visited: usize,
    found: Vec<(usize, T)>,
    put: Option<(usize, T)>,
}

impl<T: Clone + PartialEq> Places<'_, T> {
    /// Visits one position; true when it was replaced, so that nothing below it is visited.
    fn visit(&mut self, node: &mut T) -> bool {
        self.visited += 1;
        if let Some((_, changed)) = self.put.take_if(|(place, _)| *place == self.visited) {
            *node = changed;
            return true;
        }
        if self.put.is_none() {
            let mut changed = node.clone();
            if (self.change)(&mut changed) && changed != *node {
                self.found.push((self.visited, changed));
            }
        }
        false
    }
}

macro_rules! places {
    ($name:ident, $node:ty, $visit:ident) => {
        impl VisitMut for Places<'_, $node> {
            fn visit_item_fn_mut(&mut self, function: &mut ItemFn) {
                if is_entry(function) {
                    visit_mut::visit_item_fn_mut(self, function);
                }
            }

            fn $visit(&mut self, node: &mut $node) {
                if !self.visit(node) {
                    visit_mut::$visit(self, node);
                }
            }
        }

        /// Every harness in which `change` was made at one position of the entries; it returns none
        /// where it does not apply.
        pub(crate) fn $name(
            file: &File,
            kind: &'static str,
            change: &dyn Fn(&mut $node) -> bool,
        ) -> Vec<Mutant> {
            let mut places = Places {
                change,
                visited: 0,
                found: Vec::new(),
                put: None,
            };
            places.visit_file_mut(&mut file.clone());
            let put = |put: (usize, $node)| {
                let mut changed = file.clone();
                let never: &dyn Fn(&mut $node) -> bool = &|_| false;
                Places {
                    change: never,
                    visited: 0,
                    found: Vec::new(),
                    put: Some(put),
                }
                .visit_file_mut(&mut changed);
                Mutant {
                    kind,
                    text: prettyplease::unparse(&changed),
                }
            };
            thin(places.found).into_iter().map(put).collect()
        }
    };
}
places!(expressions, Expr, visit_expr_mut);
places!(blocks, Block, visit_block_mut);
places!(arms, Arm, visit_arm_mut);

/// Every harness in which one statement of the entries was changed; `change` returns its
/// replacement.
pub(crate) fn statements(
    file: &File,
    kind: &'static str,
    change: &dyn Fn(&Stmt) -> Option<Vec<Stmt>>,
) -> Vec<Mutant> {
    let places = 0..12;
    let at = |place: usize| {
        blocks(file, kind, &|block| {
            let Some(replaced) = block.stmts.get(place).and_then(change) else {
                return false;
            };
            block.stmts.splice(place..=place, replaced);
            true
        })
    };
    places.flat_map(at).collect()
}

/// Every harness in which one item was changed; `change` returns its replacement.
pub(crate) fn items(
    file: &File,
    kind: &'static str,
    change: &dyn Fn(&Item) -> Option<Vec<Item>>,
) -> Vec<Mutant> {
    let changed = (0..file.items.len()).filter_map(|position| {
        let mut changed = file.clone();
        let replaced = change(&changed.items[position])?;
        changed.items.splice(position..=position, replaced);
        Some(Mutant {
            kind,
            text: prettyplease::unparse(&changed),
        })
    });
    changed.collect()
}

/// Every harness in which one function among the entries was changed.
pub(crate) fn functions(
    file: &File,
    kind: &'static str,
    change: &dyn Fn(&mut ItemFn) -> bool,
) -> Vec<Mutant> {
    items(file, kind, &|item| match item {
        Item::Fn(function) if is_entry(function) => {
            let mut function = function.clone();
            change(&mut function).then(|| vec![Item::Fn(function)])
        }
        _ => None,
    })
}

/// Every harness in which one occurrence of `from` in the text became `to`.
pub(crate) fn occurrences(text: &str, kind: &'static str, from: &str, to: &str) -> Vec<Mutant> {
    let places = thin(text.match_indices(from).map(|(place, _)| place).collect());
    let replaced = places
        .into_iter()
        .map(|place| format!("{}{to}{}", &text[..place], &text[place + from.len()..]));
    replaced.map(|text| Mutant { kind, text }).collect()
}

/// As [`occurrences`], at the places where `from` is: not every base has every text.
pub(crate) fn replaced(text: &str, kind: &'static str, from: &str, to: &str) -> Vec<Mutant> {
    occurrences(text, kind, from, to)
        .into_iter()
        .filter(|mutant| syn::parse_file(&mutant.text).is_ok())
        .collect()
}

/// The name of the function that a call calls, when it is one word.
pub(crate) fn called(expression: &Expr) -> Option<String> {
    let Expr::Call(call) = expression else {
        return None;
    };
    let Expr::Path(path) = call.func.as_ref() else {
        return None;
    };
    path.path.get_ident().map(ToString::to_string)
}

/// The device in an entry's name, as a variant of `DeviceKind`.
pub(crate) fn kind_of(function: &ItemFn) -> Expr {
    let name = function.sig.ident.to_string();
    match ["cpu", "cuda", "rocm"]
        .into_iter()
        .find(|device| name.contains(device))
    {
        Some("cpu") => parse_quote!(DeviceKind::Cpu),
        Some("cuda") => parse_quote!(DeviceKind::Cuda),
        _ => parse_quote!(DeviceKind::Rocm),
    }
}

/// The source of a tree in one line.
pub(crate) fn one_line(tree: &impl ToTokens) -> String {
    tree.to_token_stream().to_string()
}
