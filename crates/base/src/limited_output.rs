//! The output of a child process that must end within a time limit: it never hangs, whatever the
//! process does.

use crate::{
    child_process::{end_with_this_process, is_interrupted},
    text::Quoted,
};
use std::{
    io::{self, Read},
    mem,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, channel},
    },
    thread,
    time::{Duration, Instant},
};

/// The interval at which the child's state is polled.
const POLL: Duration = Duration::from_millis(10);
/// Bytes of each stream that are kept.
const KEPT: usize = 1 << 20;
/// The longest wait for the end of a stream after the child and its group have ended.
// A process that left the group can hold it.
const LONGEST_END: Duration = Duration::from_secs(5);

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

impl LimitedOutput {
    /// Why the process was not successful, with the last line of its errors; `None` if it was. A
    /// process without an exit code was ended by a signal.
    pub fn failure(&self) -> Option<String> {
        let Some(status) = self.status else {
            return Some("did not end within the time limit".to_owned());
        };
        if status.success() {
            return None;
        }
        let verb = match status.code() {
            Some(_) => "ended",
            None => "crashed",
        };
        let errors = String::from_utf8_lossy(&self.stderr);
        // The last line, because most programs print last why they end.
        let last = errors.lines().rev().find(|line| !line.trim().is_empty());
        Some(last.map_or_else(
            || format!("{verb} with {status}"),
            |line| format!("{verb} with {status}: {}", Quoted(line).bare()),
        ))
    }
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
    let stdout = StreamReader::new(child.stdout.take());
    let stderr = StreamReader::new(child.stderr.take());
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
    let deadline = Instant::now() + LONGEST_END;
    Ok(LimitedOutput {
        status: ended.then_some(status),
        stdout: stdout.finish(deadline),
        stderr: stderr.finish(deadline),
    })
}

/// Reads a stream to its end on a thread.
// On a thread, so that the child never waits for its output to be read.
struct StreamReader {
    kept: Arc<Mutex<Vec<u8>>>,
    /// Its sender is dropped at the end of the stream.
    end: Receiver<()>,
}

impl StreamReader {
    fn new(stream: Option<impl Read + Send + 'static>) -> Self {
        let kept = Arc::<Mutex<Vec<u8>>>::default();
        let (sender, end) = channel();
        let shared = Arc::clone(&kept);
        thread::spawn(move || {
            // What was read before an error is kept.
            let _ = stream.map(|stream| read(stream, &shared));
            drop(sender);
        });
        Self { kept, end }
    }

    /// The start of the stream, as far as it was read at its end or at `deadline`.
    fn finish(self, deadline: Instant) -> Vec<u8> {
        // Both errors are expected: the stream ended, or the deadline has passed.
        let _ = self
            .end
            .recv_timeout(deadline.saturating_duration_since(Instant::now()));
        mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn read(mut stream: impl Read, kept: &Mutex<Vec<u8>>) -> io::Result<()> {
    let mut part = [0; 1 << 13];
    loop {
        let count = match stream.read(&mut part) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let room = KEPT - kept.len();
        kept.extend_from_slice(&part[..count.min(room)]);
    }
}

/// Whether the child has ended.
#[cfg(unix)]
fn has_ended(child: &mut Child) -> io::Result<bool> {
    // SAFETY: zero is a valid value of every field of this C struct.
    let mut found: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // It is not waited for (`WNOWAIT`), so that its id and its group remain.
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

    #[test]
    fn a_crash_is_not_an_exit() {
        let failure = |script| {
            output_within(shell(script), WATCHDOG)
                .expect("starts")
                .failure()
        };
        assert_eq!(failure("exit 0"), None);
        assert_eq!(
            failure("echo; echo ' why' >&2; echo >&2; exit 3"),
            Some("ended with exit status: 3:  why".to_owned())
        );
        let crashed = failure("echo found >&2; kill -SEGV $$").expect("fails");
        assert!(
            crashed.starts_with("crashed with signal: 11 (SIGSEGV)"),
            "{crashed}"
        );
        assert!(crashed.ends_with(": found"), "{crashed}");
        let output = output_within(shell("sleep 600"), Duration::from_millis(1)).expect("starts");
        assert_eq!(
            output.failure(),
            Some("did not end within the time limit".to_owned())
        );
    }

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
    fn a_process_that_left_the_group_is_not_waited_for() {
        let (sender, receiver) = mpsc::channel();
        let script = "setsid sleep 1111 & echo $!";
        thread::spawn(move || sender.send(output_within(shell(script), WATCHDOG)));
        let output = receiver
            .recv_timeout(WATCHDOG)
            .expect("nothing waits for the process that left")
            .expect("starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let id: libc::pid_t = text.trim().parse().expect("its id was printed");
        // SAFETY: the call has no pointers.
        let killed = unsafe { libc::kill(id, libc::SIGKILL) };
        assert!(output.status.is_some_and(|status| status.success()));
        assert_eq!(killed, 0, "the process was still running");
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
