//! `hipconfig -p`, which burn's ROCm backend runs for each kernel it compiles (cubecl-hip-sys
//! `hipconfig.rs`).
//!
//! cubecl panics on any output on standard error and unwraps on a missing program; it ignores the
//! exit status.

use crate::device::DeviceProblem;
use crate::system::System;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// `hipconfig` is a Perl or C++ program that answers within a second.
// A hanging one must not hang detection.
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
    // Read while it runs, because a full pipe would block it.
    let output = reader(child.stdout.take());
    let errors = reader(child.stderr.take());
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
    // A process that it started can hold its pipes, for which cubecl would wait as well.
    let read = |text: Receiver<String>| {
        let rest = TIME_LIMIT.saturating_sub(started.elapsed());
        text.recv_timeout(rest).ok()
    };
    Some((status.success(), read(output)?, read(errors)?))
}

/// The text of a stream, once it has ended.
fn reader(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, text) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // Ignored: the bytes read before an error are still used.
            let _ = stream.read_to_end(&mut bytes);
        }
        // The receiver is gone once the time limit has passed.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    text
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
