//! The shapes of this repository's specs.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};
use testgen_operators::cases::odd_sizes;
use testgen_types::Operator;

/// The shapes of an operator, or else of its group, in `model_specs/operators`, after a small odd
/// one.
pub(crate) fn for_operator(operator: Operator) -> Vec<Vec<usize>> {
    static TEXTS: OnceLock<String> = OnceLock::new();
    let texts = TEXTS.get_or_init(texts);
    let line = [operator.as_str(), operator.group().as_str()]
        .into_iter()
        .find_map(|name| {
            let start = format!("  {name}: ");
            texts.lines().find_map(|line| line.strip_prefix(&start))
        })
        .expect("every operator has a spec");
    // A list in YAML is one in JSON here.
    let shapes: Vec<Vec<usize>> = serde_json::from_str(line).expect("shapes are lists");
    [vec![odd_sizes(operator)], shapes].concat()
}

/// Every operator and shape of the check `stress`.
pub(crate) fn stress() -> Vec<(Operator, Vec<usize>)> {
    let (mut all, mut operator, mut within) = (Vec::new(), None, false);
    for line in texts().lines() {
        let line = line.split(" #").next().unwrap_or(line).trim_end();
        if !line.starts_with(' ') {
            within = line == "stress:";
        } else if !line.starts_with("    ") {
            operator = line
                .trim()
                .strip_suffix(':')
                .and_then(|name| name.parse::<Operator>().ok());
        } else if let Some((operator, (_, shapes))) =
            operator.zip(line.split_once(": ")).filter(|_| within)
        {
            let shapes: Vec<Vec<usize>> = serde_json::from_str(shapes).expect("shapes are lists");
            all.extend(shapes.into_iter().map(|shape| (operator, shape)));
        }
    }
    assert!(all.len() > 50, "{}", all.len());
    all
}

fn texts() -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../model_specs/operators");
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .expect("the specs exist")
        .map(|entry| entry.expect("is readable").path())
        .collect();
    // Of an operator in two specs the first one counts, which has the small shapes.
    files.sort();
    files
        .into_iter()
        .map(|path| fs::read_to_string(path).expect("a spec is text"))
        .collect()
}

#[test]
fn every_operator_has_shapes_in_one_spec() {
    for &operator in Operator::ALL {
        let shapes = for_operator(operator);
        assert!(
            shapes.len() > 1
                && shapes
                    .iter()
                    .all(|shape| shape.len() == operator.sizes().len()),
            "{operator}"
        );
    }
}
