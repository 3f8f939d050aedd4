//! The matrix products of a model as a table, and as a spec that checks and times them.

use super::{EstimateOptions, NoEstimate, sizes};
use std::{collections::BTreeMap, fmt::Write, path::Path};
use testgen_base::text::{Align, Table};
use testgen_estimate::{CheckpointHeaders, MatrixProduct};

/// The matrix products of forward calls, by the sizes of the call.
#[derive(Debug)]
pub struct ModelProducts {
    /// Batch and tokens of a call, with its products and their numbers.
    pub calls: Vec<([u64; 2], BTreeMap<MatrixProduct, u64>)>,
    /// Whether the number of tokens counts.
    pub reads_tokens: bool,
    /// The name of what is counted as tokens.
    pub token_unit: &'static str,
}

/// The products of the checkpoint in `directory`, of a call for each of `options`.
///
/// # Errors
///
/// When the checkpoint cannot be read, or when its type or class has no estimate.
pub fn products(
    directory: &Path,
    options: &[EstimateOptions],
) -> Result<ModelProducts, NoEstimate> {
    let checkpoint = CheckpointHeaders::read(directory)?;
    let mut calls = Vec::new();
    for options in options {
        let sizes = sizes(&checkpoint, options)?;
        calls.push(([sizes.batch, sizes.tokens], checkpoint.products(sizes)?));
    }
    Ok(ModelProducts {
        calls,
        reads_tokens: checkpoint.reads_tokens(),
        token_unit: checkpoint.token_unit(),
    })
}

impl ModelProducts {
    /// A table: sizes, how often a product occurs, and its part of the multiplications.
    pub fn render_human(&self) -> String {
        let mut text = String::new();
        for ([batch, tokens], products) in &self.calls {
            let tokens = match self.reads_tokens {
                true => format!(" x {tokens} {}", self.token_unit),
                false => String::new(),
            };
            let _ = writeln!(text, "{batch}{tokens}\n\n{}", table(products));
        }
        text
    }

    /// A spec of operators with each product once: `matmul` for projections, `batch_matmul` for
    /// products of several matrices.
    pub fn render_spec(&self, name: &str) -> String {
        let all = self.calls.iter().flat_map(|(_, products)| products.keys());
        // Calls of different sizes may share a product, which the spec lists once.
        let all: BTreeMap<MatrixProduct, ()> = all.map(|product| (*product, ())).collect();
        // `matmul` of a spec has three sizes, without a batch.
        let (single, several): (Vec<_>, Vec<_>) =
            all.into_keys().partition(|product| product.batch == 1);
        let mut operators = String::new();
        if !single.is_empty() {
            let shapes = single
                .iter()
                .map(|it| format!("{:?}", [it.rows, it.inner, it.columns]));
            let _ = writeln!(operators, "  matmul: [{}]", joined(shapes));
        }
        if !several.is_empty() {
            let shapes = several
                .iter()
                .map(|it| format!("{:?}", [it.batch, it.rows, it.inner, it.columns]));
            let _ = writeln!(operators, "  batch_matmul: [{}]", joined(shapes));
        }
        format!(
            "# The matrix products of a model, from `testgen show products`.\n\
             name: {name}\n\
             architecture: operators\n\
             task: operator_evaluation\n\
             operators:\n\
             {operators}\
             devices: [cpu, cuda, rocm]\n\
             precisions: [f32, tf32, f16, bf16]\n"
        )
    }
}

fn table(products: &BTreeMap<MatrixProduct, u64>) -> Table {
    let names = [
        "batch", "rows", "inner", "columns", "number", "GFLOP", "part",
    ];
    let mut table = Table::new(&names.map(|name| (name, Align::Right)));
    let work =
        |product: &MatrixProduct, number: u64| product.multiplications() as f64 * number as f64;
    let all: f64 = products
        .iter()
        .map(|(product, number)| work(product, *number))
        .sum();
    for (product, number) in products {
        let work = work(product, *number);
        let sizes = [
            product.batch,
            product.rows,
            product.inner,
            product.columns,
            *number,
        ];
        let work = [
            // Operations: each product is a multiplication and an addition.
            format!("{:.3}", 2.0 * work / 1e9),
            format!("{:.1} %", 100.0 * work / all),
        ];
        table.push(sizes.map(|size| size.to_string()).into_iter().chain(work));
    }
    table
}

fn joined(shapes: impl Iterator<Item = String>) -> String {
    shapes.collect::<Vec<_>>().join(", ")
}
