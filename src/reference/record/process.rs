//! The process of one recorder, isolated from the user's environment.

use super::{
    environment, event::Content, options::RecordOptions, synthetic_weights::SyntheticWeights,
};
use crate::reference::python_program::{PythonError, PythonProgram};
use std::{
    ffi::OsString,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};
use tempfile::TempDir;
use testgen_base::child_process;
use testgen_engine::python_program;
use testgen_python::RECORDER;

/// The recorder's files, and how to run them.
pub(super) struct Recorder<'a> {
    directory: TempDir,
    python: OsString,
    options: &'a RecordOptions,
}

impl<'a> Recorder<'a> {
    /// Writes the files into a temporary directory.
    pub(super) fn new(options: &'a RecordOptions) -> Result<Self, PythonError> {
        Ok(Self {
            directory: PythonProgram::Recorder.unpack(&RECORDER)?,
            python: python_program(options.python.as_deref().map(Path::as_os_str)),
            options,
        })
    }

    /// Records goldens and answers of a checkpoint, and returns the path of the file that was
    /// requested. `send` gets what the recorder prints.
    pub(super) fn record(
        &self,
        checkpoint: &Path,
        send: &(impl Fn(Content) + Sync),
    ) -> Result<PathBuf, PythonError> {
        PythonProgram::check(checkpoint)?;
        self.run(self.recording(checkpoint), send)?;
        let file = if self.options.answers {
            "answers.json"
        } else {
            "golden.safetensors"
        };
        Ok(checkpoint.join(file))
    }

    /// Writes the list of tensors of a synthetic checkpoint beside its `config.json`.
    pub(super) fn write_recipe(
        &self,
        directory: &Path,
        weights: &SyntheticWeights,
        send: &(impl Fn(Content) + Sync),
    ) -> Result<(), PythonError> {
        let mut command = self.command();
        command.arg(format!("--recipe={}", weights.seed));
        command.args(
            weights
                .quantise
                .map(|scheme| format!("--quantise={scheme}")),
        );
        command.arg("--").arg(directory);
        self.run(command, send)
    }

    /// The options of all recordings.
    pub(super) fn options(&self) -> &RecordOptions {
        self.options
    }

    /// Runs a command until it ends.
    fn run(&self, command: Command, send: &(impl Fn(Content) + Sync)) -> Result<(), PythonError> {
        let mut recorder = PythonProgram::Recorder.start(command)?;
        let (steps, messages) = (recorder.stdout.take(), recorder.stderr.take());
        let status = thread::scope(|scope| {
            // A thread for each pipe: one that is not read fills, and the recorder waits.
            scope.spawn(|| each_line(steps, |line| step(&line).into_iter().for_each(send)));
            scope.spawn(|| each_line(messages, |line| send(Content::Message(line))));
            child_process::wait(&mut recorder, || {})
        })?;
        PythonProgram::Recorder.outcome(status)
    }

    /// The recorder without arguments.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.python);
        environment::scrub(&mut command);
        // Isolated: neither variables nor the working directory nor packages of the user's home
        // decide what is imported.
        command
            .arg("-I")
            .args(RECORDER.arguments(self.directory.path()));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn recording(&self, checkpoint: &Path) -> Command {
        let options = self.options;
        let mut command = self.command();
        command
            .arg("--progress")
            .arg(format!("--seed={}", options.seed));
        command.args(
            options
                .noise_samples
                .map(|number| format!("--noise-samples={number}")),
        );
        command.args(options.inputs.as_deref().map(|inputs| {
            // Not formatted as text, because a path need not be UTF-8.
            let mut flag = OsString::from("--inputs=");
            flag.push(inputs);
            flag
        }));
        command
            .args(options.force.then_some("--force"))
            .args(options.answers.then_some("--answers"));
        // A path that starts with `-` must not be parsed as a flag.
        command.arg("--").arg(checkpoint);
        command
    }
}

/// Reads lines until the end; what is not UTF-8 is replaced.
fn each_line(from: Option<impl Read>, mut use_line: impl FnMut(String)) {
    let lines = from
        .into_iter()
        .flat_map(|from| BufReader::new(from).split(b'\n'))
        .map_while(Result::ok);
    lines.for_each(|line| use_line(String::from_utf8_lossy(&line).into_owned()));
}

/// The step in a line `progress STEP DONE OF`.
fn step(line: &str) -> Option<Content> {
    // The recorder prints paths to stdout, too, which the command prints itself.
    let mut words = line.strip_prefix("progress ")?.split(' ');
    let step = words.next()?.to_owned();
    Some(Content::Step {
        step,
        done: words.next()?.parse().ok()?,
        of: words.next()?.parse().ok()?,
    })
}
