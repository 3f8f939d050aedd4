//! A running engine: calls with a time limit, and an end in every case.
//!
//! Never hangs and leaves no process: pipes are read and written by separate threads, a call waits
//! at most its limit, and whatever violates the protocol ends the process with its children. The
//! process also ends with this one.

mod last_output;
mod pipes;
mod spawner;

use crate::{
    answer::{self, ReplyError},
    call::{EngineCall, RequestHeader},
    command::EngineCommand,
    error::EngineError,
    frame::{Frame, FrameError},
    tensors::{self, Tensors},
};
use last_output::LastOutput;
use pipes::Pipes;
use serde::de::DeserializeOwned;
use std::{
    process::{Child, ExitStatus},
    sync::{Mutex, PoisonError, mpsc::RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

/// The variable with the time limit of a call in seconds; 600 by default.
pub const TIMEOUT_VARIABLE: &str = "TESTGEN_ENGINE_TIMEOUT";

/// Compiling a model, or loading tens of gigabytes from a network drive, takes minutes.
const DEFAULT_LIMIT: Duration = Duration::from_secs(600);
/// How long a process may take to end when its pipe was closed.
const GRACE: Duration = Duration::from_secs(2);
/// The interval at which its end is polled.
const POLL: Duration = Duration::from_millis(10);

/// The time limit in the environment.
pub fn time_limit() -> Duration {
    let seconds = std::env::var(TIMEOUT_VARIABLE)
        .ok()
        .and_then(|value| value.trim().parse().ok());
    seconds
        // A limit of 0 would end every call before it is answered.
        .filter(|seconds| *seconds > 0)
        .map_or(DEFAULT_LIMIT, Duration::from_secs)
}

/// A process that speaks the protocol. Calls of several threads run one after another.
#[derive(Debug)]
pub struct EngineProcess {
    limit: Duration,
    state: Mutex<ProcessState>,
    /// Deleted after the process has ended.
    // After `state`, because fields are dropped in their order: the process ends before its program
    // is deleted.
    _command: EngineCommand,
}

#[derive(Debug)]
enum ProcessState {
    Running(Connection),
    Ended { why: String },
}

#[derive(Debug)]
struct Connection {
    child: Child,
    pipes: Pipes,
    output: LastOutput,
    last_id: u64,
    /// Whether the process was waited for.
    waited: bool,
}

impl EngineProcess {
    /// Starts the process; each call may take `limit`.
    ///
    /// # Errors
    ///
    /// When the program cannot be started.
    pub fn start(command: EngineCommand, limit: Duration) -> Result<Self, EngineError> {
        let program = command.program.to_string_lossy().into_owned();
        let mut child = spawner::spawn(command.build())
            .map_err(|source| EngineError::Start { program, source })?;
        let output = LastOutput::default();
        let pipes = Pipes::new(&mut child, &output);
        let connection = Connection {
            child,
            pipes,
            output,
            last_id: 0,
            waited: false,
        };
        Ok(Self {
            limit,
            state: Mutex::new(ProcessState::Running(connection)),
            _command: command,
        })
    }

    /// Sends a call and waits for its reply.
    ///
    /// # Errors
    ///
    /// The engine's own error; or a violation of the protocol or of the time limit, which ends the
    /// process.
    pub fn call<Reply: DeserializeOwned>(
        &self,
        call: EngineCall,
        tensors: &Tensors,
    ) -> Result<(Reply, Tensors), EngineError> {
        // Locked for the whole call: answers come in the order of requests.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match &mut *state {
            ProcessState::Running(connection) => connection,
            ProcessState::Ended { why } => {
                return Err(EngineError::NotRunning { why: why.clone() });
            }
        };
        let result = connection.call(call, tensors, self.limit);
        if let Err(error) = &result
            && !error.is_reported()
        {
            // Drops the connection, which ends the process and its children.
            *state = ProcessState::Ended {
                why: error.to_string(),
            };
        }
        result
    }

    /// Whether the process can be called.
    pub fn is_running(&self) -> bool {
        matches!(
            *self.state.lock().unwrap_or_else(PoisonError::into_inner),
            ProcessState::Running(_)
        )
    }

    /// The process id while it runs.
    pub fn id(&self) -> Option<u32> {
        match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            ProcessState::Running(connection) => Some(connection.child.id()),
            ProcessState::Ended { .. } => None,
        }
    }
}

impl Connection {
    fn call<Reply: DeserializeOwned>(
        &mut self,
        call: EngineCall,
        tensors: &Tensors,
        limit: Duration,
    ) -> Result<(Reply, Tensors), EngineError> {
        let name = call.name();
        self.last_id += 1;
        let request = RequestHeader {
            id: self.last_id,
            call,
        };
        let header = serde_json::to_vec(&request).expect("a request has string keys only");
        let tensors = tensors::encode(tensors).map_err(|problem| self.invalid(name, problem))?;
        self.pipes.send(Frame { header, tensors });
        let frame = match self.pipes.receive(limit) {
            Ok(Ok(frame)) => frame,
            Ok(Err(FrameError::Closed)) | Err(RecvTimeoutError::Disconnected) => {
                return Err(self.ended(name));
            }
            Ok(Err(error)) => return Err(self.invalid(name, error.to_string())),
            Err(RecvTimeoutError::Timeout) => {
                // A late answer would come in the place of the next call's.
                self.kill();
                return Err(EngineError::TimedOut {
                    call: name,
                    limit,
                    output: self.output.describe(),
                });
            }
        };
        answer::read(&frame, self.last_id).map_err(|error| match error {
            ReplyError::Unsupported { message } => EngineError::Unsupported { message },
            ReplyError::Failed { message } => EngineError::Failed {
                call: name,
                message,
            },
            ReplyError::OutOfMemory { message } => EngineError::OutOfMemory {
                call: name,
                message,
            },
            ReplyError::DeviceLost { message } => {
                // The device's context does not come back: every later call would fail with it.
                self.kill();
                EngineError::DeviceLost {
                    call: name,
                    message,
                }
            }
            ReplyError::Invalid { problem } => self.invalid(name, problem),
        })
    }

    fn invalid(&mut self, call: &'static str, problem: String) -> EngineError {
        self.kill();
        EngineError::Invalid {
            call,
            problem,
            output: self.output.describe(),
        }
    }

    fn ended(&mut self, call: &'static str) -> EngineError {
        let ended = self.ends_within(GRACE);
        // If the process did not end by itself, its status is only the signal of `kill`.
        let status = self
            .kill()
            .filter(|_| ended)
            .map(|status| status.to_string());
        let status = status.unwrap_or_else(|| "it closed its pipe and was ended".to_owned());
        EngineError::Ended {
            call,
            status,
            output: self.output.describe(),
        }
    }

    fn ends_within(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while !spawner::has_ended(&mut self.child) {
            if Instant::now() >= deadline {
                return false;
            }
            thread::sleep(POLL);
        }
        true
    }

    /// Ends the process and its children, and waits for it.
    fn kill(&mut self) -> Option<ExitStatus> {
        // Before the process is waited for, because its group may belong to others after that.
        if !self.waited {
            spawner::kill_group(self.child.id());
            // It fails if the process has ended already.
            let _ = self.child.kill();
            // Waited for, so that no zombie remains.
            self.waited = true;
        }
        let status = self.child.wait().ok();
        self.output.settle();
        status
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // A closed pipe asks the engine to end, which lets it release its device.
        self.pipes.close();
        if !self.waited {
            self.ends_within(GRACE);
        }
        self.kill();
    }
}
