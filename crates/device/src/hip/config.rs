//! `hipconfig -p`, which burn's ROCm backend runs for each kernel it compiles (cubecl-hip-sys
//! `hipconfig.rs`).
//!
//! cubecl panics on any output on standard error and unwraps on a missing program; it ignores the
//! exit status.

use crate::device::DeviceProblem;
use crate::system::System;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// `hipconfig` is a Perl or C++ program that answers within a second; a hanging one must not hang
/// detection.
const TIME_LIMIT: Duration = Duration::from_secs(20);
const REMEDY: &str = "install hipcc (ROCm's bin folder has hipconfig) and put it first on PATH";

/// The folder whose `include` folder the kernels are compiled with.
pub(super) fn include_prefix(system: &System) -> Result<String, DeviceProblem> {
    let program = system
        .executable("hipconfig")
        .ok_or_else(|| DeviceProblem::new("hipconfig is not on PATH", REMEDY))?;
    let failed =
        |why: String| DeviceProblem::new(format!("`{} -p` {why}", program.display()), REMEDY);
    let mut command = Command::new(&program);
    // The environment of the machine that is examined, which tests replace.
    command.arg("-p").env_clear().envs(system.variables());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command
        .spawn()
        .map_err(|error| failed(format!("does not start ({error})")))?;
    let (success, output, errors) =
        finish(child).ok_or_else(|| failed("does not end".to_owned()))?;
    if !errors.is_empty() {
        return Err(failed(format!(
            "writes to standard error (`{}`), on which burn panics",
            first_line(&errors)
        )));
    }
    let output = output.trim().to_owned();
    if !success || output.is_empty() {
        return Err(failed(
            if success { "prints nothing" } else { "fails" }.to_owned(),
        ));
    }
    Ok(output)
}

/// Whether it succeeded, standard output and standard error; `None` when it had to be killed.
fn finish(mut child: Child) -> Option<(bool, String, String)> {
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if started.elapsed() < TIME_LIMIT => {
                std::thread::sleep(Duration::from_millis(2))
            }
            Ok(None) | Err(_) => {
                // Ignored: there is nothing left to do about a process that cannot be killed.
                let _ = child.kill().and_then(|()| child.wait());
                return None;
            }
        }
    };
    // Read after its end only: what it prints is shorter than the buffer of a pipe.
    let output = child.stdout.take().map(read_all).unwrap_or_default();
    let errors = child.stderr.take().map(read_all).unwrap_or_default();
    Some((status.success(), output, errors))
}

fn read_all(mut stream: impl Read) -> String {
    let mut bytes = Vec::new();
    // Ignored: the bytes read before an error are still used.
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
