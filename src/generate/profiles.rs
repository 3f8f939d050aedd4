//! The build profiles of a suite outside this repository: the profiles of this repository's
//! workspace, read from its Cargo.toml, so that a suite is built the same everywhere.

use toml::{Table, Value};

/// The manifest of this workspace.
const WORKSPACE: &str = include_str!("../../Cargo.toml");
/// The profiles that `testgen run` builds suites with.
const PROFILES: [&str; 2] = ["dev", "release"];
/// Crates that no suite depends on.
// Cargo warns about a setting for a crate that is not there.
const NOT_IN_SUITES: [&str; 3] = ["corosensei", "hip-sim", "testgen"];

/// The tables `[profile.*]` of a suite's Cargo.toml.
pub(super) fn profiles() -> String {
    let manifest: Table = WORKSPACE
        .parse()
        .expect("cargo has read the manifest of this workspace");
    let mut text = String::new();
    for name in PROFILES {
        let Some(Value::Table(mut profile)) = manifest["profile"].get(name).cloned() else {
            continue;
        };
        // Written separately, because `to_string` writes `[package.NAME]`, without the profile in
        // front.
        let packages = profile.remove("package");
        push(&mut text, &format!("profile.{name}"), &profile);
        for (package, settings) in packages.iter().filter_map(Value::as_table).flatten() {
            let settings = settings
                .as_table()
                .filter(|_| !NOT_IN_SUITES.contains(&package.as_str()));
            // Only `*` is not a bare key.
            let key = if package == "*" { "\"*\"" } else { package };
            settings.into_iter().for_each(|settings| {
                push(
                    &mut text,
                    &format!("profile.{name}.package.{key}"),
                    settings,
                )
            });
        }
    }
    text
}

fn push(text: &mut String, name: &str, settings: &Table) {
    let settings = toml::to_string(settings).expect("a table that was read can be written");
    text.push_str(&format!("[{name}]\n{settings}"));
}
