//! The trait of every error that ends a command: a message, often a hint, and an exit code.

use crate::exit_code::ExitCode;

/// An error that ends a command.
///
/// Its `Display` is a lower-case fragment with the values in backticks, or a whole block of such
/// fragments when several things are wrong at once.
pub trait CliError: std::error::Error + Send + Sync {
    /// A hint for the user; printed after `help: `.
    fn help(&self) -> Option<String> {
        None
    }

    /// The exit code of the command.
    fn exit_code(&self) -> ExitCode {
        ExitCode::BadInput
    }

    /// Whether `Display` already contains its own `error: ` lines.
    fn is_rendered(&self) -> bool {
        false
    }
}

/// Any error that ends a command; `?` converts every [`CliError`] into it.
pub type Error = Box<dyn CliError>;

impl<E: CliError + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Box::new(error)
    }
}
