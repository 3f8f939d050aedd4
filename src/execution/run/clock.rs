//! A clock that was set back.
//!
//! Cargo compares times: what was built before the clock was set back is newer than every file that
//! is written after, so cargo would run the suite of before. Such a suite is deleted, and cargo
//! builds it again.

use super::{
    built::{find_built, modified},
    cargo,
};
use std::{
    ffi::OsString,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, SystemTime},
};

/// File systems round times, and clocks of file servers differ.
const TOLERATED: Duration = Duration::from_secs(2);

/// Deletes the built suite of `manifest` if its binary is dated in the future. `arguments` are the
/// arguments of the build that follows.
pub(super) fn forget_future_builds(manifest: &Path, release: bool, arguments: &[OsString]) {
    // Only then, because cleaning makes the next build compile the suite again.
    if find_built(manifest)
        .and_then(|suite| modified(&suite.binary))
        .is_some_and(is_future)
    {
        clean(manifest, release, arguments);
    }
}

fn is_future(time: SystemTime) -> bool {
    time > SystemTime::now() + TOLERATED
}

/// A failure is not reported.
fn clean(manifest: &Path, release: bool, arguments: &[OsString]) {
    // The build that follows reports it, too, with what cargo prints.
    let Some(name) = cargo::package_name(manifest) else {
        return;
    };
    // With the arguments of the build, which choose the same target directory.
    let mut command = Command::new(cargo::program());
    command
        .args(["clean", "--quiet", "--package", &name, "--manifest-path"])
        .arg(manifest)
        .args(arguments);
    if release {
        command.arg("--release");
    }
    // A suite that cannot be cleaned is built as it is.
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
}
