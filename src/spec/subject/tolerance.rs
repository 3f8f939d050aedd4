//! The key `tolerance`: thresholds of a model for which the table does not fit.

use crate::spec::{
    fields::{LONGEST_REASON, SpecDecoder, required_text, required_variant},
    schema,
    tree::Node,
};
use schemars::JsonSchema;
use serde::Serialize;
use testgen_types::Precision;

const KEYS: &[&str] = &["output", "precision", "rel_l2", "max_rel", "reason"];

/// A tolerance of this model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ToleranceSpec {
    /// The output to which it applies, for instance `logits`.
    pub output: String,
    /// The precision to which it applies.
    #[schemars(schema_with = "schema::precision")]
    pub precision: Precision,
    /// The largest |d| / |ref| over the tensor. Above 0, at most 1.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub rel_l2: f64,
    /// The largest max |d| / max |ref|. Above 0, at most 1.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub max_rel: f64,
    /// Why the table does not fit; the report shows it.
    pub reason: String,
}

/// The tolerances, no two of them for one output and precision.
pub(super) fn tolerances(
    decoder: &mut SpecDecoder,
    node: &Node,
    precisions: Option<&[Precision]>,
) -> Vec<ToleranceSpec> {
    let mut tolerances: Vec<ToleranceSpec> = Vec::new();
    for (path, item) in decoder.items(node, "tolerance") {
        let Some(tolerance) = tolerance(decoder, item, &path, precisions) else {
            continue;
        };
        // Otherwise the order in the file would decide which of the two counts.
        if tolerances
            .iter()
            .any(|other| other.output == tolerance.output && other.precision == tolerance.precision)
        {
            let message = format!(
                "`{path}` is the second tolerance for this output in `{}`",
                tolerance.precision
            );
            decoder.complain(item, message, None);
        }
        tolerances.push(tolerance);
    }
    tolerances
}

fn tolerance(
    decoder: &mut SpecDecoder,
    node: &Node,
    path: &str,
    precisions: Option<&[Precision]>,
) -> Option<ToleranceSpec> {
    let fields = decoder.mapping(node, path, KEYS, KEYS)?;
    let output = required_text(decoder, &fields, "output", 100);
    let precision = required_variant::<Precision>(decoder, &fields, "precision");
    let rel_l2 = fields
        .optional("rel_l2")
        .and_then(|node| decoder.fraction(node, &fields.key("rel_l2")));
    let max_rel = fields
        .optional("max_rel")
        .and_then(|node| decoder.fraction(node, &fields.key("max_rel")));
    let reason = required_text(decoder, &fields, "reason", LONGEST_REASON);
    // After all keys, so that every wrong one is reported.
    let precision = precision?;
    if let Some((precisions, node)) = precisions.zip(fields.optional("precision"))
        && !precisions.contains(&precision)
    {
        decoder.complain(
            node,
            format!("the spec does not name the precision `{precision}`"),
            None,
        );
    }
    Some(ToleranceSpec {
        output: output?,
        precision,
        rel_l2: rel_l2?,
        max_rel: max_rel?,
        reason: reason?,
    })
}
