//! The search for cycles, on small crates.

use super::{cycles, describe, import::imports_of, line, place, tree::ModuleTree};
use std::path::Path;

/// The crate whose files are given as (path, source).
fn tree_of(files: &[(&str, &str)]) -> ModuleTree {
    let read = |file: &Path| {
        files
            .iter()
            .find(|(path, _)| file == Path::new(path))
            .map(|(_, source)| (*source).to_owned())
    };
    ModuleTree::parse(Path::new("src/lib.rs"), &read)
}

pub(super) fn cycles_of(files: &[(&str, &str)]) -> Vec<String> {
    let tree = tree_of(files);
    cycles(&tree)
        .iter()
        .map(|cycle| describe(&tree, cycle))
        .collect()
}

#[test]
fn two_modules_that_import_each_other_are_a_cycle() {
    let found = cycles_of(&[
        ("src/lib.rs", "mod a;\nmod b;"),
        ("src/a.rs", "use crate::b::B;\npub struct A(B);"),
        ("src/b.rs", "pub struct B;\nfn f(_: super::a::A) {}"),
    ]);
    assert_eq!(
        found,
        [
            "src/a.rs:1: crate::a uses crate::b::B of crate::b\nsrc/b.rs:2: crate::b uses super::a::A of crate::a"
        ]
    );
}

#[test]
fn the_shortest_cycle_is_reported_first() {
    let found = cycles_of(&[
        ("src/lib.rs", "mod a;\nmod b;\nmod c;"),
        ("src/a.rs", "use crate::b::B;\npub struct A(B);"),
        ("src/b.rs", "use crate::c::C;\npub struct B(C);"),
        ("src/c.rs", "use crate::{a::A, b::B};\npub struct C(A, B);"),
    ]);
    let lengths: Vec<_> = found.iter().map(|cycle| cycle.lines().count()).collect();
    assert_eq!(lengths, [2, 3], "{found:?}");
}

#[test]
fn one_direction_is_not_a_cycle() {
    let found = cycles_of(&[
        ("src/lib.rs", "mod a;\nmod b;\npub use a::A;"),
        (
            "src/a.rs",
            "use crate::b::{self, B};\nuse std::fmt;\npub struct A(B);\nfn f() { b::f() }",
        ),
        ("src/b.rs", "pub struct B;\npub fn f() {}"),
    ]);
    assert_eq!(found, [""; 0]);
}

