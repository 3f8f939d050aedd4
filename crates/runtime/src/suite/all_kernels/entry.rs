//! The lines of the report.

use super::{collect::RecordedProduct, protocol::KernelResult, worker::gpu};
use crate::open::OpenDevice;
use testgen_gpu::{Factor, GpuDevice, kernel_by_rule};
use testgen_kernels::{Candidate, arithmetic};
use testgen_types::{FactorLayout, HardwareInfo, KernelEntry};

/// The device, the products and the kernels of the results.
pub(super) struct Examined<'a> {
    device: &'a OpenDevice,
    gpu: GpuDevice,
    products: &'a [RecordedProduct],
    candidates: Vec<Candidate>,
}

impl<'a> Examined<'a> {
    pub(super) fn new(
        device: &'a OpenDevice,
        products: &'a [RecordedProduct],
    ) -> Result<Self, String> {
        Ok(Self {
            device,
            gpu: gpu(device)?,
            products,
            candidates: Candidate::all(),
        })
    }

    pub(super) fn entry(&self, found: KernelResult) -> Result<KernelEntry, String> {
        let RecordedProduct {
            product,
            model,
            check,
            one_head,
        } = self
            .products
            .get(found.product)
            .ok_or("a worker answered for an unknown product")?;
        let candidate = self
            .candidates
            .get(found.kernel)
            .ok_or("a worker named an unknown kernel")?;
        let facts = self.device.facts();
        let kernel = candidate.name();
        Ok(KernelEntry {
            version: KernelEntry::VERSION,
            // Models compute it with another layout, so no check depends on the choice.
            chosen: !one_head && kernel == kernel_by_rule(product, self.gpu),
            kernel,
            device: facts.kind,
            device_name: facts.name.clone(),
            hardware: HardwareInfo {
                architecture: facts.architecture.clone(),
                path: Some(facts.path.to_string()),
                driver_version: facts.driver_version.clone(),
                runtime_version: facts.runtime_version.clone(),
                pci_address: facts.pci_address.clone(),
                uuid: facts.uuid.clone(),
            },
            simulated: facts.simulated,
            precision: arithmetic(candidate, product, self.gpu),
            left: layout(&product.left),
            right: layout(&product.right),
            outcome: found.outcome,
            headroom: found.headroom,
            reason: found.reason,
            model: (*model).to_owned(),
            check: *check,
            one_head: *one_head,
        })
    }
}

fn layout(factor: &Factor) -> FactorLayout {
    FactorLayout {
        shape: factor.shape.clone(),
        strides: factor.strides.clone(),
    }
}
