//! Engines that are processes: the built-in ones, and the engines of `TESTGEN_ENGINE_<NAME>`.

use super::{
    known_answer,
    options::ComputationOptions,
    outcome::{ComputationOutcome, EngineComputation, KnownOperation},
};
use std::env;
use testgen_base::text::shell_quote;
use testgen_device::{Device, DeviceKind};
use testgen_engine::{
    BUILT_IN, Build, DeviceClass, DeviceRequest, Engine, EngineCommand, EngineError, EngineName,
    PROGRAM_PREFIX, StartedEngine, TIMEOUT_VARIABLE, device_mismatch, python_program,
};

/// The native engine, the built-in ones, and the engines of the environment.
pub(super) fn installed() -> Vec<EngineName> {
    let built_in = BUILT_IN.map(|name| name.parse().expect("is the name of an engine"));
    let variables = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    // The time limit has the prefix, too.
    let named = variables
        .filter(|name| name != TIMEOUT_VARIABLE)
        .filter_map(|name| {
            // Names of engines are in lower case, and variables in upper case.
            let name = name.strip_prefix(PROGRAM_PREFIX)?.to_ascii_lowercase();
            name.parse().ok()
        });
    [EngineName::native()]
        .into_iter()
        .chain(built_in)
        .chain(named)
        .collect()
}

/// Computes on each device.
pub(super) fn compute(
    name: &EngineName,
    devices: &[&Device],
    options: &ComputationOptions,
) -> Vec<EngineComputation> {
    let mut found = Vec::new();
    for device in devices {
        let outcome = on_device(name, device, options);
        // An engine that is not installed is so for every device.
        let installed = !matches!(outcome, ComputationOutcome::NotInstalled { .. });
        found.push(EngineComputation {
            engine: name.to_string(),
            device: installed.then(|| device.label()),
            kind: device.kind,
            simulated: device.simulated,
            outcome,
        });
        if !installed {
            break;
        }
    }
    found
}

fn on_device(
    name: &EngineName,
    device: &Device,
    options: &ComputationOptions,
) -> ComputationOutcome {
    let request = DeviceRequest {
        kind: class(device.kind),
        index: device.index,
        uuid: device.uuid.clone(),
        pci_address: device.pci_address.clone(),
    };
    let command = match EngineCommand::with_python(name, options.python.as_deref()) {
        Ok(command) => command,
        Err(error) => return failed(&error),
    };
    let started = StartedEngine::start(command, name, options.limit);
    let engine = match started.and_then(|engine| engine.open(request.clone())) {
        Ok(engine) => engine,
        Err(error) => return not_started(name, &error, options),
    };
    // Before devices are compared: a fallback has another cause and fix than a wrong index.
    if request.kind != DeviceClass::Cpu && engine.device().kind == DeviceClass::Cpu {
        return fallback(&engine, request.kind, python_of(name, options));
    }
    if let Some(why) = device_mismatch(&request, engine.device()) {
        return ComputationOutcome::OtherDevice { why };
    }
    ComputationOutcome::Computed {
        operations: known_answer::all()
            .into_iter()
            .map(|known| KnownOperation {
                name: known.name.to_owned(),
                answer: known.ask(&engine),
            })
            .collect(),
        with: engine.describe_versions(),
    }
}

/// The Python of an engine that testgen contains, quoted for a shell; `None` for a program of the
/// user.
fn python_of(name: &EngineName, options: &ComputationOptions) -> Option<String> {
    let python = python_program(options.python.as_deref());
    // How another engine is started, and whether in Python, is not known here.
    EngineCommand::is_built_in(name).then(|| shell_quote(&python.to_string_lossy()))
}

fn failed(error: &dyn std::error::Error) -> ComputationOutcome {
    ComputationOutcome::Failed {
        why: error.to_string(),
    }
}

fn not_started(
    name: &EngineName,
    error: &EngineError,
    options: &ComputationOptions,
) -> ComputationOutcome {
    match error {
        // Built-in engines report a package that Python does not have, with the command that
        // installs it.
        EngineError::Unsupported { message } => match (
            message.split_once("; pip install "),
            python_of(name, options),
        ) {
            (Some((why, packages)), Some(python)) => ComputationOutcome::NotInstalled {
                why: why.to_owned(),
                fix: format!("{python} -m pip install {packages}, or --python PATH"),
            },
            _ => ComputationOutcome::Unsupported {
                why: message.clone(),
            },
        },
        // A program that a variable names and that is missing is a failure: the user asked for it.
        EngineError::Start { source, .. }
            if source.kind() == std::io::ErrorKind::NotFound
                && EngineCommand::is_built_in(name) =>
        {
            ComputationOutcome::NotInstalled {
                why: error.to_string(),
                fix: "sudo apt install python3, or --python PATH".to_owned(),
            }
        }
        error => failed(error),
    }
}

fn fallback(engine: &Engine, requested: DeviceClass, python: Option<String>) -> ComputationOutcome {
    let (build, kind) = match engine.build() {
        Build::Cpu => ("CPU", DeviceClass::Cpu),
        Build::Cuda => ("CUDA", DeviceClass::Cuda),
        Build::Hip => ("HIP", DeviceClass::Rocm),
    };
    let why = engine
        .why_another_device()
        .unwrap_or("it reports no reason")
        .to_owned();
    ComputationOutcome::Fallback {
        why,
        build,
        for_this_kind: kind == requested,
        python,
    }
}

fn class(kind: DeviceKind) -> DeviceClass {
    match kind {
        DeviceKind::Cpu => DeviceClass::Cpu,
        DeviceKind::Cuda => DeviceClass::Cuda,
        DeviceKind::Rocm => DeviceClass::Rocm,
    }
}
