//! `docs/cli.md` says what the command line does.

use std::{env, fs, path::Path};

#[test]
fn the_reference_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cli.md");
    let expected = testgen::reference::cli_markdown(testgen::cli::command());
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &expected).expect("docs/ can be written");
    }
    let current = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        current == expected,
        "docs/cli.md is out of date; write it again with `UPDATE_DOCS=1 cargo test -p testgen --test cli reference`"
    );
}
