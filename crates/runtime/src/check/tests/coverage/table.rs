//! The table of faults in docs/reference/proof.md, generated from what the tests require.

use super::{INAPPLICABLE, Inapplicable, Pair, detected, fs, pairs};
use std::path::Path;
use testgen_types::{Architecture, Check};

const BEGIN: &str = "<!-- checks: begin, written by UPDATE_DOCS=1 cargo test --workspace --lib table_of_faults -->\n";
const END: &str = "<!-- checks: end -->\n";

#[test]
fn the_table_of_faults_is_up_to_date() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/proof.md");
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let current = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&page, current).unwrap();
    } else {
        assert!(
            text == current,
            "docs/reference/proof.md is stale; update it with `UPDATE_DOCS=1 cargo test --workspace --lib table_of_faults`"
        );
    }
}

fn table() -> String {
    let pairs = pairs();
    let head = "| check | fault | red in |\n|---|---|---|\n".to_owned();
    let row = |table: String, check: &Check| {
        let first = pairs
            .iter()
            .rfind(|pair| pair.check == *check)
            .expect("some architecture has it");
        let description = detected(first.architecture, *check).description;
        table
            + &format!(
                "| `{check}` | {description} | {} |\n",
                red_in(&pairs, *check)
            )
    };
    let checks = || {
        Check::ALL
            .iter()
            .filter(|check| !check.compares_implementations())
    };
    let total = format!(
        "{} pairs of an architecture and one of its checks ({} checks, {} architectures); each check fails with the fault of its row:\n\n",
        pairs.len(),
        checks().count(),
        Architecture::ALL.len()
    );
    let never = |Inapplicable {
                     architecture,
                     check,
                     why,
                 }: &Inapplicable| format!("`{check}` of {architecture}: {why}");
    let never = INAPPLICABLE
        .iter()
        .map(never)
        .collect::<Vec<_>>()
        .join("; ");
    checks().fold(total + &head, row) + &format!("\nNever applicable, and not counted: {never}.\n")
}

/// The names of the architectures, or of the missing ones if those are fewer.
fn red_in(pairs: &[Pair], check: Check) -> String {
    let is_red = |architecture: &&Architecture| {
        pairs.contains(&Pair {
            architecture: **architecture,
            check,
        })
    };
    let names = |red: bool| {
        let named = Architecture::ALL
            .iter()
            .filter(|architecture| is_red(architecture) == red);
        named
            .map(|architecture| architecture.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    match Architecture::ALL.iter().filter(is_red).count() {
        all if all == Architecture::ALL.len() => format!("all {all}"),
        most if most > Architecture::ALL.len() / 2 => format!("{most}; not {}", names(false)),
        few => format!("{few}: {}", names(true)),
    }
}
