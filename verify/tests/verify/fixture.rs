//! verify/fixtures: every rule has files that break it and files that come close and do not.
//!
//! A fixture is the part of a harness that matters. What it does not define is taken from the good
//! harness of [`super::good_harness::bert`]: its items take the place of those of the same name,
//! its imports that of all imports, its header that of the header. `..` in its list of skips is
//! replaced by the good list. `// remove: NAME` removes an item, `// alone` verifies without the
//! spec, `// whole` takes the file as it is.

use super::good_harness;
use std::{collections::BTreeSet, fs, path::PathBuf};
use syn::{Expr, File, Item, Member, Token, punctuated::Punctuated};
use testgen_verify::{Finding, HarnessSource, RuleId, rules, verify_harness};

/// The folder of fixtures.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// One fixture.
struct Fixture {
    name: String,
    text: String,
}

impl Fixture {
    fn directive(&self, name: &str) -> impl Iterator<Item = &str> {
        let prefix = format!("// {name}");
        self.text.lines().filter_map(move |line| {
            line.strip_prefix(&prefix)
                .map(|rest| rest.trim_start_matches(": "))
        })
    }

    fn findings(&self) -> Vec<Finding> {
        let expectation = good_harness::bert();
        let alone = self.directive("alone").next().is_some();
        let text = if self.directive("whole").next().is_some() {
            self.text.clone()
        } else {
            self.spliced()
        };
        verify_harness(
            &HarnessSource {
                path: &self.name,
                text: &text,
            },
            (!alone).then_some(&expectation),
        )
    }

    /// The good harness with this fixture's items in the place of its own.
    fn spliced(&self) -> String {
        let mut file = syn::parse_file(&good_harness::harness(&good_harness::bert()))
            .expect("the base parses");
        let part =
            syn::parse_file(&self.text).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        if !part.attrs.is_empty() {
            file.attrs = part.attrs;
        }
        for name in self.directive("remove") {
            file.items
                .retain(|item| item_name(item).as_deref() != Some(name));
        }
        if part.items.iter().any(|item| matches!(item, Item::Use(_))) {
            file.items.retain(|item| !matches!(item, Item::Use(_)));
        }
        let good = list(&mut file);
        part.items
            .into_iter()
            .for_each(|item| splice(&mut file, item));
        let spread = |element: Expr| {
            if matches!(element, Expr::Range(_)) {
                good.clone()
            } else {
                vec![element]
            }
        };
        if let Some(listed) = elements(&mut file) {
            *listed = std::mem::take(listed)
                .into_iter()
                .flat_map(spread)
                .collect();
        }
        prettyplease::unparse(&file)
    }
}

/// The skips of `HARNESS`; empty when it is not written as it should be.
fn list(file: &mut File) -> Vec<Expr> {
    elements(file)
        .map(|elements| elements.iter().cloned().collect())
        .unwrap_or_default()
}

fn elements(file: &mut File) -> Option<&mut Punctuated<Expr, Token![,]>> {
    let harness = file.items.iter_mut().find_map(|item| match item {
        Item::Static(item) if item.ident == "HARNESS" => Some(item),
        _ => None,
    });
    let Expr::Struct(literal) = harness?.expr.as_mut() else {
        return None;
    };
    let skipped = literal
        .fields
        .iter_mut()
        .find(|field| matches!(&field.member, Member::Named(name) if name == "skipped"));
    array(&mut skipped?.expr)
}

fn array(expression: &mut Expr) -> Option<&mut Punctuated<Expr, Token![,]>> {
    match expression {
        Expr::Paren(inner) => array(&mut inner.expr),
        Expr::Reference(inner) => array(&mut inner.expr),
        Expr::Array(array) => Some(&mut array.elems),
        _ => None,
    }
}

