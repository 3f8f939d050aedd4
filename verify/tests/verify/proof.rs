//! docs/proof.md has the numbers of the proof; the tests that make them keep them true.

use super::mutator;
use std::{collections::BTreeMap, env, fs, path::PathBuf, sync::Mutex};

/// Two tests write into the same file.
static FILE: Mutex<()> = Mutex::new(());

/// Compares the row of this proof in docs/proof.md with what was made, or writes it when `UPDATE_DOCS` is set. `name` is
/// what was made, `wrong` what was accepted or refused although it should not have been.
pub(crate) fn record(name: &str, made: &BTreeMap<&str, usize>, wrong: usize) {
    if mutator::is_reduced() {
        return;
    }
    let run = if mutator::is_everything() { "every place" } else { "an ordinary run" };
    let total: usize = made.values().sum();
    let head = format!("| {name}, {run} |");
    let row = format!("{head} {total} | {} | {wrong} |", made.len());
    let kinds = format!("{name}: {}.", made.keys().copied().collect::<Vec<_>>().join("; "));
    let _guard = FILE.lock().expect("nobody panicked while writing");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/proof.md");
    let text = fs::read_to_string(&path).expect("docs/proof.md is there");
    let lines: Vec<String> = text.lines().map(|line| current(line, &head, &row, name, &kinds)).collect();
    let wanted = lines.join("\n") + "\n";
    assert!(wanted.contains(&row) && wanted.contains(&kinds), "docs/proof.md has no line for {head}");
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &wanted).expect("docs/proof.md can be written");
    } else {
        assert!(text == wanted, "docs/proof.md is stale; run this test again with `UPDATE_DOCS=1`");
    }
}

fn current(line: &str, head: &str, row: &str, name: &str, kinds: &str) -> String {
    match line {
        line if line.starts_with(head) => row.to_owned(),
        line if line.starts_with(&format!("{name}: ")) => kinds.to_owned(),
        line => line.to_owned(),
    }
}
