//! `testgen logs -`: standard input, read in bounded memory.

use super::log;
use crate::project::Project;
#[cfg(target_os = "linux")]
use crate::watchdog::wait_for;
use std::{
    fs,
    io::Write,
    os::fd::AsRawFd,
    process::{Child, Stdio},
};

#[test]
fn standard_input_is_read() {
    let project = Project::empty();
    let mut child = start(&project);
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(log(&[(0, "4.0", 1.0)]).as_bytes())
        .expect("it is read");
    let output = child.wait_with_output().expect("it ends");
    assert!(
        output.status.success()
            && String::from_utf8_lossy(&output.stdout).starts_with("-: nanoGPT (1)"),
        "{output:?}"
    );
}

/// `testgen logs -` with pipes.
fn start(project: &Project) -> Child {
    let mut command = project.command();
    command
        .args(["logs", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command.spawn().expect("the binary starts")
}

/// 200 MB: many short lines, then one line of 100 MB, then a last record.
#[test]
#[cfg(target_os = "linux")]
fn memory_is_bounded() {
    let project = Project::empty();
    let mut child = start(&project);
    let mut input = child.stdin.take().expect("a pipe");
    for step in 0..2_000_000u32 {
        writeln!(input, "iter {step}: loss 2.5, time 1.0ms, mfu 1.00%").expect("it is read");
    }
    let block = vec![b'x'; 1 << 20];
    (0..100).for_each(|_| input.write_all(&block).expect("it is read"));
    writeln!(input, "\niter 2000000: loss 2.5, time 1.0ms, mfu 1.00%").expect("it is read");
    // While it waits for the end of the input, the kernel has the largest amount of its memory so
    // far.
    let status = || fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    wait_for("the input is read", || {
        is_empty(&input) && status().contains("State:\tS (sleeping)")
    });
    let status = status();
    let peak = status.lines().find_map(|line| {
        line.strip_prefix("VmHWM:")?
            .trim()
            .strip_suffix(" kB")?
            .parse::<u64>()
            .ok()
    });
    drop(input);
    let text = String::from_utf8(child.wait_with_output().expect("it ends").stdout).expect("UTF-8");
    assert!(
        text.contains("nanoGPT (2000001)") && text.contains("1 lines are longer than a mebibyte"),
        "{text}"
    );
    assert!(
        peak.is_some_and(|kilobytes| kilobytes < 48 * 1024),
        "{peak:?} kB"
    );
}

/// Whether everything that was written into a pipe has been read.
#[cfg(target_os = "linux")]
fn is_empty(pipe: &impl AsRawFd) -> bool {
    let mut count: libc::c_int = 0;
    // SAFETY: the call writes one number, to which the pointer is valid.
    let status = unsafe { libc::ioctl(pipe.as_raw_fd(), libc::FIONREAD, &raw mut count) };
    assert_eq!(status, 0);
    count == 0
}
