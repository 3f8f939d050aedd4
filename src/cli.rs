//! The command line: one file per command below `cli/`, exit codes in [`ExitCode`].

mod add;
mod bench;
mod checkpoint_argument;
mod doctor;
mod export;
mod generate;
mod kernels;
mod logs;
mod matrix;
mod out;
mod panic;
mod printed_summary;
mod project_arguments;
mod record;
pub mod reference;
mod replay;
mod report;
mod run;
mod show;
mod suite;
mod suite_arguments;
mod text_format;
mod tuning_arguments;
mod verify;
mod written;

use clap::{CommandFactory, Parser, Subcommand};
use std::{io::Write, process};
use testgen_base::{cli_error::Error, exit_code::ExitCode};

pub use out::Out;

/// Generates, verifies and runs hardware-aware conformance suites for Hugging Face models.
#[derive(Debug, Parser)]
#[command(name = "testgen", version, about, after_help = EXIT_CODES, max_term_width = 110, propagate_version = true)]
#[command(arg_required_else_help = true, subcommand_required = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Generate(generate::GenerateArguments),
    Verify(verify::VerifyArguments),
    Run(run::RunArguments),
    Bench(bench::BenchArguments),
    Kernels(kernels::KernelsArguments),
    Replay(replay::ReplayArguments),
    Report(report::ReportArguments),
    Logs(logs::LogsArguments),
    Matrix(matrix::MatrixArguments),
    Add(add::AddArguments),
    Record(record::RecordArguments),
    Export(export::ExportArguments),
    Show(show::ShowArguments),
    Doctor(doctor::DoctorArguments),
}

const EXIT_CODES: &str = "Exit codes: 0 success; 1 findings, failed tests, or generated files out of date; 2 wrong \
usage or input; 3 cargo, python or a device is missing; 4 internal error.";

/// Runs the command of this process's arguments, prints its error if it has one, and returns the
/// exit code.
pub fn main() -> process::ExitCode {
    panic::install_hook();
    let arguments = match Cli::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // clap prints help to stdout and errors to stderr; a closed pipe is not an error.
            let _ = error.print();
            let code = if error.use_stderr() {
                ExitCode::BadInput
            } else {
                ExitCode::Success
            };
            return code.into();
        }
    };
    // A panic would end the process with 101, which is not one of the documented exit codes.
    let result = std::panic::catch_unwind(|| run(&arguments.command));
    let Ok(result) = result else {
        return ExitCode::Internal.into();
    };
    let code = result.unwrap_or_else(|error| print_error(&error));
    code.into()
}

/// The whole command line, for completions and for the reference in docs/.
pub fn command() -> clap::Command {
    Cli::command()
}

fn run(command: &Command) -> Result<ExitCode, Error> {
    let mut out = Out::stdout();
    let code = match command {
        Command::Generate(arguments) => generate::run(arguments, &mut out),
        Command::Verify(arguments) => verify::run(arguments, &mut out),
        Command::Run(arguments) => run::run(arguments, &mut out),
        Command::Bench(arguments) => bench::run(arguments, &mut out),
        Command::Kernels(arguments) => kernels::run(arguments, &mut out),
        Command::Replay(arguments) => replay::run(arguments, &mut out),
        Command::Report(arguments) => report::run(arguments, &mut out),
        Command::Logs(arguments) => logs::run(arguments, &mut out),
        Command::Matrix(arguments) => matrix::run(arguments, &mut out),
        Command::Add(arguments) => add::run(arguments, &mut out),
        Command::Record(arguments) => record::run(arguments, &mut out),
        Command::Export(arguments) => export::run(arguments, &mut out),
        // One of its pages is the reference of the command line.
        Command::Show(arguments) => show::run(arguments, &mut Cli::command(), &mut out),
        Command::Doctor(arguments) => doctor::run(arguments, &mut out),
    }?;
    // Dropping the buffer would ignore an error of the last write.
    out.flush()?;
    Ok(code)
}

/// Prints an error as `error: ...` and `help: ...`.
fn print_error(error: &Error) -> ExitCode {
    let code = error.exit_code();
    // Only a closed pipe has this code: `testgen show models | head` is not an error.
    if code == ExitCode::Success {
        return code;
    }
    let mut stderr = std::io::stderr().lock();
    // A closed stderr does not change the exit code.
    let _ = match error.is_rendered() {
        true => writeln!(stderr, "{error}"),
        false => writeln!(stderr, "error: {error}"),
    };
    if let Some(help) = error.help() {
        let _ = writeln!(stderr, "help: {help}");
    }
    code
}
