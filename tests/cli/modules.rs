//! The modules of a crate do not import each other in a cycle.
//!
//! A module and the modules below it form a folder. Within a folder, neither the modules nor the
//! folder's own code and a module may use each other's items: a type that two modules need is
//! defined in a third one. What a crate exports under a name of its root is imported from the
//! module that defines it. Every use of the crate's own items is resolved, also of those that
//! macros define: a use that is ignored could hide a cycle. Tests are exempt.

mod cycle;
mod former_cycle;
mod import;
mod samples;
mod scope;
mod tree;
mod type_names;

use cycle::Cycle;
use import::{Edge, imports_of};
use std::{
    fs,
    path::{Path, PathBuf},
};
use tree::ModuleTree;

#[test]
fn the_modules_of_a_crate_form_no_cycle() {
    let mut found = Vec::new();
    for tree in source_directories()
        .iter()
        .flat_map(|directory| trees(directory))
    {
        found.extend(cycles(&tree).iter().map(|cycle| describe(&tree, cycle)));
    }
    assert!(
        found.is_empty(),
        "{} cycles:\n\n{}",
        found.len(),
        found.join("\n\n")
    );
}

#[test]
fn items_are_imported_from_the_module_that_defines_them() {
    let mut found = Vec::new();
    for tree in source_directories()
        .iter()
        .flat_map(|directory| trees(directory))
    {
        found.extend(
            imports_of(&tree)
                .through_root
                .iter()
                .map(|edge| line(&tree, edge)),
        );
    }
    assert!(
        found.is_empty(),
        "{} imports through the root of their crate:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn every_use_within_a_crate_is_resolved() {
    let mut found = Vec::new();
    for tree in source_directories()
        .iter()
        .flat_map(|directory| trees(directory))
    {
        found.extend(
            imports_of(&tree)
                .unresolved
                .iter()
                .map(|edge| place(&tree, edge)),
        );
    }
    assert!(
        found.is_empty(),
        "{} uses whose definition is not found:\n{}",
        found.len(),
        found.join("\n")
    );
}

fn trees(directory: &Path) -> Vec<ModuleTree> {
    let read = |file: &Path| fs::read_to_string(file).ok();
    roots(directory)
        .iter()
        .map(|root| ModuleTree::parse(root, &read))
        .collect()
}

fn cycles(tree: &ModuleTree) -> Vec<Cycle> {
    cycle::cycles(tree, &imports_of(tree).edges)
}

/// One line for each use.
fn describe(tree: &ModuleTree, cycle: &Cycle) -> String {
    cycle
        .edges
        .iter()
        .map(|edge| line(tree, edge))
        .collect::<Vec<_>>()
        .join("\n")
}

/// `src/a.rs:3: crate::a uses Name of crate::b`.
fn line(tree: &ModuleTree, edge: &Edge) -> String {
    format!("{} of {}", place(tree, edge), tree.name(edge.to))
}

/// `src/a.rs:3: crate::a uses Name`.
fn place(tree: &ModuleTree, edge: &Edge) -> String {
    let file = &tree.modules[edge.from].file;
    let file = file.strip_prefix(repository()).unwrap_or(file).display();
    format!(
        "{file}:{}: {} uses {}",
        edge.line,
        tree.name(edge.from),
        edge.name
    )
}

/// `src` of every crate of the workspace.
fn source_directories() -> Vec<PathBuf> {
    let nested = ["crates", "crates/hip-sim"]
        .iter()
        .flat_map(|parent| directories(&repository().join(parent)));
    let all = nested
        .chain(["", "python", "verify"].map(|name| repository().join(name)))
        .map(|path| path.join("src"));
    let found: Vec<_> = all
        .filter(|path| path.join("lib.rs").exists() || path.join("main.rs").exists())
        .collect();
    assert!(found.len() >= 12, "only {found:?}");
    found
}

/// Every file of `src` that cargo compiles as a crate.
fn roots(directory: &Path) -> Vec<PathBuf> {
    let binaries = fs::read_dir(directory.join("bin"))
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("readable").path());
    let named = ["lib.rs", "main.rs"].map(|name| directory.join(name));
    named
        .into_iter()
        .filter(|path| path.exists())
        .chain(binaries)
        .collect()
}

fn directories(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent)
        .expect("readable")
        .map(|entry| entry.expect("readable").path());
    let mut found: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
