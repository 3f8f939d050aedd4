//! One process that computes products: this binary again, as a worker.

use super::{
    protocol::{KernelResult, KernelTask, PREFIX, WorkerAnswer},
    worker::WORKER_VARIABLE,
};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Simulated products take minutes.
const LIMIT: Duration = Duration::from_secs(600);

/// The end of a process.
pub(super) struct Ended {
    /// The product that it had started and not answered for.
    pub(super) unfinished: Option<usize>,
    /// Its status, with the last line that it printed.
    pub(super) why: String,
}

/// Runs `task` until its process ends or does not answer, and passes each result to `found`.
pub(super) fn run(task: &KernelTask, found: &mut dyn FnMut(KernelResult)) -> Result<Ended, String> {
    let mut child =
        start(task).map_err(|error| format!("a process for kernels does not start: {error}"))?;
    let answers = child
        .stdout
        .take()
        .map(answers)
        .ok_or("a process for kernels has no output")?;
    // Read by a thread, because a full pipe would stop the process.
    let errors = child
        .stderr
        .take()
        .map(|errors| thread::spawn(move || last_line(errors)));
    let mut unfinished = None;
    let timed_out = loop {
        match answers.recv_timeout(LIMIT) {
            // Kept until it is answered: it is the one to report if the process ends.
            Ok(WorkerAnswer::Started(number)) => unfinished = Some(number),
            Ok(WorkerAnswer::Found(result)) => {
                unfinished = None;
                found(result);
            }
            Err(RecvTimeoutError::Disconnected) => break false,
            Err(RecvTimeoutError::Timeout) => break true,
        }
    };
    if timed_out {
        // It may have ended in the meantime.
        drop(child.kill());
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let last = errors
        .and_then(|errors| errors.join().ok())
        .unwrap_or_default();
    let why = if timed_out {
        format!("no answer within {} s", LIMIT.as_secs())
    } else {
        format!("{status}: {last}")
    };
    Ok(Ended { unfinished, why })
}

fn start(task: &KernelTask) -> Result<Child, String> {
    let binary = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(binary);
    command
        .env(WORKER_VARIABLE, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let input = child.stdin.take().ok_or("it has no input")?;
    // An error means that the process has ended; its status says more.
    drop(serde_json::to_writer(input, task));
    Ok(child)
}

/// The answers of a worker, read by a separate thread so that waiting for one can end.
fn answers(output: ChildStdout) -> Receiver<WorkerAnswer> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        let answers =
            lines.filter_map(|line| serde_json::from_str(line.strip_prefix(PREFIX)?).ok());
        answers
            .take_while(|answer: &WorkerAnswer| sender.send(answer.clone()).is_ok())
            .for_each(drop);
    });
    receiver
}

/// The last line that is not empty.
fn last_line(errors: ChildStderr) -> String {
    let lines = BufReader::new(errors)
        .lines()
        .map_while(Result::ok)
        .filter(|line| !line.trim().is_empty());
    // All are read, because a full pipe would stop the process.
    lines
        .last()
        .unwrap_or_else(|| "no message".to_owned())
        .trim()
        .chars()
        .take(300)
        .collect()
}
