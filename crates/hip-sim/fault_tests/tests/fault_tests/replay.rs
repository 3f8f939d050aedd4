//! Failed calls of operators, from files that one process wrote, computed again in others.

use crate::subprocess::{self, CacheState};
use hip_sim_fault_tests::Installation;
use std::path::{Path, PathBuf};
use testgen_operators::calls::{Actual, FailedCall, Repetition, ReplayOutcome, Replayed};

/// A seeded fault, a check that it fails, and a part of the first failed call's name.
pub(crate) struct Seeded {
    pub(crate) fault: &'static str,
    check: &'static str,
    case: &'static str,
}

/// Wrong numbers, a NaN, and a kernel that does not start: each has the same effect in every
/// process.
pub(crate) const SEEDED: &[Seeded] = &[
    Seeded {
        fault: "wrong=matmul",
        check: "operators::matrix::rocm::forward_f32",
        case: "`matmul` of",
    },
    Seeded {
        fault: "nan=softmax",
        check: "operators::activation::rocm::forward_f32",
        case: "`softmax` of",
    },
    Seeded {
        fault: "wrong=layer_norm",
        check: "operators::normalisation::rocm::shapes_f32",
        case: "`layer_norm` of",
    },
    Seeded {
        fault: "launch=layer_norm",
        check: "operators::normalisation::rocm::forward_f32",
        case: "`layer_norm` of",
    },
];

/// The file of a failed check is reproduced with the fault, also when it is made smaller, and
/// correct without.
pub(crate) fn check(seeded: &Seeded) {
    let folder = tempfile::tempdir().unwrap();
    let file = first_failure(seeded, folder.path());
    let failed = FailedCall::read(&file).unwrap();
    assert!(failed.case.starts_with(seeded.case), "{}", failed.case);
    assert_eq!(failed.again.plain, Repetition::Same, "{}", failed.case);
    let computed = matches!(failed.actual, Actual::Computed(_));
    // The error of a launch has other words where it is taken after the launch and not with the
    // result.
    let expected = if computed {
        [Repetition::Same; 2]
    } else {
        [Repetition::Same, Repetition::OtherFailure]
    };
    assert!(
        failed
            .again
            .blocking
            .is_some_and(|blocking| expected.contains(&blocking)),
        "{:?}",
        failed.again
    );
    let name = seeded
        .fault
        .split_once('=')
        .map_or("", |(_, kernel)| kernel);
    assert!(
        failed
            .kernels
            .iter()
            .any(|kernel| kernel.name.contains(name)),
        "{:?}",
        failed.kernels
    );
    let again = replayed(
        &file,
        &[
            ("HIP_SIM_FAULTS", seeded.fault),
            ("TESTGEN_REPLAY_REDUCE", "1"),
        ],
    );
    assert_eq!(again.repetition, Repetition::Same, "{again:?}");
    assert_eq!(again.differing, computed.then_some(0), "{again:?}");
    let fixed = replayed(&file, &[]);
    assert_eq!(
        (fixed.repetition, fixed.failure),
        (Repetition::Correct, None)
    );
    // The fault does not depend on the shape, so that one element is the smallest that fails.
    let reduced = again.reduced.unwrap();
    let lengths = reduced
        .failed
        .call
        .inputs
        .iter()
        .flat_map(|input| input.tensor.shape.iter());
    assert!(
        !reduced.incomplete && lengths.into_iter().all(|length| *length <= 2),
        "{}",
        reduced.failed.case
    );
    let smaller = folder.path().join("smaller.json");
    std::fs::write(&smaller, reduced.failed.to_json()).unwrap();
    assert_eq!(
        replayed(&smaller, &[("HIP_SIM_FAULTS", seeded.fault)]).repetition,
        Repetition::Same
    );
}

/// The first file that the check writes with its fault.
fn first_failure(seeded: &Seeded, folder: &Path) -> PathBuf {
    let installation = Installation::new().unwrap();
    let folder_name = folder.to_str().unwrap();
    let variables = [
        ("HIP_SIM_FAULTS", seeded.fault),
        ("TESTGEN_FAILURES", folder_name),
        ("TESTGEN_REQUIRE", "rocm-sim"),
    ];
    let arguments = ["--exact", seeded.check];
    let output = subprocess::run(
        subprocess::SUITE,
        &installation,
        CacheState::Empty,
        &variables,
        &arguments,
    );
    let text = subprocess::text(&output);
    assert!(
        !output.status.success(),
        "the check passes with the fault\n{text}"
    );
    let parts: Vec<&str> = seeded.check.split("::").collect();
    let (check, precision) = parts[3].rsplit_once('_').unwrap();
    let name = format!("{}-{check}-rocm-{precision}-1.json", parts[1]);
    assert!(
        text.contains(&name),
        "the message names no `{name}`\n{text}"
    );
    folder.join(name)
}

/// The result of a file in a new process.
fn replayed(file: &Path, variables: &[(&str, &str)]) -> Replayed {
    let installation = Installation::new().unwrap();
    let outcome = installation.root().join("outcome.json");
    let (file, path) = (file.to_str().unwrap(), outcome.to_str().unwrap());
    let variables = [
        &[("TESTGEN_REPLAY", file), ("TESTGEN_REPLAY_OUTCOME", path)],
        variables,
    ]
    .concat();
    let output = subprocess::run(
        subprocess::SUITE,
        &installation,
        CacheState::Empty,
        &variables,
        &[],
    );
    let text = std::fs::read_to_string(&outcome)
        .unwrap_or_else(|_| panic!("{}", subprocess::text(&output)));
    match serde_json::from_str(&text).unwrap() {
        ReplayOutcome::Replayed(replayed) => *replayed,
        other => panic!("{other:?}"),
    }
}