fn splice(file: &mut File, item: Item) {
    // The first of a name takes the base's place; a second one is added.
    let replaced = item_name(&item).and_then(|name| {
        file.items
            .iter()
            .position(|old| item_name(old).as_ref() == Some(&name) && !is_new(old))
    });
    match replaced {
        Some(position) => file.items[position] = mark(item),
        None => file.items.push(mark(item)),
    }
}

/// Items of the fixture carry this line of documentation once they are in.
const NEW: &str = " From the fixture.";

fn mark(mut item: Item) -> Item {
    let attribute: syn::Attribute = syn::parse_quote!(#[doc = #NEW]);
    match &mut item {
        Item::Fn(item) => item.attrs.push(attribute),
        Item::Static(item) => item.attrs.push(attribute),
        _ => {}
    }
    item
}

fn is_new(item: &Item) -> bool {
    let attributes = match item {
        Item::Fn(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        _ => return false,
    };
    attributes.contains(&syn::parse_quote!(#[doc = #NEW]))
}

fn item_name(item: &Item) -> Option<String> {
    match item {
        Item::Fn(item) => Some(item.sig.ident.to_string()),
        Item::Static(item) => Some(item.ident.to_string()),
        _ => None,
    }
}

/// The fixtures of a rule whose names begin with `prefix`.
fn fixtures(rule: &str, prefix: &str) -> Vec<Fixture> {
    let Ok(entries) = fs::read_dir(folder().join(rule)) else {
        return Vec::new();
    };
    let names = entries.map(|entry| {
        entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("a plain name")
    });
    let mut names: Vec<String> = names
        .filter(|name| name.starts_with(prefix) && name.ends_with(".rs"))
        .collect();
    names.sort();
    let read = |name: String| {
        let text = fs::read_to_string(folder().join(rule).join(&name)).expect("a fixture");
        Fixture {
            name: format!("{rule}/{name}"),
            text,
        }
    };
    names.into_iter().map(read).collect()
}

#[test]
fn every_rule_has_good_and_bad_fixtures() {
    for rule in rules() {
        assert!(
            !fixtures(rule.name, "ok").is_empty(),
            "no verify/fixtures/{}/ok*.rs",
            rule.name
        );
        assert!(
            !fixtures(rule.name, "bad").is_empty(),
            "no verify/fixtures/{}/bad*.rs",
            rule.name
        );
    }
}

#[test]
fn no_fixture_belongs_to_no_rule() {
    for entry in fs::read_dir(folder()).expect("the folder") {
        let name = entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("a plain name");
        assert!(
            testgen_verify::explain(&name).is_some(),
            "verify/fixtures/{name} is the folder of no rule"
        );
        let all = fixtures(&name, "").len();
        assert_eq!(
            all,
            fixtures(&name, "ok").len() + fixtures(&name, "bad").len(),
            "verify/fixtures/{name}: odd names"
        );
    }
}

#[test]
fn good_fixtures_raise_nothing() {
    let good = rules().iter().flat_map(|rule| fixtures(rule.name, "ok"));
    let raised: Vec<Finding> = good.flat_map(|fixture| fixture.findings()).collect();
    assert!(raised.is_empty(), "{raised:#?}");
}

#[test]
fn bad_fixtures_raise_exactly_their_rule() {
    let mut wrong = Vec::new();
    for rule in rules() {
        for fixture in fixtures(rule.name, "bad") {
            let findings = fixture.findings();
            let raised: BTreeSet<RuleId> = findings.iter().map(|finding| finding.rule).collect();
            if raised != BTreeSet::from([rule.id]) {
                wrong.push((fixture.name, findings));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn findings_of_fixtures() {
    let mut lines = String::new();
    for rule in rules() {
        for fixture in fixtures(rule.name, "bad") {
            for finding in fixture.findings() {
                let Finding {
                    path,
                    line,
                    column,
                    message,
                    help,
                    ..
                } = finding;
                lines += &format!("{path}:{line}:{column}: {message}\n    {help}\n");
            }
        }
    }
    insta::assert_snapshot!(lines);
}
