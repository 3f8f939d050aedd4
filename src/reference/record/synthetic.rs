//! Recording a checkpoint whose weights are computed: of a synthetic one the list of its tensors,
//! then the goldens of the weights that are made from it; of a quantized one the goldens of its
//! dequantized weights.
//!
//! Everything is recorded in a temporary directory of the cache, which has the weights. The files
//! without the weights are moved when all are complete, the golden last.

use super::{event::Content, process::Recorder, synthetic_weights::SyntheticWeights};
use crate::reference::python_program::PythonError;
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use testgen_base::atomic_file;

/// The files that are kept of a quantized checkpoint.
// The golden last: with it, a checkpoint counts as recorded.
const GOLDENS: [&str; 2] = ["answers.json", "golden.safetensors"];

/// The files that are kept of a synthetic one.
const RECORDED: [&str; 5] = [
    "config.json",
    "generation_config.json",
    testgen_checkpoints::FILE,
    GOLDENS[0],
    GOLDENS[1],
];

/// Records into `target`; `record` records a complete checkpoint in place.
pub(super) fn record_synthetic(
    recorder: &Recorder<'_>,
    weights: &SyntheticWeights,
    target: &Path,
    send: &(dyn Fn(Content) + Sync),
    record: impl FnOnce(&Path, &(dyn Fn(Content) + Sync)) -> Result<PathBuf, PythonError>,
) -> Result<PathBuf, PythonError> {
    refuse_recorded(recorder, target)?;
    let made = testgen_checkpoints::temporary()?;
    let send = |content| send(about(content, made.path(), target));
    // A billion parameters take 20 s.
    send(Content::weights());
    if recorder.options().answers {
        // All files are copied back at the end, and a missing one is then deleted from the target.
        copy_files(&RECORDED, target, made.path(), |path, content| {
            // No other process reads the temporary directory, so a plain write is enough.
            fs::write(path, content)
        })?;
    } else {
        let config = made.path().join("config.json");
        fs::write(&config, &weights.config).map_err(|source| file_error(&config, source))?;
        recorder.write_recipe(made.path(), weights, &send)?;
    }
    testgen_checkpoints::complete(made.path())?;
    let recorded = record(made.path(), &send)?;
    copy_files(&RECORDED, made.path(), target, atomic_file::replace)?;
    Ok(target.join(recorded.file_name().unwrap_or_default()))
}

/// As [`record_synthetic`] for a checkpoint that has its weights, which may be quantized.
pub(super) fn record_stored(
    recorder: &Recorder<'_>,
    target: &Path,
    send: &(dyn Fn(Content) + Sync),
    record: impl FnOnce(&Path, &(dyn Fn(Content) + Sync)) -> Result<PathBuf, PythonError>,
) -> Result<PathBuf, PythonError> {
    if !testgen_checkpoints::is_dequantized(target) {
        return record(target, send);
    }
    refuse_recorded(recorder, target)?;
    send(Content::weights());
    let made = testgen_checkpoints::dequantized(target)?;
    let send = |content| send(about(content, made.path(), target));
    let recorded = record(made.path(), &send)?;
    copy_files(&GOLDENS, made.path(), target, atomic_file::replace)?;
    Ok(target.join(recorded.file_name().unwrap_or_default()))
}

fn refuse_recorded(recorder: &Recorder<'_>, target: &Path) -> Result<(), PythonError> {
    let golden = target.join("golden.safetensors");
    let (force, answers) = (recorder.options().force, recorder.options().answers);
    // Before the weights are computed, because a golden is replaced only if the user says so.
    if golden.is_file() && !force && !answers {
        return Err(PythonError::Exists { path: golden });
    }
    Ok(())
}

/// A message that names `target` in place of the temporary directory.
fn about(content: Content, made: &Path, target: &Path) -> Content {
    let (made, target) = (made.display().to_string(), target.display().to_string());
    match content {
        Content::Message(line) => Content::Message(line.replace(&made, &target)),
        Content::Step { .. } | Content::Ended(_) => content,
    }
}

/// Copies the files that are kept, and deletes the files that are no longer there.
fn copy_files(
    names: &[&str],
    from: &Path,
    target: &Path,
    write: impl Fn(&Path, &[u8]) -> io::Result<()>,
) -> Result<(), PythonError> {
    for name in names {
        let (source, path) = (from.join(name), target.join(name));
        let copied = match fs::read(&source) {
            Ok(content) => write(&path, &content),
            // A file of an earlier recording must not stay beside the files of this one.
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => Ok(()),
            },
            Err(error) => Err(error),
        };
        copied.map_err(|source| file_error(&path, source))?;
    }
    Ok(())
}

fn file_error(path: &Path, source: io::Error) -> PythonError {
    PythonError::Recorded {
        path: path.to_owned(),
        source,
    }
}
