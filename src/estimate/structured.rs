//! An estimate as JSON.

use super::{backend_name::name, fit::DeviceRoom, report::EstimateReport, row::EstimateRow};
use serde_json::{Map, Value, json};

/// One JSON object with a version; adding a field is compatible. All numbers of memory are bytes.
pub fn render_json(report: &EstimateReport) -> String {
    let tokens = report.reads_tokens.then_some(report.sizes.tokens);
    let value = json!({
        "version": 1,
        "checkpoint": report.directory,
        "model_type": report.model_type,
        "class": report.class,
        "batch": report.sizes.batch,
        "tokens": tokens,
        "image": report.image,
        "estimates": report.rows.iter().map(row).collect::<Vec<_>>(),
        "devices": report.rooms.iter().map(room).collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

fn row(
    EstimateRow {
        backend,
        precision,
        estimate,
    }: &EstimateRow,
) -> Value {
    json!({
        "backend": name(*backend),
        "precision": precision,
        "weights": estimate.weights,
        "cache": estimate.cache,
        "activations": estimate.activations,
        "workspace": estimate.workspace,
        "load": estimate.load,
        "total": estimate.total(),
    })
}

fn room(room: &DeviceRoom) -> Value {
    let (free, total) = room.free_and_total.unzip();
    let fits: Map<String, Value> = room
        .fits
        .iter()
        .map(|(precision, fit)| (precision.to_string(), fit.as_str().into()))
        .collect();
    json!({
        "device": room.label,
        "name": room.name,
        "simulated": room.simulated,
        "free": free,
        "total": total,
        "fits": fits,
    })
}
