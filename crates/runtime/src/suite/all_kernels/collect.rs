//! The products of the selected models: of every check that runs on the device, as the suite runs
//! it.

use super::super::{environment::Environment, trial};
use crate::harness::Harness;
use std::collections::BTreeMap;
use testgen_engine::EngineName;
use testgen_gpu::{Product, record_products};
use testgen_types::{Check, DeviceKind, EntryStatus, Precision, Registration};

/// The models with the kinds of devices that they run on.
pub(super) struct Selected(Vec<(&'static Harness, DeviceKind)>);

/// A product that a model computes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RecordedProduct {
    pub(super) product: Product,
    /// The first model that computed it.
    pub(super) model: &'static str,
    /// The check in which it did.
    pub(super) check: Check,
    /// Whether it is laid out as one head, which no model computed.
    pub(super) one_head: bool,
}

impl Selected {
    /// Reads `<architecture>::<model>::<device>`, separated by commas.
    pub(super) fn parse(text: &str, harnesses: &[&'static Harness]) -> Result<Self, String> {
        let entries = text
            .split(',')
            .filter(|entry| !entry.is_empty())
            .map(|entry| {
                let found = entry.rsplit_once("::").and_then(|(model, device)| {
                    Some((
                        *harnesses.iter().find(|harness| {
                            format!("{}::{}", harness.spec.architecture, harness.spec.name) == model
                        })?,
                        device.parse().ok()?,
                    ))
                });
                found.ok_or_else(|| format!("`{entry}` is not a model of this suite with a device"))
            });
        entries.collect::<Result<_, _>>().map(Self)
    }

    /// Whether a model is selected on a kind of device.
    pub(super) fn has(&self, kind: DeviceKind) -> bool {
        self.0.iter().any(|(_, device)| *device == kind)
    }
}

/// Runs the checks of the models on the device, and returns their products in each type of their
/// specs, each once, and the same products as one head has them.
pub(super) fn products(
    kind: DeviceKind,
    selected: &Selected,
    environment: &Environment,
) -> Result<Vec<RecordedProduct>, String> {
    let mut found: BTreeMap<Product, RecordedProduct> = BTreeMap::new();
    for (harness, _) in selected.0.iter().filter(|(_, device)| *device == kind) {
        for registration in harness
            .required()
            .into_iter()
            .filter(|registration| runs(harness, *registration, kind))
        {
            record(harness, registration, environment, &mut found)?;
        }
    }
    if found.is_empty() {
        return Err(format!(
            "the selected models computed no matrix product on {kind}"
        ));
    }
    let one_head: Vec<RecordedProduct> = found.values().filter_map(with_one_head).collect();
    for recorded in one_head {
        // A layout that a model computes itself stays the model's.
        found.entry(recorded.product.clone()).or_insert(recorded);
    }
    Ok(found.into_values().collect())
}

fn runs(harness: &Harness, registration: Registration, kind: DeviceKind) -> bool {
    // A check on request has products of gigabytes.
    let computes = registration.check.is_numeric() && !registration.check.is_on_request();
    registration.device == kind && computes && harness.skip_reason(registration).is_none()
}

fn with_one_head(recorded: &RecordedProduct) -> Option<RecordedProduct> {
    // Models avoid this layout, because tensor-map kernels are wrong on it.
    Some(RecordedProduct {
        product: recorded.product.with_one_head()?,
        one_head: true,
        ..*recorded
    })
}

fn record(
    harness: &'static Harness,
    registration: Registration,
    environment: &Environment,
    found: &mut BTreeMap<Product, RecordedProduct>,
) -> Result<(), String> {
    let context = environment.context(harness, registration.device, EngineName::native());
    let ((entry, _), products) =
        record_products(|| trial::run(harness, registration, &environment.base, &context));
    // Its products may be incomplete, so that some would be missing without a notice.
    if entry.status == EntryStatus::Fail {
        let reason = entry.reason.clone().unwrap_or_default();
        return Err(format!(
            "`{}` fails, so its products are not known: {reason}",
            entry.test_name()
        ));
    }
    let (model, check) = (harness.spec.name, registration.check);
    for product in products
        .into_iter()
        .flat_map(|product| in_types(product, harness.spec.precisions))
    {
        // The first model keeps it: each product is computed once.
        found.entry(product.clone()).or_insert(RecordedProduct {
            product,
            model,
            check,
            one_head: false,
        });
    }
    Ok(())
}

/// The product in each type of the spec: most checks run in f32, but a request in 16 bits has the
/// same sizes.
fn in_types(product: Product, precisions: &[Precision]) -> Vec<Product> {
    // Of f32 products, the record contains the ones that may be computed in TF32.
    let others = precisions
        .iter()
        .copied()
        .filter(|precision| *precision != Precision::Tf32);
    let others = others.filter(|precision| *precision != product.precision.storage());
    let mut products: Vec<Product> = others
        .map(|precision| Product {
            precision,
            ..product.clone()
        })
        .collect();
    products.push(product);
    products
}

#[cfg(test)]
mod tests {
    use super::{Precision, Product, in_types};
    use testgen_gpu::Factor;

    #[test]
    fn a_product_is_computed_in_the_types_of_the_spec() {
        let factor = Factor::contiguous(vec![2, 2]);
        let product = Product {
            left: factor.clone(),
            right: factor,
            precision: Precision::Tf32,
        };
        let types = |precisions: &[Precision]| -> Vec<Precision> {
            in_types(product.clone(), precisions)
                .iter()
                .map(|product| product.precision)
                .collect()
        };
        assert_eq!(types(&[Precision::F32, Precision::Tf32]), [Precision::Tf32]);
        let all = [Precision::F16, Precision::Bf16, Precision::Tf32];
        assert_eq!(
            types(&[Precision::F32, Precision::F16, Precision::Bf16]),
            all
        );
    }
}
