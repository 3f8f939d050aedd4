//! A process that compiles, from both sides of its pipes.
//!
//! Standard input has one job per line; each is answered by a line with [`DONE`]. The end of the
//! input, also by the death of the parent, ends the process at once.

use super::{
    jobs::{self, CompileJob, Jobs},
    progress,
};
use crate::{harness::Harness, kernels, suite::environment::Environment, suite::trial};
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, ExitCode, Stdio},
    sync::{Mutex, MutexGuard, PoisonError, mpsc},
    time::Duration,
};
use testgen_engine::EngineName;
use testgen_types::CompileProgress;

/// Set for a process that compiles.
const WORKER_VARIABLE: &str = "TESTGEN_COMPILE_WORKER";

/// The answer to a job.
// Libraries may print other lines.
const DONE: &str = "testgen: compiled";
/// The longest time for one job.
// The checks run without it, only later.
const LIMIT: Duration = Duration::from_secs(600);

/// Whether this process was started to compile kernels.
pub(in crate::suite) fn is_worker() -> bool {
    std::env::var_os(WORKER_VARIABLE).is_some()
}

/// The `main` of a process that compiles: runs the jobs on standard input.
pub(in crate::suite) fn run(environment: &Environment, harnesses: &[&'static Harness]) -> ExitCode {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            // The receiver lives as long as the process.
            drop(sender.send(line));
        }
        // In the middle of a job, too: the parent does not wait for it any more.
        std::process::exit(0);
    });
    for job in receiver
        .iter()
        .filter_map(|line: String| line.parse::<CompileJob>().ok())
    {
        compile(job, environment, harnesses);
        println!("{DONE}");
    }
    ExitCode::SUCCESS
}

fn compile(job: CompileJob, environment: &Environment, harnesses: &[&'static Harness]) {
    let Some(harness) = harnesses.get(job.unit.harness) else {
        return;
    };
    // Before the context, because detecting may open a device.
    kernels::compile_only(job.part, job.parts);
    let context = environment.context(harness, job.unit.device, EngineName::native());
    for check in jobs::compiled_checks(harness, job.unit.device) {
        // It fails, because nothing was computed.
        drop(trial::run(harness, check, &environment.base, &context));
    }
}

/// Starts a process and passes it one job after the other, until none is left, the process ends, or
/// a job takes too long.
pub(super) fn supervise(jobs: &Mutex<Jobs>) {
    let Ok(mut child) = start() else { return };
    if let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) {
        let answers = answers(BufReader::new(output));
        if feed(jobs, input, &answers).is_none() {
            // It hangs, or it ended already.
            drop(child.kill());
        }
    }
    // Its input is closed now, so it ends.
    drop(child.wait());
}

/// The answers of a process; the channel closes with its output.
fn answers(output: impl BufRead + Send + 'static) -> mpsc::Receiver<()> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = output.lines().map_while(Result::ok);
        lines
            .filter(|line| line == DONE)
            .all(|_| sender.send(()).is_ok())
    });
    receiver
}

fn start() -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .env(WORKER_VARIABLE, "1")
        // Its checks are not results.
        .env_remove(crate::report::REPORT_VARIABLE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // Every check fails there, and libraries would print why.
        .stderr(Stdio::null())
        .spawn()
}

/// Passes jobs on until none is left, or `None` if a job was not answered.
fn feed(jobs: &Mutex<Jobs>, mut input: ChildStdin, answers: &mpsc::Receiver<()>) -> Option<()> {
    while let Some(job) = next(jobs) {
        writeln!(input, "{job}").ok()?;
        answers.recv_timeout(LIMIT).ok()?;
        progress::show(finish(jobs, job));
    }
    Some(())
}

fn next(jobs: &Mutex<Jobs>) -> Option<CompileJob> {
    // In a separate function, so that the lock is not held while the job runs.
    lock(jobs).next()
}

/// Releases the lock before the progress is printed.
fn finish(jobs: &Mutex<Jobs>, job: CompileJob) -> CompileProgress {
    let mut jobs = lock(jobs);
    jobs.finish(job);
    jobs.progress()
}

fn lock(jobs: &Mutex<Jobs>) -> MutexGuard<'_, Jobs> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner)
}
