//! Standard output as commands see it: a closed pipe ends the command quietly instead of panicking.

use std::{
    fmt,
    io::{self, BufWriter, Write},
};
use testgen_base::{
    cli_error::{CliError, Error},
    exit_code::ExitCode,
};

/// The stream to which a command writes its result. `write!` and `writeln!` work on it and return
/// [`Error`].
pub struct Out {
    writer: BufWriter<Box<dyn Write>>,
}

/// Standard output cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output: {source}")]
struct StdoutError {
    source: io::Error,
}

impl CliError for StdoutError {
    fn exit_code(&self) -> ExitCode {
        match self.source.kind() {
            // The reader, such as `head`, has read all that it needs.
            io::ErrorKind::BrokenPipe => ExitCode::Success,
            _ => ExitCode::Internal,
        }
    }
}

impl Out {
    /// The standard output of this process.
    pub fn stdout() -> Self {
        Self {
            // Standard output alone writes at every line break, and a table has thousands.
            writer: BufWriter::new(Box::new(io::stdout())),
        }
    }

    /// Called by `write!`.
    pub fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) -> Result<(), Error> {
        self.writer
            .write_fmt(arguments)
            .map_err(|source| StdoutError { source }.into())
    }

    /// Flushes the output; call it before waiting for something slow.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.writer
            .flush()
            .map_err(|source| StdoutError { source }.into())
    }
}
