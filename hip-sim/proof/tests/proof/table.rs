//! The table of docs/hip-sim.md, which is made of the rows: what stands there is what the tests demand.

use crate::faults::{ROWS, Row};
use hip_sim_proof::Damage;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- faults: begin, written by UPDATE_DOCS=1 cargo test -p hip-sim-proof table -->\n";
const END: &str = "<!-- faults: end -->\n";

/// Compares the table with the rows, or writes it when `UPDATE_DOCS` is set.
pub(crate) fn check() {
    let page = page();
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let current = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&page, current).unwrap();
    } else {
        assert_eq!(text, current, "write it anew with `UPDATE_DOCS=1 cargo test -p hip-sim-proof table`");
    }
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hip-sim.md")
}

fn table() -> String {
    let head = "| fault | how | check | what the record says |\n|---|---|---|---|\n".to_owned();
    ROWS.iter()
        .fold(head, |table, row| table + &format!("| {} | {} | `{}` | {} |\n", row.name, how(row), row.check, row.says))
}

fn how(row: &Row) -> String {
    let damage = row.damage.iter().map(|damage| match damage {
        Damage::Missing(file) => format!("no `{file}`"),
        Damage::Truncated(file) => format!("`{file}` cut off"),
        Damage::Lacks(file, function) => format!("`{file}` without `{function}`"),
        Damage::Hipconfig(body) => format!("`hipconfig` is `{body}`"),
    });
    let variables = row.variables.iter().map(|(name, value)| format!("`{name}={value}`"));
    damage.chain(variables).collect::<Vec<_>>().join(", ")
}
