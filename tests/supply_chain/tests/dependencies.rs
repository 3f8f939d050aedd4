//! The dependencies of the workspace against a copy of the RustSec database, and against the
//! licences and sources of deny.toml.

use rustsec::{Database, Lockfile, database::Query};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn lockfile() -> Lockfile {
    Lockfile::load(root().join("Cargo.lock")).expect("Cargo.lock is valid")
}

fn deny() -> toml::Table {
    fs::read_to_string(root().join("deny.toml")).expect("it can be read").parse().expect("it is TOML")
}

/// The advisories that deny.toml ignores, each with its reason.
fn ignored() -> BTreeSet<String> {
    let deny = deny();
    let entries = deny.get("advisories").and_then(|table| table.get("ignore")?.as_array()).cloned().unwrap_or_default();
    let id = |entry: &toml::Value| {
        assert!(entry["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{entry} has no reason");
        entry["id"].as_str().expect("an ignored advisory has an id").to_owned()
    };
    entries.iter().map(id).collect()
}

/// Vulnerable, unsound and unmaintained versions, without advisories that were withdrawn.
fn affected(database: &Database, lockfile: &Lockfile) -> BTreeSet<String> {
    let found = database.query_vulnerabilities(lockfile, &Query::new());
    let valid = found.into_iter().filter(|found| found.advisory.withdrawn.is_none());
    valid.map(|found| format!("{} {} {}", found.advisory.id, found.package.name, found.package.version)).collect()
}

#[test]
fn no_dependency_has_an_advisory() {
    let database =
        Database::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("advisories")).expect("the copy is valid");
    let affected = affected(&database, &lockfile());
    let id = |line: &String| line.split(' ').next().unwrap_or_default().to_owned();
    let unexpected: Vec<&String> = affected.iter().filter(|line| !ignored().contains(&id(line))).collect();
    assert!(
        unexpected.is_empty(),
        "update these packages, or ignore the advisory in deny.toml with a reason: {unexpected:#?}"
    );
    let found: BTreeSet<String> = affected.iter().map(id).collect();
    let unused: Vec<String> = ignored().difference(&found).cloned().collect();
    assert!(unused.is_empty(), "deny.toml ignores advisories that affect nothing: {unused:?}");
}

/// A version that an advisory of the copy names is found, or the test above would pass whatever is
/// in Cargo.lock.
#[test]
fn a_vulnerable_version_is_found() {
    let database =
        Database::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("advisories")).expect("the copy is valid");
    let lockfile: Lockfile = "version = 4\n\n[[package]]\nname = \"smallvec\"\nversion = \"1.6.0\"\nsource = \
        \"registry+https://github.com/rust-lang/crates.io-index\"\n"
        .parse()
        .expect("it is a Cargo.lock");
    assert_eq!(affected(&database, &lockfile), BTreeSet::from(["RUSTSEC-2021-0003 smallvec 1.6.0".to_owned()]));
}

/// A package that came afterwards may have advisories that the copy lacks.
#[test]
fn the_copy_was_made_for_these_packages() {
    let covered =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("advisories/packages")).expect("it can be read");
    let covered: BTreeSet<&str> = covered.lines().collect();
    let lockfile = lockfile();
    let missing: Vec<&str> = lockfile
        .packages
        .iter()
        .filter(|package| package.source.is_some())
        .map(|package| package.name.as_str())
        .filter(|name| !covered.contains(name))
        .collect();
    assert!(missing.is_empty(), "run tests/supply_chain/update.py: the copy does not cover {missing:?}");
}

#[test]
fn every_package_is_from_the_registry() {
    for package in lockfile().packages {
        assert!(
            package.source.as_ref().is_none_or(|source| source.is_default_registry()),
            "{}: {:?}",
            package.name,
            package.source
        );
    }
}

#[test]
fn every_licence_is_permitted() {
    let deny = deny();
    let allowed: Vec<spdx::Licensee> = deny["licenses"]["allow"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|name| spdx::Licensee::parse(name.as_str().expect("a text")).expect("an SPDX expression"))
        .collect();
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--filter-platform",
            "x86_64-unknown-linux-gnu",
            "--manifest-path",
        ])
        .arg(root().join("Cargo.toml"))
        .output()
        .expect("cargo runs");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    assert!(packages.len() > 100, "{} packages", packages.len());
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        let text = package["license"].as_str().unwrap_or_else(|| panic!("{} names no licence", package["name"]));
        let expression = spdx::Expression::parse_mode(text, spdx::ParseMode::LAX)
            .unwrap_or_else(|error| panic!("{}: {error}", package["name"]));
        let permitted = expression.evaluate(|required| allowed.iter().any(|licensee| licensee.satisfies(required)));
        assert!(permitted, "{} is under `{text}`, which deny.toml does not permit", package["name"]);
    }
}
