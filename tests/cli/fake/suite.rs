//! A fake runtime that generated suites compile against, so that `testgen run` can be tested
//! without burn.

use crate::project::{Outcome, Project};
use std::{env, fmt::Write, fs, path::PathBuf, process::Command};
use testgen_types::{Architecture, Check, DeviceKind, ModelType, Operator, Precision, Task};

const MANIFEST: &str = "\
[package]
name = \"testgen-runtime\"
version = \"0.1.0\"
edition = \"2024\"

[features]
default = [\"cuda\", \"rocm\"]
cuda = []
rocm = []
all_kernels = []
executor = []
image_files = []
";

/// `testgen run` in `project`, with the fake runtime and `rules` for the results of its tests.
pub(crate) fn command(project: &Project, rules: &str, arguments: &[&str]) -> Command {
    command_of("run", project, rules, arguments)
}

/// The result of `testgen kernels`, as that of [`run`].
pub(crate) fn kernels(project: &Project, rules: &str, arguments: &[&str]) -> Outcome {
    project.finish(&mut command_of("kernels", project, rules, arguments))
}

/// The result of `testgen bench`, as that of [`run`].
pub(crate) fn bench(project: &Project, rules: &str, arguments: &[&str]) -> Outcome {
    project.finish(&mut command_of("bench", project, rules, arguments))
}

fn command_of(name: &str, project: &Project, rules: &str, arguments: &[&str]) -> Command {
    let rules = project.write("rules", rules);
    let mut command = project.command();
    command
        .args([name, "--runtime"])
        .arg(runtime())
        .args(arguments)
        .env("FAKE_RULES", rules);
    // Cargo and rustup find their toolchain below the developer's home, not below the project's.
    for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
        env::var_os(name).map(|value| command.env(name, value));
    }
    command
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_INCREMENTAL", "0");
    command
}

pub(crate) fn run(project: &Project, rules: &str, arguments: &[&str]) -> Outcome {
    project.finish(&mut command(project, rules, arguments))
}

/// The fake runtime's directory, the same for all tests, written if it is not up to date.
fn runtime() -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fake-runtime");
    fs::create_dir_all(directory.join("src")).expect("the directory can be made");
    let files = [
        ("Cargo.toml", manifest()),
        ("src/lib.rs", include_str!("runtime.rs").to_owned()),
        ("src/suite.rs", include_str!("runtime_suite.rs").to_owned()),
        ("src/words.rs", words()),
    ];
    for (name, text) in files {
        write_once(&directory.join(name), &text);
    }
    directory
}

/// A suite enables the features of its architectures.
fn manifest() -> String {
    let features: String = Architecture::ALL
        .iter()
        .map(|architecture| format!("{architecture} = []\n"))
        .collect();
    format!("{MANIFEST}{features}\n[workspace]\n")
}

/// Tests run at the same time, so a file must appear completely or not at all.
fn write_once(path: &std::path::Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|current| current == text) {
        return;
    }
    let directory = path.parent().expect("a file is in a directory");
    let mut file =
        tempfile::NamedTempFile::new_in(directory).expect("the directory can be written");
    std::io::Write::write_all(&mut file, text.as_bytes()).expect("the file can be written");
    file.persist(path).expect("the file can be renamed");
}

/// The closed words of the contract, without its dependencies.
fn words() -> String {
    let mut text = String::from("//! The closed words.\n\n");
    macro_rules! push {
        ($($word:ident),+) => {
            $(push_enum(&mut text, stringify!($word), $word::ALL.iter().map(|word| (word.variant_name(), word.as_str())));)+
        };
    }
    push!(
        Architecture,
        Check,
        DeviceKind,
        ModelType,
        Operator,
        Precision,
        Task
    );
    let per_precision = Check::ALL.iter().filter(|check| check.per_precision());
    let numeric = Check::ALL.iter().filter(|check| check.is_numeric());
    push_predicate(&mut text, "per_precision", per_precision);
    push_predicate(&mut text, "is_numeric", numeric);
    push_applicability(&mut text);
    text
}

fn push_enum(
    text: &mut String,
    name: &str,
    words: impl Iterator<Item = (&'static str, &'static str)>,
) {
    let words: Vec<_> = words.collect();
    let variants: String = words
        .iter()
        .map(|(variant, _)| format!("{variant}, "))
        .collect();
    let arms: String = words
        .iter()
        .map(|(variant, word)| format!("Self::{variant} => {word:?}, "))
        .collect();
    writeln!(
        text,
        "#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]\npub enum {name} {{ {variants} }}\nimpl {name} {{ pub const fn \
         as_str(self) -> &'static str {{ match self {{ {arms} }} }} }}"
    )
    .expect("a String can always be written");
}

/// The checks of each architecture, device and precision, which `required_checks` of the fake
/// runtime needs.
fn push_applicability(text: &mut String) {
    let architectures = Architecture::ALL.iter().flat_map(|architecture| {
        // The fake engines have one implementation of everything, as the native one has.
        let has =
            |check: &&Check| check.applies_to(*architecture) && !check.compares_implementations();
        let checks = Check::ALL.iter().filter(has);
        checks.map(|check| {
            format!(
                "(Architecture::{}, Check::{})",
                architecture.variant_name(),
                check.variant_name()
            )
        })
    });
    let devices = DeviceKind::ALL.iter().flat_map(|device| {
        let checks = Check::ALL.iter().filter(|check| check.applies_on(*device));
        checks.map(|check| {
            format!(
                "(DeviceKind::{}, Check::{})",
                device.variant_name(),
                check.variant_name()
            )
        })
    });
    let (architectures, devices): (Vec<String>, Vec<String>) =
        (architectures.collect(), devices.collect());
    let all: String = Check::ALL
        .iter()
        .map(|check| format!("Self::{}, ", check.variant_name()))
        .collect();
    writeln!(
        text,
        "impl Check {{ pub const ALL: &'static [Self] = &[{all}]; }}\npub const OF_ARCHITECTURE: &[(Architecture, Check)] = \
         &[{}];\npub const ON_DEVICE: &[(DeviceKind, Check)] = &[{}];",
        architectures.join(", "),
        devices.join(", ")
    )
    .expect("a String can always be written");
}

fn push_predicate<'a>(text: &mut String, name: &str, checks: impl Iterator<Item = &'a Check>) {
    let patterns: Vec<String> = checks
        .map(|check| format!("Self::{}", check.variant_name()))
        .collect();
    let patterns = patterns.join(" | ");
    writeln!(
        text,
        "impl Check {{ pub const fn {name}(self) -> bool {{ matches!(self, {patterns}) }} }}"
    )
    .expect("a String can always be written");
}
