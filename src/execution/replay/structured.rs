//! A replay as JSON.

use super::Replay;
use serde::Serialize;
use std::path::Path;
use testgen_operators::calls::{LaunchedKernel, Repetition, WorstOf};

/// The version of this form.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct ReplayForm<'a> {
    version: u32,
    case: &'a str,
    correct: bool,
    device_name: &'a str,
    simulated: bool,
    repetition: Repetition,
    blocking: Option<Repetition>,
    failure: Option<&'a str>,
    differing: Option<usize>,
    elements: usize,
    worst: Option<&'a WorstOf>,
    kernels: &'a [LaunchedKernel],
    reduced: Option<ReducedForm<'a>>,
}

#[derive(Serialize)]
struct ReducedForm<'a> {
    file: &'a Path,
    shapes: Vec<&'a [usize]>,
    runs: usize,
    incomplete: bool,
}

/// One JSON object with a version.
pub fn render_json(replay: &Replay) -> String {
    let replayed = &replay.replayed;
    let reduced = replayed
        .reduced
        .as_ref()
        .zip(replay.reduced.as_deref())
        .map(|(reduced, file)| ReducedForm {
            file,
            shapes: reduced
                .failed
                .call
                .inputs
                .iter()
                .map(|input| input.tensor.shape.as_slice())
                .collect(),
            runs: reduced.runs,
            incomplete: reduced.incomplete,
        });
    let form = ReplayForm {
        version: VERSION,
        case: &replay.failed.case,
        correct: replay.is_correct(),
        device_name: &replayed.device_name,
        simulated: replayed.simulated,
        repetition: replayed.repetition,
        blocking: replayed.blocking,
        failure: replayed.failure.as_deref(),
        differing: replayed.differing,
        elements: replayed.elements,
        worst: replayed.worst.as_ref(),
        kernels: &replayed.kernels,
        reduced,
    };
    serde_json::to_string_pretty(&form).expect("a replay has string keys only") + "\n"
}
