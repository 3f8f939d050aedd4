//! `docs/cli.md` says what the command line does.

use crate::drift::assert_current;

#[test]
fn the_reference_is_current() {
    assert_current("docs/cli.md", &testgen::cli_reference::cli_markdown(testgen::cli::command()));
}
