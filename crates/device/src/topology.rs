//! The kernel's own lists of GPUs, used to cross-check the lists of the libraries.
//!
//! Never a source of devices: a GPU that only the kernel lists cannot be opened.

mod kfd;

use crate::system::System;
use crate::vendor::Vendor;
use serde::Serialize;

pub use kfd::KfdGpu;

/// A display or compute controller on the PCI bus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PciGpu {
    /// `0000:03:00.0`.
    pub address: String,
    /// Its vendor.
    pub vendor: Vendor,
    /// The kernel driver bound to it: `amdgpu`, `nvidia`, `vfio-pci`.
    pub driver: Option<String>,
}

/// NVIDIA's kernel module, from `/proc/driver/nvidia`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NvidiaModule {
    /// `580.159.04`.
    pub version: Option<String>,
    /// PCI addresses of its GPUs.
    pub gpus: Vec<String>,
}

/// The kernel's lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Topology {
    /// GPUs of `/sys/class/kfd/kfd/topology/nodes`; `None` when the kernel has no such list.
    pub kfd: Option<Vec<KfdGpu>>,
    /// Nodes of that list that this process may not read: a container's device filter hides them.
    pub hidden_kfd_nodes: u32,
    /// AMD's and NVIDIA's controllers on the PCI bus.
    pub pci: Vec<PciGpu>,
    /// NVIDIA's kernel module, when it is loaded.
    pub nvidia: Option<NvidiaModule>,
    /// The version of the `amdgpu` module; only the out-of-tree module (DKMS) has one.
    pub amdgpu_version: Option<String>,
}

impl Topology {
    /// The vendor of the GPU at a PCI address; `None` when the kernel does not list it.
    pub fn vendor_at(&self, address: &str) -> Option<Vendor> {
        self.pci
            .iter()
            .find(|gpu| gpu.address.eq_ignore_ascii_case(address))
            .map(|gpu| gpu.vendor)
    }

    /// Whether the kernel lists a GPU of this vendor, in any list.
    pub fn has(&self, vendor: Vendor) -> bool {
        self.pci.iter().any(|gpu| gpu.vendor == vendor)
            || match vendor {
                Vendor::Amd => self.kfd.as_ref().is_some_and(|gpus| !gpus.is_empty()),
                Vendor::Nvidia => self.nvidia.is_some(),
            }
    }

    /// The kernel's GPUs of this vendor, to append to a reason:
    /// `; the kernel lists 1 AMD GPU (gfx1100 at 0000:03:00.0)`.
    pub(crate) fn kernel_evidence(&self, vendor: Vendor) -> String {
        let mut gpus: Vec<String> = self
            .pci
            .iter()
            .filter(|gpu| gpu.vendor == vendor)
            .map(|gpu| gpu.address.clone())
            .collect();
        if vendor == Vendor::Amd {
            // Each GPU once, as the compute list describes it, which knows the architecture.
            gpus.retain(|address| {
                !self
                    .kfd_gpus()
                    .any(|gpu| gpu.pci_address.as_ref() == Some(address))
            });
            gpus.extend(self.kfd_gpus().map(KfdGpu::describe));
        } else if let Some(module) = &self.nvidia {
            gpus.extend(
                module
                    .gpus
                    .iter()
                    .filter(|address| self.vendor_at(address).is_none())
                    .cloned(),
            );
        }
        match gpus.len() {
            0 => String::new(),
            1 => format!("; the kernel lists 1 {} GPU ({})", vendor.as_str(), gpus[0]),
            count => format!(
                "; the kernel lists {count} {} GPUs ({})",
                vendor.as_str(),
                gpus.join(", ")
            ),
        }
    }

    pub(crate) fn kfd_gpus(&self) -> impl Iterator<Item = &KfdGpu> {
        self.kfd.iter().flatten()
    }
}

/// Reads the kernel's lists. Entries that cannot be read are omitted.
pub fn kernel_topology(system: &System) -> Topology {
    let (kfd, hidden_kfd_nodes) = kfd::gpus(system);
    Topology {
        kfd,
        hidden_kfd_nodes,
        pci: pci_gpus(system),
        nvidia: nvidia_module(system),
        amdgpu_version: system.read("/sys/module/amdgpu/version"),
    }
}

fn pci_gpus(system: &System) -> Vec<PciGpu> {
    let mut gpus: Vec<PciGpu> = system
        .list("/sys/bus/pci/devices")
        .iter()
        .filter_map(|address| pci_gpu(system, address))
        .collect();
    gpus.extend(drm_gpus(system));
    // On a host both lists have the same GPUs.
    gpus.sort_by(|a, b| a.address.cmp(&b.address));
    gpus.dedup_by(|a, b| a.address == b.address);
    gpus
}

/// Of the PCI base classes, 03 is a display controller and 12 a processing accelerator (MI300X).
fn pci_gpu(system: &System, address: &str) -> Option<PciGpu> {
    let directory = format!("/sys/bus/pci/devices/{address}");
    let number = |file: &str| parse_hex(&system.read(format!("{directory}/{file}"))?);
    let class = number("class")?;
    let vendor = Vendor::of_pci_id(number("vendor")?)?;
    let driver = event_value(
        &system
            .read(format!("{directory}/uevent"))
            .unwrap_or_default(),
        "DRIVER",
    );
    matches!(class >> 16, 0x03 | 0x12).then(|| PciGpu {
        address: address.to_lowercase(),
        vendor,
        driver,
    })
}

/// Cards of the direct rendering manager: visible even if a container hides the PCI bus.
fn drm_gpus(system: &System) -> Vec<PciGpu> {
    let cards = system
        .list("/sys/class/drm")
        .into_iter()
        // `card0-DP-1` is a connector of `card0`.
        .filter(|name| name.starts_with("card") && !name.contains('-'));
    cards
        .filter_map(|card| {
            let vendor = parse_hex(&system.read(format!("/sys/class/drm/{card}/device/vendor"))?)?;
            let event = system.read(format!("/sys/class/drm/{card}/device/uevent"))?;
            let address = event_value(&event, "PCI_SLOT_NAME")?.to_lowercase();
            Some(PciGpu {
                address,
                vendor: Vendor::of_pci_id(vendor)?,
                driver: event_value(&event, "DRIVER"),
            })
        })
        .collect()
}

fn nvidia_module(system: &System) -> Option<NvidiaModule> {
    let text = system.read("/proc/driver/nvidia/version")?;
    // By its form: the words before it differ between the open module and the other one.
    let is_version =
        |word: &&str| word.contains('.') && word.split('.').all(|part| part.parse::<u32>().is_ok());
    let version = text
        .lines()
        .next()
        .and_then(|line| line.split_whitespace().find(is_version))
        .map(str::to_owned);
    Some(NvidiaModule {
        version,
        gpus: system.list("/proc/driver/nvidia/gpus"),
    })
}

fn event_value(event: &str, key: &str) -> Option<String> {
    event
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix('=').map(str::to_owned))
}

fn parse_hex(text: &str) -> Option<u32> {
    u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}
