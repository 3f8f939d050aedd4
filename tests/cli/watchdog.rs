//! Waiting in tests: for a condition or for a process, and how much a process used.
//!
//! No test depends on the speed of the machine: the limit ends tests that would hang, and is longer
//! than anything that is correct.

use std::{
    fs,
    io::{Read, Seek},
    os::unix::process::ExitStatusExt,
    process::{Command, ExitStatus, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// Whatever has not happened by then never happens.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(5);

/// Waits until `is_met`.
#[track_caller]
pub(crate) fn wait_for(what: &str, mut is_met: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_met() {
        assert!(begun.elapsed() < LIMIT, "{what}: not within {LIMIT:?}");
        sleep(POLL);
    }
}

/// A process that has ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The most memory that it had, in KiB.
    pub(crate) memory: i64,
    /// The bytes that it and its children read from files and pipes.
    pub(crate) read: u64,
}

/// Runs a command to its end.
///
/// # Panics
///
/// When it does not end; it is killed.
#[track_caller]
#[expect(
    clippy::zombie_processes,
    reason = "`wait4` waits for it, the system call that returns its memory"
)]
pub(crate) fn run(command: &mut Command) -> Ended {
    // Pipes would fill while nothing reads them.
    let mut streams =
        [(); 2].map(|()| tempfile::tempfile().expect("the temporary directory can be written"));
    let [stdout, stderr] = streams
        .each_ref()
        .map(|file| Stdio::from(file.try_clone().expect("a file can be shared")));
    let child = command
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .expect("the program starts");
    let id = libc::pid_t::try_from(child.id()).expect("a process id");
    let begun = Instant::now();
    let mut is_late = false;
    while !has_ended(id) {
        if begun.elapsed() > LIMIT && !is_late {
            is_late = true;
            // SAFETY: the process is a child that has not been waited for.
            unsafe { libc::kill(id, libc::SIGKILL) };
        }
        sleep(POLL);
    }
    // Before the process is waited for, because its numbers disappear with it.
    let read = bytes_read(id);
    let (status, memory) = wait(id);
    assert!(!is_late, "{command:?} did not end within {LIMIT:?}");
    let [stdout, stderr] = streams.each_mut().map(|file| {
        let mut bytes = Vec::new();
        file.rewind()
            .and_then(|()| file.read_to_end(&mut bytes))
            .expect("the file can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    });
    Ended {
        status,
        stdout,
        stderr,
        memory,
        read,
    }
}

/// Whether a child has ended; it is not waited for.
fn has_ended(id: libc::pid_t) -> bool {
    // SAFETY: all fields of `siginfo_t` are numbers, for which zero is a value.
    let mut found: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `found` is writable, and the id is that of a child.
    let result = unsafe { libc::waitid(libc::P_PID, id.cast_unsigned(), &raw mut found, flags) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the call has filled the field, or left it zero.
    unsafe { found.si_pid() != 0 }
}

fn bytes_read(id: libc::pid_t) -> u64 {
    let text = fs::read_to_string(format!("/proc/{id}/io")).expect("the kernel counts them");
    text.lines()
        .find_map(|line| line.strip_prefix("rchar: ")?.parse().ok())
        .expect("a number")
}

/// The exit status of a child that has ended, and the most memory that it had in KiB.
fn wait(id: libc::pid_t) -> (ExitStatus, i64) {
    let mut status = 0;
    // SAFETY: all fields of `rusage` are numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are valid for the call.
    let waited = unsafe { libc::wait4(id, &raw mut status, 0, &raw mut usage) };
    assert_eq!(waited, id);
    (ExitStatus::from_raw(status), usage.ru_maxrss)
}
