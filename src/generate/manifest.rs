//! The suite's own manifest: its name, and whether it is a member of a workspace around it.

use glob::Pattern;
use std::{fs, path::Path};

/// The package's name, from the directory: letters, digits, `_` and `-`, and never the name of a crate it links.
pub(super) fn package_name(out: &Path) -> String {
    let directory = out.file_name().unwrap_or_default().to_string_lossy();
    let mut name: String = directory
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '-' })
        .take(64)
        .collect();
    name = name.trim_matches(['-', '_']).to_owned();
    const TAKEN: &[&str] = &[
        "",
        "alloc",
        "build",
        "core",
        "deps",
        "examples",
        "incremental",
        "proc_macro",
        "std",
        "test",
        "testgen-runtime",
    ];
    let is_taken = TAKEN.contains(&name.replace("testgen_", "testgen-").as_str());
    if is_taken || crate::spec::is_keyword(&name.replace('-', "_")) || name.starts_with(|c: char| c.is_ascii_digit()) {
        name = format!("suite-{name}").trim_end_matches('-').to_owned();
    }
    name
}

/// Whether the nearest workspace around the directory lists it as a member.
pub(super) fn is_member(out: &Path) -> bool {
    for directory in out.ancestors().skip(1) {
        let Ok(text) = fs::read_to_string(directory.join("Cargo.toml")) else { continue };
        let Ok(manifest) = text.parse::<toml::Table>() else { continue };
        let Some(workspace) = manifest.get("workspace") else { continue };
        let members = workspace.get("members").and_then(|members| members.as_array());
        let relative = out.strip_prefix(directory).unwrap_or(out);
        return members.into_iter().flatten().filter_map(|member| member.as_str()).any(|member| {
            Pattern::new(member.trim_start_matches("./")).is_ok_and(|pattern| pattern.matches_path(relative))
        });
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_names_are_good_for_cargo() {
        let cases = [
            ("generated", "generated"),
            ("My Suite", "my-suite"),
            ("test", "suite-test"),
            ("3", "suite-3"),
            ("é", "suite"),
            ("testgen-runtime", "suite-testgen-runtime"),
            ("match", "suite-match"),
        ];
        for (directory, name) in cases {
            assert_eq!(package_name(&Path::new("/tmp").join(directory)), name);
        }
    }
}
