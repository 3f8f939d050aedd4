//! Names of files, and the table.

use super::*;
use std::path::Path;

#[test]
fn the_smaller_call_is_beside_the_file() {
    let path = |file: &str| reduced_path(Path::new(file)).display().to_string();
    assert_eq!(path("a/x-1.json"), "a/x-1.reduced.json");
    assert_eq!(path("a/x-1.reduced.json"), "a/x-1.reduced.json");
    assert_eq!(path("x"), "x.reduced.json");
}
