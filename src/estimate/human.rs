//! An estimate as tables.

use super::{backend_name::name, report::EstimateReport, row::EstimateRow};
use testgen_base::text::{Align, Table};

/// The estimates, and the devices below them.
pub fn render_human(report: &EstimateReport) -> String {
    let sizes = report.sizes;
    let call = match report.reads_tokens {
        true => format!(
            "batch {}, {} {}",
            sizes.batch, sizes.tokens, report.token_unit
        ),
        false => format!("batch {}", sizes.batch),
    };
    let images = report.image.map_or(String::new(), |[height, width]| {
        format!(", images of {height} x {width}")
    });
    let (class, model_type) = (&report.class, &report.model_type);
    format!(
        "{class} ({model_type}), {call}{images}; MiB\n\n{}\n{}",
        estimates(&report.rows),
        devices(report)
    )
}

fn estimates(rows: &[EstimateRow]) -> Table {
    const RIGHT: [&str; 6] = [
        "weights",
        "cache",
        "activations",
        "workspace",
        "load",
        "total",
    ];
    let left = ["backend", "precision"].map(|name| (name, Align::Left));
    let columns: Vec<_> = left
        .into_iter()
        .chain(RIGHT.map(|name| (name, Align::Right)))
        .collect();
    let mut table = Table::new(&columns);
    for EstimateRow {
        backend,
        precision,
        estimate,
    } in rows
    {
        let parts = [
            estimate.weights,
            estimate.cache,
            estimate.activations,
            estimate.workspace,
            estimate.load,
            estimate.total(),
        ];
        let names = [name(*backend).to_owned(), precision.to_string()];
        table.push(names.into_iter().chain(parts.map(mebibytes)));
    }
    table
}

fn devices(report: &EstimateReport) -> Table {
    let columns = [
        ("device", Align::Left),
        ("name", Align::Left),
        ("free", Align::Right),
        ("total", Align::Right),
        ("fits", Align::Left),
    ];
    let mut table = Table::new(&columns);
    for room in &report.rooms {
        let (free, total) = room.free_and_total.unzip();
        let fits: Vec<String> = room
            .fits
            .iter()
            .map(|(precision, fit)| format!("{precision}: {}", fit.as_str()))
            .collect();
        let simulated = if room.simulated { " (simulated)" } else { "" };
        let name = format!("{}{simulated}", room.name);
        table.push([
            room.label.clone(),
            name,
            mebibytes_or_unknown(free),
            mebibytes_or_unknown(total),
            fits.join(", "),
        ]);
    }
    table
}

fn mebibytes_or_unknown(bytes: Option<u64>) -> String {
    bytes.map_or("unknown".to_owned(), mebibytes)
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 20))
}
