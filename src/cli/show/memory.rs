//! `testgen show memory`: an estimate of the memory of a model, before it is loaded.

use crate::{
    cli::{Out, checkpoint_argument::checkpoint, text_format::TextFormat},
    estimate::{EstimateOptions, estimate, render_human, render_json},
};
use std::{num::NonZeroU32, path::PathBuf};
use testgen_base::cli_error::Error;
use testgen_device::{System, inventory};
use testgen_types::Precision;

/// Show the memory that a model needs, estimated: weights, cache, activations, workspace
///
/// Reads config.json and the headers of the safetensors files, loads nothing and needs no GPU.
/// Estimates one call that reads a batch of inputs at once, and keeps keys and values if the type
/// generates text, as the suite computes it on the CPU and on GPUs. Compares the total with the
/// memory of every usable device of this machine. docs/memory.md lists the types and the measured
/// differences.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen show memory llama                            the checkpoint of the spec `llama`, in f32, f16 and bf16
  testgen show memory ~/models/Llama-3.2-1B --tokens 4096 --batch 8
  testgen show memory resnet_basic --image 480x640 --batch 32
  testgen show memory bert --precision bf16 --format json bytes for a script, with a version

Exit codes: 0 estimated; 2 wrong usage or input, for instance a type that has no estimate.")]
pub(super) struct MemoryArguments {
    /// Name of a spec, or directory of a checkpoint
    #[arg(value_name = "NAME|DIR")]
    target: PathBuf,
    /// Directory of the specs in which a name is looked up [default: `specs` of testgen.toml, else
    /// model_specs]
    #[arg(long, value_name = "DIR")]
    specs: Option<PathBuf>,
    /// Only these precisions: f32, tf32, f16, bf16
    #[arg(long, value_name = "PRECISION", value_delimiter = ',')]
    precision: Vec<Precision>,
    /// Inputs that are computed together
    #[arg(long, value_name = "COUNT", default_value = "1")]
    batch: NonZeroU32,
    /// Tokens of each input; with an encoder-decoder, of source and target each [default: 128, or
    /// all positions of a model that has fewer]
    #[arg(long, value_name = "COUNT")]
    tokens: Option<NonZeroU32>,
    /// Height and width of images, or of latents, of a type that reads any size [default: the size
    /// in the checkpoint, else 224x224]
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = sides)]
    image: Option<[u64; 2]>,
    /// The output format; JSON is one object with a version
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = TextFormat::Human)]
    format: TextFormat,
}

pub(super) fn run(arguments: &MemoryArguments, out: &mut Out) -> Result<(), Error> {
    let directory = checkpoint(&arguments.target, arguments.specs.as_deref())?;
    let options = EstimateOptions {
        precisions: arguments.precision.clone(),
        batch: arguments.batch.get().into(),
        tokens: arguments.tokens.map(|tokens| tokens.get().into()),
        image: arguments.image,
    };
    let report = estimate(&directory, &options, &inventory(&System::host()).devices)?;
    let text = match arguments.format {
        TextFormat::Human => render_human(&report),
        TextFormat::Json => render_json(&report),
    };
    write!(out, "{text}")
}

/// Two positive numbers with an `x` between them.
fn sides(text: &str) -> Result<[u64; 2], String> {
    text.split_once('x')
        .and_then(|(height, width)| Some([side(height)?, side(width)?]))
        .map(|sides| sides.map(|side| side.get().into()))
        .ok_or_else(|| "expected a height and a width, as in `480x640`".to_owned())
}

fn side(text: &str) -> Option<NonZeroU32> {
    text.parse().ok()
}
