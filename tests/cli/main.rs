//! The command line, end to end: every test runs the real binary in a project of its own.

mod add;
mod browser;
mod compare;
mod completions;
mod devices;
mod drift;
mod explain;
mod fake;
mod fixtures;
mod generate;
mod hostile;
mod list;
mod matrix;
mod models;
mod project;
mod record;
mod reference;
mod report;
mod run;
mod runners;
mod schema;
mod seeded;
mod settings;
mod spec_errors;
mod verify;
