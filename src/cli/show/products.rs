//! `testgen show products`: the matrix products of a model, before it is loaded.

use crate::{
    cli::{Out, checkpoint_argument::checkpoint},
    estimate::{EstimateOptions, products},
};
use clap::ValueEnum;
use std::{num::NonZeroU32, path::PathBuf};
use testgen_base::cli_error::Error;

/// Show the matrix products of a model, or a spec that checks and times them
///
/// Follows the layers of the type with tensors that have a shape and no elements, as `show memory`
/// does: loads nothing and needs no GPU. Lists the products of projections, of attention, and of
/// convolutions whose windows do not overlap. With `--format spec` it prints a spec of operators
/// with each of them, which `testgen bench` compares with float64 before it times them, on each
/// device and engine. Engines that fuse attention do not compute its products one by one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  testgen show products bert --batch 1,8 --tokens 128
  testgen show products bert --format spec > model_specs/operators/bert_products.yaml
  testgen bench --name bert_products --device rocm --engine native --engine torch

Exit codes: 0 shown; 2 wrong usage or input, for instance a type that has no estimate.")]
pub(super) struct ProductsArguments {
    /// Name of a spec, or directory of a checkpoint
    #[arg(value_name = "NAME|DIR")]
    target: PathBuf,
    /// Directory of the specs in which a name is looked up [default: `specs` of testgen.toml, else
    /// model_specs]
    #[arg(long, value_name = "DIR")]
    specs: Option<PathBuf>,
    /// Inputs that are computed together
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_value = "1")]
    batch: Vec<NonZeroU32>,
    /// Tokens of each input; with an encoder-decoder, of source and target each [default: 128, or
    /// all positions of a model that has fewer]
    #[arg(long, value_name = "COUNT", value_delimiter = ',')]
    tokens: Vec<NonZeroU32>,
    /// The output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ProductsFormat::Human)]
    format: ProductsFormat,
}

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProductsFormat {
    /// A table for people
    Human,
    /// A spec of operators
    Spec,
}

pub(super) fn run(arguments: &ProductsArguments, out: &mut Out) -> Result<(), Error> {
    let directory = checkpoint(&arguments.target, arguments.specs.as_deref())?;
    let found = products(&directory, &arguments.calls())?;
    let text = match arguments.format {
        ProductsFormat::Human => found.render_human(),
        ProductsFormat::Spec => found.render_spec(&arguments.spec_name()),
    };
    write!(out, "{text}")
}

impl ProductsArguments {
    /// A call for each batch and number of tokens.
    fn calls(&self) -> Vec<EstimateOptions> {
        let mut lengths: Vec<Option<u64>> = self
            .tokens
            .iter()
            .map(|tokens| Some(tokens.get().into()))
            .collect();
        if lengths.is_empty() {
            // The default length depends on the model, which is not read yet.
            lengths.push(None);
        }
        let calls = self.batch.iter().flat_map(|batch| {
            lengths.iter().map(|tokens| EstimateOptions {
                precisions: Vec::new(),
                batch: batch.get().into(),
                tokens: *tokens,
                image: None,
            })
        });
        calls.collect()
    }

    /// The name of the spec or directory, as far as names of specs may have its characters.
    fn spec_name(&self) -> String {
        let name = self
            .target
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let letters = name.chars().map(|c| match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9') => c,
            _ => '_',
        });
        let name: String = letters.collect();
        let start = if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            ""
        } else {
            "model_"
        };
        format!("{start}{name}_products")
    }
}
