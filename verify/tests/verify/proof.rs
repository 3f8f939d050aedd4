//! docs/reference/proof.md contains the numbers of the proof; the tests that compute them keep them up to
//! date.

use super::mutator;
use std::{
    collections::BTreeMap,
    env, fs,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

/// The least number of variants that an ordinary run looks at, by name: the strength of the proof
/// must not shrink unnoticed.
const LEAST: [(&str, usize); 2] = [("Broken harnesses", 2200), ("Harmless variants", 500)];

/// Two tests write to the same file.
static FILE: Mutex<()> = Mutex::new(());

/// Compares the row of this proof in docs/reference/proof.md with the mutants, or writes it when
/// `UPDATE_DOCS` is set. `name` is the kind of mutants, `wrong` the number that was wrongly
/// accepted or rejected. The page contains a lower bound of the number, so that it stays true when
/// an architecture is added.
pub(crate) fn record(name: &str, made: &BTreeMap<&str, usize>, wrong: usize) {
    if mutator::is_reduced() {
        return;
    }
    let run = if mutator::is_everything() {
        "every place"
    } else {
        "an ordinary run"
    };
    let head = format!("| {name}, {run} | at least ");
    let tail = format!(" | {} | {wrong} |", made.len());
    let total: usize = made.values().sum();
    let (_, least) = LEAST
        .into_iter()
        .find(|(other, _)| *other == name)
        .expect("each proof has its least number");
    assert!(
        total >= least,
        "{name}: {total} were made, expected at least {least}"
    );
    assert_eq!(wrong, 0, "{name}");
    let _guard = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/proof.md");
    let text = fs::read_to_string(&path).expect("docs/reference/proof.md is there");
    if env::var_os("UPDATE_DOCS").is_some() {
        let row = format!("{head}{}{tail}", total / 100 * 100);
        let lines: Vec<String> = text
            .lines()
            .map(|line| match line.starts_with(&head) {
                true => row.clone(),
                false => line.to_owned(),
            })
            .collect();
        fs::write(&path, lines.join("\n") + "\n").expect("docs/reference/proof.md can be written");
        return;
    }
    let said = text.lines().find_map(|line| {
        line.strip_prefix(&head)?
            .strip_suffix(&tail)?
            .parse::<usize>()
            .ok()
    });
    assert!(
        said.is_some_and(|said| said <= total),
        "docs/reference/proof.md is stale, {total} were made; run this test again with `UPDATE_DOCS=1`"
    );
}
