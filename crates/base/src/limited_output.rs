//! The output of a child process that must end within a time limit: it never hangs, whatever the
//! process does.

use crate::child_process::{end_with_this_process, is_interrupted};
use std::{
    io::{self, Read},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The interval at which the child's state is polled.
const POLL: Duration = Duration::from_millis(10);
/// Bytes of each stream that are kept.
const KEPT: u64 = 1 << 20;

/// The output of a process.
#[derive(Debug)]
pub struct LimitedOutput {
    /// None if it was killed at the limit, or by an interrupt of this process.
    pub status: Option<ExitStatus>,
    /// The start of the standard output.
    pub stdout: Vec<u8>,
    /// The start of the standard error.
    pub stderr: Vec<u8>,
}

/// Runs `command` without input, and kills it and its children at the limit, or when this process
/// is interrupted. It also ends with this process.
///
/// # Errors
///
/// When it cannot be started or waited for.
pub fn output_within(mut command: Command, limit: Duration) -> io::Result<LimitedOutput> {
    end_with_this_process(&mut command);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let deadline = Instant::now() + limit;
    while !has_ended(&mut child)? && Instant::now() < deadline && !is_interrupted() {
        thread::sleep(POLL);
    }
    let ended = has_ended(&mut child)?;
    // In both cases: a process that the child started may hold its pipes, whose readers would wait
    // for it.
    kill_group(&child);
    if !ended {
        child.kill()?;
    }
    let status = child.wait()?;
    let (stdout, stderr) = (
        stdout.join().unwrap_or_default(),
        stderr.join().unwrap_or_default(),
    );
    Ok(LimitedOutput {
        status: ended.then_some(status),
        stdout,
        stderr,
    })
}

/// Reads a stream to its end, so that the child never waits for it, and keeps the start.
fn reader(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut stream) = stream {
            // What was read before an error is kept.
            let _ = stream.by_ref().take(KEPT).read_to_end(&mut kept);
            let _ = io::copy(&mut stream, &mut io::sink());
        }
        kept
    })
}

/// Whether the child has ended. It is not waited for, so that its id and its group remain.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    // SAFETY: zero is a valid value of every field of this C struct.
    let mut found: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `found` is writable, and the id belongs to a child.
    if unsafe { libc::waitid(libc::P_PID, child.id(), &raw mut found, flags) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has filled the field, or left it zero.
    Ok(unsafe { found.si_pid() } != 0)
}

#[cfg(not(unix))]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    child.try_wait().map(|status| status.is_some())
}

#[cfg(unix)]
fn kill_group(child: &Child) {
    let Ok(group) = libc::pid_t::try_from(child.id()) else {
        return;
    };
    // SAFETY: the call has no pointers. The child was not waited for, so its id still belongs to
    // this group.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}

#[cfg(not(unix))]
fn kill_group(_child: &Child) {}

#[cfg(all(test, unix))]
mod tests {
    use super::{LimitedOutput, output_within};
    use std::{
        path::Path,
        process::Command,
        sync::mpsc,
        thread,
        time::{Duration, Instant},
    };

    /// A watchdog, not a time that is tested: far shorter than the processes sleep.
    const WATCHDOG: Duration = Duration::from_secs(120);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    /// The output of a script that prints the id of its child, which must be gone.
    fn output_with_child(script: &'static str, limit: Duration) -> LimitedOutput {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(output_within(shell(script), limit)));
        let output = receiver
            .recv_timeout(WATCHDOG)
            .expect("nothing waits for the child")
            .expect("starts");
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines()
            .filter_map(|line| line.strip_prefix("child "))
            .for_each(assert_ends);
        output
    }

    /// The kernel ends a killed process after `kill` has returned. One that nothing waited for
    /// remains as a zombie.
    fn assert_ends(id: &str) {
        let process = Path::new("/proc").join(id);
        let is_running = || {
            std::fs::read_to_string(process.join("stat")).is_ok_and(|stat| !stat.contains(") Z "))
        };
        let begun = Instant::now();
        while is_running() {
            assert!(
                begun.elapsed() < WATCHDOG,
                "the child {id} is still running"
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_process_that_hangs_is_killed_with_its_children() {
        // A busy machine may need longer to start the shell: a longer limit, until it has printed.
        let limits =
            std::iter::successors(Some(Duration::from_millis(300)), |limit| Some(*limit * 2));
        for limit in limits.take_while(|limit| *limit < WATCHDOG / 2) {
            let output = output_with_child("sleep 1111 & echo child $!; sleep 1111", limit);
            assert!(output.status.is_none(), "{output:?}");
            if output.stdout.ends_with(b"\n") {
                return;
            }
        }
        panic!("the output until the limit is lost");
    }

    #[test]
    fn a_process_in_the_background_is_not_waited_for() {
        let output = output_with_child("sleep 1111 & echo child $!", Duration::from_secs(1000));
        assert!(output.status.is_some_and(|status| status.success()));
        assert!(output.stdout.starts_with(b"child "), "{output:?}");
    }

    #[test]
    fn both_streams_are_read_however_long_they_are() {
        let output = output_within(
            shell("yes | head -c 3000000; echo why >&2; exit 3"),
            Duration::from_secs(1000),
        )
        .expect("starts");
        assert_eq!(output.status.and_then(|status| status.code()), Some(3));
        assert_eq!(
            (output.stdout.len(), output.stderr.as_slice()),
            (1 << 20, b"why\n".as_slice())
        );
    }
}
