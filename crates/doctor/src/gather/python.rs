//! Python and its packages, read by Python itself.

use crate::facts::{Python, PythonFailure, PythonPackage};
use std::{env, ffi::OsStr, io, time::Duration};
use testgen_base::{
    limited_output::{LimitedOutput, output_within},
    text::Quoted,
};
use testgen_engine::{PYTHON_VARIABLE, isolated_python, python_program};
use testgen_python::DOCTOR_PROBE;

/// The packages whose builds decide which devices they use.
const IMPORTED: [&str; 2] = ["torch", "onnxruntime"];

/// The Python of built-in engines, where `given` takes precedence over the variable.
pub(super) fn python(given: Option<&OsStr>, limit: Duration) -> Result<Python, PythonFailure> {
    let program = python_program(given);
    let named =
        // An empty variable names none, as in `python_program`.
        given.is_some() || env::var_os(PYTHON_VARIABLE).is_some_and(|program| !program.is_empty());
    let failure = |problem: String, missing| PythonFailure {
        program: program.to_string_lossy().into_owned(),
        problem,
        named,
        missing,
    };
    let output = run(&program, None, limit).map_err(|error| {
        let missing = error.kind() == io::ErrorKind::NotFound;
        failure(
            if missing {
                "there is no such program".to_owned()
            } else {
                error.to_string()
            },
            missing,
        )
    })?;
    let mut python: Python = parse(&output).map_err(|problem| failure(problem, false))?;
    for name in IMPORTED {
        if let Some(package) = python.packages.get_mut(name) {
            *package = imported(&program, name, package, limit);
        }
    }
    Ok(python)
}

fn run(program: &OsStr, package: Option<&str>, limit: Duration) -> io::Result<LimitedOutput> {
    let mut command = isolated_python(program);
    command.args(["-c", DOCTOR_PROBE]).args(package);
    output_within(command, limit)
}

/// The package with what importing it shows.
fn imported(
    program: &OsStr,
    name: &str,
    package: &PythonPackage,
    limit: Duration,
) -> PythonPackage {
    // A separate process imports it, because a library of a driver may crash or hang.
    let found = run(program, Some(name), limit).map_err(|error| error.to_string());
    let found: Result<PythonPackage, String> = found.and_then(|output| parse(&output));
    match found {
        Ok(found) => PythonPackage {
            version: package.version.clone(),
            ..found
        },
        Err(problem) => PythonPackage {
            error: Some(problem),
            ..package.clone()
        },
    }
}

/// The JSON in the last line; libraries print above it.
fn parse<T: serde::de::DeserializeOwned>(output: &LimitedOutput) -> Result<T, String> {
    if let Some(failure) = output.failure() {
        return Err(format!("it {failure}"));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).map_err(|_| format!("its answer is not JSON: {}", Quoted(last)))
}
