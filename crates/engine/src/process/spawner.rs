//! Starting processes that end with this one.
//!
//! Linux ends such a process when the *thread* that started it ends, so one thread that lives as
//! long as this process starts them all.

use std::{
    io,
    process::{Child, Command, Stdio},
    sync::{
        Mutex, OnceLock, PoisonError,
        mpsc::{Sender, channel},
    },
    thread,
};

struct SpawnJob {
    command: Command,
    answer: Sender<io::Result<Child>>,
}

/// Starts `command` with pipes for its three streams, in a new process group.
pub(super) fn spawn(mut command: Command) -> io::Result<Child> {
    static JOBS: OnceLock<io::Result<Mutex<Sender<SpawnJob>>>> = OnceLock::new();
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    end_with_this_process(&mut command);
    let jobs = JOBS
        .get_or_init(start_thread)
        .as_ref()
        .map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
    let (answer, child) = channel();
    jobs.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .send(SpawnJob { command, answer })
        .map_err(|_| gone())?;
    child.recv().map_err(|_| gone())?
}

fn gone() -> io::Error {
    io::Error::other("the thread that starts engines has ended")
}

fn start_thread() -> io::Result<Mutex<Sender<SpawnJob>>> {
    let (jobs, received) = channel::<SpawnJob>();
    thread::Builder::new()
        .name("engine-spawner".to_owned())
        .spawn(move || {
            for mut job in received {
                // The caller waits for the answer, so it is received.
                let _ = job.answer.send(job.command.spawn());
            }
        })?;
    Ok(Mutex::new(jobs))
}

#[cfg(unix)]
fn end_with_this_process(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    // A new group, so that its children can be ended with it.
    command.process_group(0);
    #[cfg(target_os = "linux")]
    {
        let parent = std::process::id();
        // SAFETY: the function neither allocates nor takes locks, which another thread may hold at
        // the fork.
        unsafe {
            command.pre_exec(move || {
                // Both calls are allowed between fork and exec, and have no pointers.
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                // A parent that ended before that call sends no signal any more.
                if libc::getppid().cast_unsigned() == parent {
                    Ok(())
                } else {
                    Err(io::Error::from_raw_os_error(libc::ESRCH))
                }
            })
        };
    }
}

#[cfg(not(unix))]
fn end_with_this_process(_command: &mut Command) {}

/// Whether a child has ended.
#[cfg(unix)]
pub(super) fn has_ended(child: &mut Child) -> bool {
    // SAFETY: zero is a valid value of every field of this C struct.
    let mut found: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // The child is not waited for, so its id and its group remain.
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `found` is writable, and the id belongs to a child.
    let status = unsafe { libc::waitid(libc::P_PID, child.id(), &raw mut found, flags) };
    // SAFETY: the call has filled the field, or left it zero.
    status != 0 || unsafe { found.si_pid() } != 0
}

#[cfg(not(unix))]
pub(super) fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

/// Ends every process of the group that `leader` has started.
#[cfg(unix)]
pub(super) fn kill_group(leader: u32) {
    let Ok(group) = libc::pid_t::try_from(leader) else {
        return;
    };
    // SAFETY: the call has no pointers. The leader was not waited for, so its id still belongs to
    // this group.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}

#[cfg(not(unix))]
pub(super) fn kill_group(_leader: u32) {}
