//! Facts about a machine, as they were read; nothing is evaluated here.

use serde::Deserialize;
use std::collections::BTreeMap;
use testgen_device::Inventory;

/// Everything that is evaluated without computing.
#[derive(Debug, Clone)]
pub struct MachineFacts {
    /// The operating system.
    pub host: Host,
    /// The user of this process.
    pub user: User,
    /// The device files of GPUs, sorted by path; `/dev/kfd` also if it is missing.
    pub files: Vec<DeviceFile>,
    /// The variables of drivers that are set.
    pub variables: BTreeMap<String, String>,
    /// The result of device detection.
    pub inventory: Inventory,
    /// The Python that engines use.
    pub python: Result<Python, PythonFailure>,
    /// Whether burn computes, so that a device that burn cannot use is a failure.
    pub native: bool,
}

/// The operating system, and what surrounds it.
#[derive(Debug, Clone, Default)]
pub struct Host {
    /// `Debian GNU/Linux 12 (bookworm)`.
    pub name: Option<String>,
    /// The kernel's release, `6.1.0-28-amd64`.
    pub kernel: Option<String>,
    /// The signs of a container, for instance `/.dockerenv`; empty outside of one.
    pub container: Vec<String>,
    /// Whether it is the Windows Subsystem for Linux, whose GPUs have the file `/dev/dxg`.
    pub wsl: bool,
    /// The GPU modules of the kernel that are loaded: `amdgpu`, `radeon`, `nvidia`, `nouveau`.
    pub modules: Vec<KernelModule>,
    /// The version of an installed ROCm, from its `.info/version`.
    pub rocm: Option<String>,
    /// Bytes that the container's memory limit leaves.
    pub memory_limit: Option<u64>,
}

/// A loaded module of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelModule {
    /// Its name.
    pub name: String,
    /// Its version; modules of the kernel's own tree have none.
    pub version: Option<String>,
}

/// The user of this process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct User {
    /// The effective user id.
    pub id: u32,
    /// The name, if the system has one.
    pub name: Option<String>,
    /// The groups of the process.
    pub groups: Vec<UserGroup>,
    /// The names of the groups that the account has, which a process gets only at login.
    pub account_groups: Vec<String>,
}

/// A group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserGroup {
    /// Its number.
    pub id: u32,
    /// Its name, or `None` if this system, often a container image, does not know the number.
    pub name: Option<String>,
}

/// A device file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceFile {
    /// Its path.
    pub path: String,
    /// The permission bits.
    pub mode: u32,
    /// The owner's number.
    pub owner: u32,
    /// The group.
    pub group: UserGroup,
    /// The result of opening it for reading and writing.
    pub access: Access,
}

/// The result of opening a device file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// It opens.
    Works,
    /// There is no such file.
    Missing,
    /// The permissions of the file forbid it (`EACCES`).
    Forbidden,
    /// The device filter of the container forbids it (`EPERM`).
    Filtered,
    /// Another error of the system.
    Failed(String),
}

/// A Python.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Python {
    /// Its program.
    pub executable: String,
    /// Its version.
    pub version: String,
    /// The packages that engines use and that are installed, by name.
    pub packages: BTreeMap<String, PythonPackage>,
    /// The distributions that contain `onnxruntime`: `onnxruntime-gpu`, `onnxruntime-migraphx`, ...
    pub onnxruntime_distributions: Vec<String>,
}

/// A package of Python.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PythonPackage {
    /// Its version.
    pub version: String,
    /// Why it cannot be imported; only torch and onnxruntime are imported.
    pub error: Option<String>,
    /// torch: the version of HIP that it was built for.
    pub hip: Option<String>,
    /// torch: the version of CUDA that it was built for.
    pub cuda: Option<String>,
    /// torch: the GPU architectures that it has kernels for; empty if it sees no GPU.
    pub architectures: Vec<String>,
    /// onnxruntime: the execution providers of its build.
    pub providers: Vec<String>,
    /// onnxruntime: the description of its build.
    pub build: Option<String>,
}

/// There is no usable Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonFailure {
    /// The program.
    pub program: String,
    /// The problem.
    pub problem: String,
    /// Whether the user named this program.
    pub named: bool,
    /// Whether there is no such program.
    pub missing: bool,
}

impl MachineFacts {
    /// Whether a module is loaded.
    pub(super) fn module(&self, name: &str) -> Option<&KernelModule> {
        self.host.modules.iter().find(|module| module.name == name)
    }

    /// Whether this is a container.
    pub(super) fn in_container(&self) -> bool {
        !self.host.container.is_empty()
    }

    /// The devices by place: one that two paths list is the one of the preferred path.
    pub(super) fn devices(&self) -> Vec<&testgen_device::Device> {
        let mut found: Vec<&testgen_device::Device> = Vec::new();
        for device in &self.inventory.devices {
            // A device without an address, such as the host processor, equals no other one.
            let is_known = found.iter().any(|other| {
                other.pci_address.is_some() && other.pci_address == device.pci_address
            });
            if !is_known {
                found.push(device);
            }
        }
        found
    }
}
