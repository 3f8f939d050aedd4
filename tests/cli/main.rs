//! The command line, end to end: every test runs the real binary in a project of its own.

mod add;
mod completions;
mod devices;
mod drift;
mod explain;
mod fake;
mod generate;
mod hostile;
mod list;
mod project;
mod record;
mod reference;
mod run;
mod schema;
mod settings;
mod spec_errors;
mod verify;
