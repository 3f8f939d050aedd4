//! The formats of commands that print a text for people, or the same for a script.

use clap::ValueEnum;

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TextFormat {
    /// Text for people
    Human,
    /// JSON for scripts
    Json,
}
