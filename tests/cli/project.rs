//! A throw-away project: an empty directory, a scrubbed environment and the binary.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};
use tempfile::TempDir;

/// The smallest valid spec.
pub(crate) const BERT: &str = "\
name: bert
model_type: bert
architecture: encoder_only
task: text_embedding
checkpoint:
  fixture: bert
devices: [cpu, cuda, rocm]
precisions: [f32, f16, bf16]
";

/// The smallest valid spec of operators.
pub(crate) const OPERATORS: &str = "\
name: sums
architecture: operators
task: operator_evaluation
operators:
  add: [[3, 5]]
  matmul: [[3, 7, 5], [64, 64, 64]]
devices: [cpu, cuda, rocm]
precisions: [f32, f16]
";

/// An empty directory that disappears with the test.
pub(crate) struct Project {
    directory: TempDir,
}

/// The output of a run of the binary, with the project's path replaced by `[PROJECT]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Project {
    /// An empty project.
    pub(crate) fn empty() -> Self {
        Self {
            directory: TempDir::new().expect("the temporary directory can be written"),
        }
    }

    /// A project with one valid spec, `model_specs/encoder_only/bert.yaml`.
    pub(crate) fn with_bert() -> Self {
        let project = Self::empty();
        project.write("model_specs/encoder_only/bert.yaml", BERT);
        project
    }

    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.directory.path().join(relative)
    }

    /// Writes a file and the directories above it.
    pub(crate) fn write(&self, relative: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("a file is in a directory"))
            .expect("directory can be made");
        fs::write(&path, content).expect("file can be written");
        path
    }

    /// Copies `source` as a program. A child process writes it: if this process held it open for
    /// writing while another test forks, starting it would fail with "text file busy".
    pub(crate) fn install(&self, source: &Path, relative: impl AsRef<Path>) -> PathBuf {
        let path = self.path(relative);
        let status = Command::new("install")
            .args(["-D", "--mode=755"])
            .arg(source)
            .arg(&path)
            .status();
        assert!(
            status.expect("`install` starts").success(),
            "{}",
            path.display()
        );
        path
    }

    /// Writes a script that can be started.
    pub(crate) fn script(&self, relative: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let source =
            tempfile::NamedTempFile::new().expect("the temporary directory can be written");
        fs::write(source.path(), text).expect("file can be written");
        self.install(source.path(), relative)
    }

    pub(crate) fn read(&self, relative: impl AsRef<Path>) -> String {
        let path = self.path(relative);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub(crate) fn exists(&self, relative: impl AsRef<Path>) -> bool {
        self.path(relative).symlink_metadata().is_ok()
    }

    /// Every file below `relative`, sorted, with `/` between the parts.
    pub(crate) fn files(&self, relative: &str) -> Vec<String> {
        let root = self.path(relative);
        let mut files: Vec<String> = walkdir::WalkDir::new(&root)
            .into_iter()
            .filter_map(Result::ok)
            .filter(|entry| !entry.file_type().is_dir())
            .map(|entry| {
                entry
                    .path()
                    .strip_prefix(&root)
                    .expect("below its root")
                    .display()
                    .to_string()
            })
            .collect();
        files.sort();
        files
    }

    /// The binary, in this project, with nothing of the developer's environment but `PATH`.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_testgen"));
        command
            .current_dir(self.directory.path())
            .env_clear()
            .stdin(Stdio::null());
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.directory.path());
        command
    }

    /// Runs the binary with `arguments` in this project.
    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        self.finish(self.command().args(arguments))
    }

    /// Runs a prepared command and redacts the project's path.
    pub(crate) fn finish(&self, command: &mut Command) -> Outcome {
        let output = command.output().expect("the binary starts");
        self.outcome(&output.status, &output.stdout, &output.stderr)
    }

    /// The outcome of a run with the project's path redacted.
    pub(crate) fn outcome(&self, status: &ExitStatus, stdout: &[u8], stderr: &[u8]) -> Outcome {
        Outcome {
            code: status.code().unwrap_or(-1),
            stdout: self.redact(stdout),
            stderr: self.redact(stderr),
        }
    }

    fn redact(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let real = fs::canonicalize(self.directory.path())
            .unwrap_or_else(|_| self.directory.path().to_owned());
        text.replace(&real.display().to_string(), "[PROJECT]")
            .replace(&self.directory.path().display().to_string(), "[PROJECT]")
    }
}

impl Outcome {
    /// Asserts that the run ended with `code`; otherwise shows its output.
    #[track_caller]
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout:\n{}\nstderr:\n{}",
            self.stdout, self.stderr
        );
        self
    }
}
