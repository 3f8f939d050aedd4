//! Child processes that end with this one: an interrupt or a request to terminate kills the child
//! first.

use crate::exit_code::ExitCode;
use std::{
    io,
    process::{Child, Command, ExitStatus},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The interval at which the child's state is polled, too short to be noticed.
const POLL: Duration = Duration::from_millis(20);

/// A child process that could not be waited for.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// The operating system reports no exit status.
    #[error("lost the child process: {source}")]
    Wait {
        /// The system's error.
        source: io::Error,
    },
    /// The user or the system asked this process to stop; the child was killed.
    #[error("interrupted")]
    Interrupted,
}

impl ChildError {
    /// The exit code of a command that waited for the child.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Wait { .. } => ExitCode::Internal,
            // An interrupted command has proven nothing, so this must not be a success.
            Self::Interrupted => ExitCode::Findings,
        }
    }
}

/// Handles interrupts from now on: they also kill the children that [`wait_all`] waits for, instead
/// of this process alone.
pub fn watch_interrupts() {
    // Setting a second handler fails; the first one does the same.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::SeqCst));
}

/// Whether this process was asked to stop since [`watch_interrupts`].
pub fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Kills the child when this process ends in any way, also by kill -9: a suite must not keep a GPU.
///
/// Linux sends that signal when the *thread* that started the child ends, so that this thread must
/// wait for the child.
pub fn end_with_this_process(command: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
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
    // Only Linux can end a child together with its parent.
    #[cfg(not(target_os = "linux"))]
    let _ = command;
}

/// Waits until `child` ends, and calls `tick` meanwhile.
pub fn wait(child: &mut Child, tick: impl FnMut()) -> Result<ExitStatus, ChildError> {
    let statuses = wait_all(&mut [child], tick)?;
    Ok(statuses[0])
}

/// Waits until all `children` have ended, and calls `tick` meanwhile. Their statuses are in the
/// order of the children.
pub fn wait_all(
    children: &mut [&mut Child],
    mut tick: impl FnMut(),
) -> Result<Vec<ExitStatus>, ChildError> {
    loop {
        if is_interrupted() {
            for child in children {
                // Killing fails when the same signal has already ended the child.
                let _ = child.kill();
                let _ = child.wait();
            }
            return Err(ChildError::Interrupted);
        }
        // Polled: `wait` of the standard library continues after a signal, so the flag would never
        // be read.
        let statuses: io::Result<Option<Vec<ExitStatus>>> =
            children.iter_mut().map(|child| child.try_wait()).collect();
        if let Some(statuses) = statuses.map_err(|source| ChildError::Wait { source })? {
            return Ok(statuses);
        }
        tick();
        thread::sleep(POLL);
    }
}
