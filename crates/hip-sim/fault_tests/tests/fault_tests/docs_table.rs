//! The table of faults in docs/reference/proof.md, which is generated from the cases.

use crate::faults::{CASES, FaultCase};
use hip_sim_fault_tests::InstallationDefect;
use std::path::{Path, PathBuf};

const BEGIN: &str =
    "<!-- faults: begin, written by UPDATE_DOCS=1 cargo test -p hip-sim-fault-tests table -->\n";
const END: &str = "<!-- faults: end -->\n";
/// The check of nearly all faults, which the page names before the table.
const USUAL_CHECK: &str = "output_golden_f32";

/// Compares the table with the cases, or writes it when `UPDATE_DOCS` is set.
pub(crate) fn check() {
    let page = page();
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let current = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&page, current).unwrap();
    } else {
        assert_eq!(
            text, current,
            "update it with `UPDATE_DOCS=1 cargo test -p hip-sim-fault-tests table`"
        );
    }
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reference/proof.md")
}

fn table() -> String {
    let head = "| fault | how | reason in the report |\n|---|---|---|\n".to_owned();
    CASES.iter().fold(head, |table, case| {
        table + &format!("| {} | {} | {} |\n", fault(case), how(case), case.reason)
    })
}

/// The name of a fault, with its check unless that is the usual one.
fn fault(case: &FaultCase) -> String {
    match case.check {
        USUAL_CHECK => case.name.to_owned(),
        check => format!("{} (`{check}`)", case.name),
    }
}

/// The defects and variables of a fault.
fn how(case: &FaultCase) -> String {
    let corruptions = case.corruptions.iter().map(|corruption| match corruption {
        InstallationDefect::Missing(file) => format!("no `{file}`"),
        InstallationDefect::Truncated(file) => format!("`{file}` truncated"),
        InstallationDefect::Lacks { library, function } => {
            format!("`{library}` without `{function}`")
        }
        InstallationDefect::Hipconfig(body) => format!("`hipconfig` is `{body}`"),
    });
    // The name of the check ends with the engine.
    let variables = case
        .variables
        .iter()
        .filter(|(name, _)| *name != "TESTGEN_ENGINES");
    let variables = variables.map(|(name, value)| format!("`{name}={value}`"));
    corruptions.chain(variables).collect::<Vec<_>>().join(", ")
}
