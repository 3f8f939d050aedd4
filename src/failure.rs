//! What every error of the command line has: a message, often a hint, and an exit code.

use crate::ExitCode;

/// An error that ends a command.
///
/// Its `Display` is a lower-case fragment with the values in backticks, or a whole block of such fragments when several
/// things are wrong at once.
pub trait Failure: std::error::Error + Send + Sync {
    /// What to do about it; printed after `help: `.
    fn help(&self) -> Option<String> {
        None
    }

    /// The exit code that this error leads to.
    fn exit_code(&self) -> ExitCode {
        ExitCode::BadInput
    }

    /// Whether `Display` is already a finished report with its own `error: ` lines.
    fn is_rendered(&self) -> bool {
        false
    }
}

/// Any error that ends a command; `?` makes it from every type that is a [`Failure`].
pub type Error = Box<dyn Failure>;

impl<F: Failure + 'static> From<F> for Error {
    fn from(failure: F) -> Self {
        Box::new(failure)
    }
}
