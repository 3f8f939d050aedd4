//! The parts of the jobs in both workflows: actions pinned by commit, steps, the shell.

use crate::matrix::yaml::{Yaml, map};

// By commit, because the owner of an action can move its tags.
const CHECKOUT: &str = "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683";
const CACHE: &str = "actions/cache@5a3ec84eff668545956fd18022155c47e93e2684";
pub(super) const UPLOAD: &str = "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02";
pub(super) const DOWNLOAD: &str =
    "actions/download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093";
pub(super) const UPLOAD_SARIF: &str =
    "github/codeql-action/upload-sarif@ff0a06e83cb2de871e5a09832bc6a81e7276941f";

/// The versions of the pinned commits, written after them as comments, where update tools look for
/// them.
pub(super) const VERSIONS: [(&str, &str); 5] = [
    (CHECKOUT, "v4.2.2"),
    (CACHE, "v4.2.3"),
    (UPLOAD, "v4.6.2"),
    (DOWNLOAD, "v4.3.0"),
    (UPLOAD_SARIF, "v3.28.18"),
];

/// True for everything but pull requests from forks.
pub(super) const NOT_A_FORK: &str = "github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository";

/// One run of a branch at a time; a newer commit of a pull request ends the older run.
pub(super) fn concurrency(name: &str, cancel: Yaml) -> Yaml {
    map([
        ("group", format!("{name}-${{{{ github.ref }}}}").into()),
        ("cancel-in-progress", cancel),
    ])
}

/// bash with `-e` and `pipefail`, also in containers, whose default would be sh.
pub(super) fn shell() -> Yaml {
    map([("run", map([("shell", "bash".into())]))])
}

pub(super) fn checkout() -> Yaml {
    // Otherwise the token stays in `.git/config`, and the code of the change can read it there.
    uses(CHECKOUT, map([("persist-credentials", false.into())]))
}

/// Crates, the build, and what `target/ci` has; a new lock file begins with the newest older one.
pub(super) fn cache() -> Yaml {
    let paths = "~/.cargo/registry\n~/.cargo/git\ntarget\n";
    uses(
        CACHE,
        map([
            ("path", paths.into()),
            (
                "key",
                "testgen-${{ runner.os }}-${{ runner.arch }}-${{ hashFiles('**/Cargo.lock') }}"
                    .into(),
            ),
            (
                "restore-keys",
                "testgen-${{ runner.os }}-${{ runner.arch }}-".into(),
            ),
        ]),
    )
}

pub(super) fn upload(name: &str, path: &str, whatever_happened: bool) -> Yaml {
    // A report that was not written must not look like one without failures.
    let with = map([
        ("name", name.into()),
        ("path", path.into()),
        ("if-no-files-found", "error".into()),
    ]);
    let step = uses(UPLOAD, with);
    if whatever_happened {
        always(step)
    } else {
        step
    }
}

pub(super) fn download(name: &str, path: &str) -> Yaml {
    uses(
        DOWNLOAD,
        map([("name", name.into()), ("path", path.into())]),
    )
}

pub(super) fn uses(action: &str, with: Yaml) -> Yaml {
    map([("uses", action.into()), ("with", with)])
}

pub(super) fn run(name: &str, script: &str) -> Yaml {
    map([("name", name.into()), ("run", script.into())])
}

pub(super) fn always(step: Yaml) -> Yaml {
    // GitHub's `always()` would also run the step after the run was cancelled.
    step.with("if", "!cancelled()")
}
