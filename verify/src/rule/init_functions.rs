//! `init_cpu`, `init_cuda` and `init_rocm` are there, once each, public, and take and return what the suite expects.
//!
//! ```text
//! pub fn init_rocm(checkpoint: &Checkpoint, request: &DeviceRequest, label: &str) -> Endpoint
//! ```
//!
//! All three stand in every harness, whatever devices its spec names: a suite without `init_rocm` would have no ROCm path at
//! all. They carry no attribute but documentation: `#[cfg]` could remove them. Parameters may have other names.

use crate::{
    finding::Remark,
    harness::{Harness, init_name},
    signature::{self, Shape},
};
use testgen_contract::DeviceKind;

const PARAMETERS: [Shape; 3] = [Shape::Borrowed("Checkpoint"), Shape::Borrowed("DeviceRequest"), Shape::Text];
const WRITTEN: &str = "(checkpoint: &Checkpoint, request: &DeviceRequest, label: &str) -> Endpoint";

/// Looks for the three functions.
pub(crate) fn check(harness: &Harness<'_>) -> Vec<Remark> {
    DeviceKind::ALL.iter().flat_map(|&device| one(harness, device)).collect()
}

fn one(harness: &Harness<'_>, device: DeviceKind) -> Vec<Remark> {
    let name = init_name(device);
    let functions = harness.functions.get(&name).map(Vec::as_slice).unwrap_or_default();
    let [first, rest @ ..] = functions else {
        let help = format!("write `pub fn {name}{WRITTEN}`");
        return vec![Remark::top(format!("the file has no function `{name}`"), help)];
    };
    let mut remarks = signature::remarks(&harness.names, first, &PARAMETERS, WRITTEN);
    let attributes = first.attrs.iter().filter(|attribute| !attribute.path().is_ident("doc"));
    let message = format!("`{name}` has an attribute, which may remove or change it");
    remarks.extend(attributes.map(|attribute| Remark::at(attribute, message.as_str(), "remove it")));
    let twice = format!("`{name}` is defined twice");
    remarks.extend(rest.iter().map(|function| Remark::at(&function.sig.ident, twice.as_str(), "keep one of them")));
    remarks
}
