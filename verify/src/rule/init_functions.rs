//! `init_cpu`, `init_cuda` and `init_rocm` exist, once each, public, with the signature that the
//! suite expects.
//!
//! ```text
//! pub fn init_rocm(target: &LoadTarget) -> Endpoint
//! ```
//!
//! Every harness has all three, whatever devices its spec names: a suite without `init_rocm` would
//! have no ROCm path at all. They have no attributes except documentation: `#[cfg]` could remove
//! them. Parameters may have other names.

use crate::{
    finding::Diagnostic,
    harness::ParsedHarness,
    signature::{self, Signature, SignatureType},
    vocabulary::init_name,
};
use testgen_types::DeviceKind;

const SIGNATURE: Signature = Signature {
    parameters: &[SignatureType::Borrowed("LoadTarget")],
    returns: SignatureType::Owned("Endpoint"),
    written: "(target: &LoadTarget) -> Endpoint",
};

/// Checks the three functions.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    DeviceKind::ALL
        .iter()
        .flat_map(|&device| one(harness, device))
        .collect()
}

fn one(harness: &ParsedHarness<'_>, device: DeviceKind) -> Vec<Diagnostic> {
    let name = init_name(device);
    let mut diagnostics = signature::defined_once(harness, &name, &SIGNATURE);
    let first = harness
        .functions
        .get(&name)
        .and_then(|functions| functions.first());
    let attributes = first.into_iter().flat_map(|function| &function.attrs);
    let message = format!("`{name}` has an attribute, which may remove or change it");
    diagnostics.extend(
        attributes
            .filter(|attribute| !attribute.path().is_ident("doc"))
            .map(|attribute| Diagnostic::at(attribute, message.as_str(), "remove it")),
    );
    diagnostics
}
