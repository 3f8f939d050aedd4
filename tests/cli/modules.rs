//! The modules of a crate do not import each other in a cycle.
//!
//! A module and the modules below it form a folder. Within a folder, neither the modules nor the folder's own code and a
//! module may use each other's items: a type that two modules need is defined in a third one. Tests are exempt.
//!
//! `MODULES=crates/nn/src cargo test -p testgen --test cli modules` lists the cycles of one crate, pending or not.

mod cycle;
mod import;
mod samples;
mod scope;
mod tree;

use cycle::Cycle;
use std::{
    env, fs,
    path::{Path, PathBuf},
};
use tree::ModuleTree;

/// Crates that still have cycles; the test fails when one of them has none, so the list can only shrink.
const PENDING: &[&str] = &["crates/models/src"];

#[test]
fn the_modules_of_a_crate_form_no_cycle() {
    let only = env::var("MODULES").ok();
    let mut found = Vec::new();
    let mut clean = Vec::new();
    for directory in source_directories() {
        let name = directory.strip_prefix(repository()).expect("in the repository").display().to_string();
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        let cycles = cycles_below(&directory);
        let pending = PENDING.contains(&name.as_str()) && only.is_none();
        clean.extend((pending && cycles.is_empty()).then(|| name.clone()));
        found.extend(cycles.into_iter().filter(|_| !pending));
    }
    assert!(found.is_empty(), "{} cycles:\n\n{}", found.len(), found.join("\n\n"));
    assert!(clean.is_empty(), "remove from `PENDING` in tests/cli/modules.rs, they have no cycle: {clean:?}");
}

fn cycles_below(directory: &Path) -> Vec<String> {
    let read = |file: &Path| fs::read_to_string(file).ok();
    let roots = roots(directory);
    let trees = roots.iter().map(|root| ModuleTree::parse(root, &read));
    trees.flat_map(|tree| cycles(&tree).iter().map(|cycle| describe(&tree, cycle)).collect::<Vec<_>>()).collect()
}

fn cycles(tree: &ModuleTree) -> Vec<Cycle> {
    cycle::cycles(tree, &import::edges(tree))
}

/// One line for each use: `src/a.rs:3: crate::a uses Name of crate::b`.
fn describe(tree: &ModuleTree, cycle: &Cycle) -> String {
    let lines = cycle.edges.iter().map(|edge| {
        let file = &tree.modules[edge.from].file;
        let file = file.strip_prefix(repository()).unwrap_or(file).display();
        format!("{file}:{}: {} uses {} of {}", edge.line, tree.name(edge.from), edge.name, tree.name(edge.to))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// `src` of every crate of the workspace.
fn source_directories() -> Vec<PathBuf> {
    let nested = ["crates", "crates/hip-sim"].iter().flat_map(|parent| directories(&repository().join(parent)));
    let all = nested.chain(["", "verify"].map(|name| repository().join(name))).map(|path| path.join("src"));
    let found: Vec<_> = all.filter(|path| path.join("lib.rs").exists() || path.join("main.rs").exists()).collect();
    assert!(found.len() >= 12, "only {found:?}");
    found
}

/// Every file of `src` that cargo compiles as a crate.
fn roots(directory: &Path) -> Vec<PathBuf> {
    let binaries =
        fs::read_dir(directory.join("bin")).into_iter().flatten().map(|entry| entry.expect("readable").path());
    let named = ["lib.rs", "main.rs"].map(|name| directory.join(name));
    named.into_iter().filter(|path| path.exists()).chain(binaries).collect()
}

fn directories(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).expect("readable").map(|entry| entry.expect("readable").path());
    let mut found: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