#[test]
fn code_for_tests_does_not_count() {
    let found = cycles_of(&[
        ("src/lib.rs", "mod a;\nmod b;"),
        ("src/a.rs", "use crate::b::B;\npub struct A(B);"),
        (
            "src/b.rs",
            "#[cfg(test)] mod tests;\n#[cfg(test)] use crate::a::A;\npub struct B;\n\
             #[cfg(test)] mod more { use crate::a::A; }\n#[cfg(test)] fn f(_: A) {}",
        ),
    ]);
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_re_export_is_followed_to_the_definition() {
    let found = cycles_of(&[
        (
            "src/lib.rs",
            "mod a;\nmod b;\npub use a::*;\npub use b::B as Renamed;",
        ),
        ("src/a.rs", "use crate::Renamed;\npub struct A(Renamed);"),
        ("src/b.rs", "use crate::A;\npub struct B(A);"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn importing_everything_is_a_use() {
    let found = cycles_of(&[
        ("src/lib.rs", "mod a;\nmod b;"),
        ("src/a.rs", "use crate::b::*;\npub struct A;"),
        ("src/b.rs", "use crate::a::A;\npub trait B {}\nstruct C(A);"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_re_export_of_the_parent_alone_is_not_a_cycle() {
    let found = cycles_of(&[
        ("src/lib.rs", "mod a;"),
        ("src/a.rs", "mod b;\npub use b::B;\npub struct A;"),
        ("src/a/b.rs", "use super::A;\npub struct B(A);"),
    ]);
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_parent_that_uses_what_it_exports_is_a_cycle() {
    let found = cycles_of(&[
        ("src/lib.rs", "mod a;"),
        (
            "src/a.rs",
            "mod b;\npub use b::B;\npub struct A;\nfn f(_: B) {}",
        ),
        ("src/a/b.rs", "use super::A;\npub struct B(A);"),
    ]);
    assert_eq!(
        found,
        [
            "src/a.rs:4: crate::a uses B of crate::a::b\nsrc/a/b.rs:1: crate::a::b uses super::A of crate::a"
        ]
    );
}

#[test]
fn folders_whose_files_form_no_cycle_can_form_one() {
    let found = cycles_of(&[
        ("src/lib.rs", "mod a;\nmod b;"),
        ("src/a.rs", "pub mod x;\npub mod y;"),
        ("src/a/x.rs", "use crate::b::B;\npub struct X(B);"),
        ("src/a/y.rs", "pub struct Y;"),
        ("src/b.rs", "use crate::a::y::Y;\npub struct B(Y);"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_module_is_distinguished_from_a_function_of_the_same_name() {
    let found = cycles_of(&[
        ("src/lib.rs", "mod a;"),
        ("src/a.rs", "mod b;\nmod c;\npub fn b() { c::f() }"),
        ("src/a/b.rs", "pub fn g() {}"),
        (
            "src/a/c.rs",
            "use super::b;\npub fn f() { b::g(); super::b::g() }",
        ),
    ]);
    assert_eq!(found, [""; 0]);
}

#[test]
fn arguments_of_macros_and_attributes_count() {
    for user in [
        "fn g() { println!(\"{}\", crate::a::A) }",
        "struct S { #[serde(default = \"crate::a::A\")] field: u8 }",
    ] {
        let user = format!("{user} pub fn f() {{}}");
        let found = cycles_of(&[
            ("src/lib.rs", "mod a;\nmod b;"),
            ("src/a.rs", "use crate::b::f; pub const A: u8 = 1;"),
            ("src/b.rs", &user),
        ]);
        assert_eq!(found.len(), 1, "`{user}`: {found:?}");
    }
}

#[test]
fn imports_through_the_root_are_found() {
    let tree = tree_of(&[
        ("src/lib.rs", "mod a;\nmod b;\npub use a::{A, b};"),
        ("src/a.rs", "pub struct A;\npub fn b() {}"),
        (
            "src/b.rs",
            "use crate::{A, a, b::B};\nuse super::A as C;\nstruct B(crate::a::A, crate::A);",
        ),
    ]);
    let found: Vec<_> = imports_of(&tree)
        .through_root
        .iter()
        .map(|edge| line(&tree, edge))
        .collect();
    let expected = [1, 2, 3].map(|number| {
        let name = if number == 2 { "super::A" } else { "crate::A" };
        format!("src/b.rs:{number}: crate::b uses {name} of crate")
    });
    assert_eq!(found, expected);
}

#[test]
fn items_that_macros_define_are_found() {
    for definition in [
        "macro_rules! names { ($($name:ident),+) => { pub enum A { $($name),+ } } }\nnames! { X, Y }",
        "crate::closed_enum! { /// Documented.\n A: \"a\" { X = \"x\" } }",
        "macro_rules! table { ($($name:ident)+) => { closed_enum! { A: \"a\" { $($name),+ } } } }\ntable! { X Y }",
        "thread_local! { pub static A: Cell<u8> = const { Cell::new(0) } }",
    ] {
        let found = cycles_of(&[
            ("src/lib.rs", "mod a;\nmod b;"),
            ("src/a.rs", &format!("use crate::b::B;\n{definition}")),
            ("src/b.rs", "use crate::a::A;\npub struct B(A);"),
        ]);
        assert_eq!(found.len(), 1, "`{definition}`: {found:?}");
    }
}

#[test]
fn a_path_that_a_macro_completes_uses_its_module() {
    let found = cycles_of(&[
        ("src/lib.rs", "mod a;\nmod b;"),
        (
            "src/a.rs",
            "use crate::b;\npub struct A;\nmacro_rules! all { ($($name:ident),+) => { f(&[$(b::$name),+]) } }",
        ),
        ("src/b.rs", "use crate::a::A;\npub fn b(_: A) {}"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_use_without_a_definition_is_reported() {
    let tree = tree_of(&[
        ("src/lib.rs", "mod a;\nmod b;"),
        ("src/a.rs", "pub struct A;\nuse std::fmt;"),
        (
            "src/b.rs",
            "use crate::a::{A, Absent};\nuse super::a;\nfn f(_: a::Other, _: A, _: std::fmt::Error) {}",
        ),
    ]);
    let found: Vec<_> = imports_of(&tree)
        .unresolved
        .iter()
        .map(|edge| place(&tree, edge))
        .collect();
    let expected = [
        "src/b.rs:1: crate::b uses crate::a::Absent",
        "src/b.rs:3: crate::b uses a::Other",
    ];
    assert_eq!(found, expected);
}
