//! `docs/reference/cli.md` matches the command line.

use crate::drift::assert_current;

#[test]
fn the_reference_is_current() {
    assert_current(
        "docs/reference/cli.md",
        &testgen::cli::reference::cli_markdown(testgen::cli::command()),
    );
}
