//! The table of docs/proof.md, which is made of the faults: what stands there is what the test demands.

use super::{NEVER, fault, fs, pairs};
use std::path::Path;
use testgen_contract::{Architecture, Check};

const BEGIN: &str = "<!-- checks: begin, written by UPDATE_DOCS=1 cargo test --workspace --lib table_of_faults -->\n";
const END: &str = "<!-- checks: end -->\n";

#[test]
fn the_table_of_faults_is_that_of_the_page() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/proof.md");
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let current = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&page, current).unwrap();
    } else {
        assert!(
            text == current,
            "stale; write it anew with `UPDATE_DOCS=1 cargo test --workspace --lib table_of_faults`"
        );
    }
}

fn table() -> String {
    let pairs = pairs();
    let head = "| check | fault | red in |\n|---|---|---|\n".to_owned();
    let row = |table: String, check: &Check| {
        table + &format!("| `{check}` | {} | {} |\n", fault(*check).1, red_in(&pairs, *check))
    };
    let total = format!(
        "{} pairs of an architecture and one of its checks ({} checks, {} architectures), each turned red by the fault of its row:\n\n",
        pairs.len(),
        Check::ALL.len(),
        Architecture::ALL.len()
    );
    let never = NEVER.iter().map(|(of, check, why)| format!("`{check}` of {of}: {why}")).collect::<Vec<_>>().join("; ");
    Check::ALL.iter().fold(total + &head, row) + &format!("\nNever made, and not counted: {never}.\n")
}

/// The architectures by name where they are few, else those that are missing.
fn red_in(pairs: &[(Architecture, Check)], check: Check) -> String {
    let is_red = |architecture: &&Architecture| pairs.contains(&(**architecture, check));
    let names = |red: bool| {
        let named = Architecture::ALL.iter().filter(|architecture| is_red(architecture) == red);
        named.map(|architecture| architecture.as_str()).collect::<Vec<_>>().join(", ")
    };
    match Architecture::ALL.iter().filter(is_red).count() {
        all if all == Architecture::ALL.len() => format!("all {all}"),
        most if most > Architecture::ALL.len() / 2 => format!("{most}; not {}", names(false)),
        few => format!("{few}: {}", names(true)),
    }
}
