//! Estimates of the memory of models, and the devices of this machine that have it.
//!
//! Owns: which estimates are made, whether they fit, and how they are written. Does not own: the
//! estimates (`testgen-estimate`).

mod backend_name;
mod fit;
mod human;
mod products;
mod report;
mod row;
mod structured;

pub use fit::{DeviceRoom, Fit};
pub use human::render_human;
pub use products::{ModelProducts, products};
pub use report::{EstimateOptions, EstimateReport};
pub use row::EstimateRow;
pub use structured::render_json;

use std::path::Path;
use testgen_base::cli_error::CliError;
use testgen_device::{Device, EngineKind, memory};
use testgen_estimate::{Backend, CallSizes, CheckpointHeaders, EstimateError};
use testgen_types::{DeviceKind, Precision};

/// Estimates the checkpoint in `directory` on the CPU and on GPUs, and compares with `devices`.
///
/// # Errors
///
/// When the checkpoint cannot be read, or when its type or class has no estimate.
pub fn estimate(
    directory: &Path,
    options: &EstimateOptions,
    devices: &[Device],
) -> Result<EstimateReport, NoEstimate> {
    let checkpoint = headers(directory, options)?;
    let sizes = sizes(&checkpoint, options)?;
    let precisions: Vec<Precision> = Precision::ALL
        .iter()
        .copied()
        .filter(|precision| match options.precisions.is_empty() {
            // TF32 takes the memory of f32.
            true => *precision != Precision::Tf32,
            false => options.precisions.contains(precision),
        })
        .collect();
    let mut rows = Vec::new();
    for backend in [Backend::Host, Backend::Gpu] {
        for precision in precisions
            .iter()
            // One row for all GPUs: whether a device has the precision is decided for each device.
            .filter(|precision| backend == Backend::Gpu || precision.applies_on(DeviceKind::Cpu))
            .copied()
        {
            rows.push(EstimateRow {
                backend,
                precision,
                estimate: checkpoint.estimate(backend, precision, sizes)?,
            });
        }
    }
    let rooms = devices
        .iter()
        // A device that burn cannot use has no room, however much memory it has.
        .filter(|device| device.unusable_by(EngineKind::Native).is_none())
        .map(|device| DeviceRoom::new(device, memory(device), &rows));
    Ok(EstimateReport {
        directory: directory.to_owned(),
        model_type: checkpoint.model_type().to_string(),
        class: checkpoint.class().to_owned(),
        sizes,
        reads_tokens: checkpoint.reads_tokens(),
        token_unit: checkpoint.token_unit(),
        // Zeros for a type without images, or with images of one size.
        image: Some(checkpoint.image_size()).filter(|image| *image != [0; 2]),
        rooms: rooms.collect(),
        rows,
    })
}

/// The checkpoint, for images of the size in the options if they have one.
fn headers(
    directory: &Path,
    options: &EstimateOptions,
) -> Result<CheckpointHeaders, EstimateError> {
    let checkpoint = CheckpointHeaders::read(directory)?;
    match options.image {
        Some(image) => checkpoint.with_image_size(image),
        None => Ok(checkpoint),
    }
}

/// The tokens where none are given.
const TOKENS: u64 = 128;

/// The sizes of the call; a default number of tokens is within the positions of the model.
fn sizes(
    checkpoint: &CheckpointHeaders,
    options: &EstimateOptions,
) -> Result<CallSizes, EstimateError> {
    let given = CallSizes {
        batch: options.batch,
        tokens: options.tokens.unwrap_or(TOKENS),
    };
    // On the host in f32, because the limit of tokens is the same everywhere.
    match checkpoint.estimate(Backend::Host, Precision::F32, given) {
        Err(EstimateError::TooLong { limit, .. }) if options.tokens.is_none() => Ok(CallSizes {
            tokens: limit,
            ..given
        }),
        Err(error) => Err(error),
        Ok(_) => Ok(given),
    }
}

/// A checkpoint that has no estimate.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct NoEstimate(#[from] EstimateError);

impl CliError for NoEstimate {
    fn help(&self) -> Option<String> {
        match &self.0 {
            EstimateError::NoEstimate(_) | EstimateError::NoClass(_) => {
                Some("docs/memory.md lists the types and classes that have an estimate".to_owned())
            }
            EstimateError::TooLong { limit, .. } | EstimateError::TooManyTokens { limit, .. } => {
                Some(format!("use `--tokens {limit}` or fewer"))
            }
            EstimateError::Quantized(quantized) => Some(quantized.remedy()),
            EstimateError::UnknownType(_) => {
                Some("`testgen show models` lists the known types".to_owned())
            }
            EstimateError::OneImageSize(_) => Some("leave out `--image`".to_owned()),
            EstimateError::File(_)
            | EstimateError::ImageSide { .. }
            | EstimateError::Invalid { .. }
            | EstimateError::NoWeights { .. }
            | EstimateError::Field { .. } => None,
        }
    }
}
