//! `hipconfig -p`, which burn's ROCm backend runs for each kernel it compiles (cubecl-hip-sys `hipconfig.rs`).
//!
//! There, anything on standard error panics and a missing program fails an `unwrap`; the exit status is not looked at.

use crate::{Problem, System};
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);
const REMEDY: &str = "install hipcc (ROCm's bin folder has hipconfig) and put it on PATH, first";

/// The folder whose `include` the kernels are compiled with.
pub(super) fn include_prefix(system: &System) -> Result<String, Problem> {
    let program = system.executable("hipconfig").ok_or_else(|| Problem::new("hipconfig is not on PATH", REMEDY))?;
    let failed = |why: String| Problem::new(format!("`{} -p` {why}", program.display()), REMEDY);
    let mut command = Command::new(&program);
    command.arg("-p").env_clear().envs(system.variables());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| failed(format!("does not start ({error})")))?;
    let (success, output, complaint) = finish(child).ok_or_else(|| failed("does not end".to_owned()))?;
    if !complaint.is_empty() {
        return Err(failed(format!("writes to standard error (`{}`), on which burn panics", first_line(&complaint))));
    }
    let output = output.trim().to_owned();
    if !success || output.is_empty() {
        return Err(failed(if success { "prints nothing" } else { "fails" }.to_owned()));
    }
    Ok(output)
}

/// Whether it succeeded, standard output and standard error; `None` when it had to be ended.
fn finish(mut child: Child) -> Option<(bool, String, String)> {
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if started.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) | Err(_) => {
                // The result does not matter: there is nothing left to do for a process that cannot be ended.
                let _ = child.kill().and_then(|()| child.wait());
                return None;
            }
        }
    };
    let output = child.stdout.take().map(read_all).unwrap_or_default();
    let complaint = child.stderr.take().map(read_all).unwrap_or_default();
    Some((status.success(), output, complaint))
}

fn read_all(mut stream: impl Read) -> String {
    let mut bytes = Vec::new();
    // What was read before an error still counts.
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
