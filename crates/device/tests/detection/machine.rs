//! A fake machine: a directory tree, a library folder and variables.

use crate::fake_library::{Cuda, CudaGpu, Hip, HipGpu, hiprtc, nvrtc};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use testgen_device::{Inventory, System, inventory};

/// Extended by its methods; the directory is deleted on drop.
pub(crate) struct Machine {
    root: tempfile::TempDir,
    variables: BTreeMap<String, String>,
}

impl Machine {
    /// An empty machine: a processor and 16 GiB.
    pub(crate) fn new() -> Self {
        let machine = Self {
            root: tempfile::tempdir().expect("a temporary folder"),
            variables: BTreeMap::new(),
        };
        let memory = "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n";
        machine.file("proc/meminfo", memory).file(
            "proc/cpuinfo",
            "processor\t: 0\nmodel name\t: Fake Processor 9000\n",
        )
    }

    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        let path = self.root.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a file has a folder"))
            .expect("the folder is made");
        std::fs::write(path, text).expect("the file is written");
        self
    }

    /// A symbolic link, whose target need not exist.
    pub(crate) fn link(self, path: &str, target: &str) -> Self {
        let path = self.root.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a link has a folder"))
            .expect("the folder is made");
        std::os::unix::fs::symlink(target, path).expect("the link is made");
        self
    }

    /// A machine whose processes have the kernel's own ids.
    pub(crate) fn without_namespaces(self) -> Self {
        self.link("proc/self/ns/pid", "pid:[4026531836]")
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Copies a library: the loader shares one instance of a file between machines otherwise.
    pub(crate) fn library(self, path: &str, library: &Path) -> Self {
        let target = self.root.path().join(path);
        std::fs::create_dir_all(target.parent().expect("a file has a folder"))
            .expect("the folder is made");
        std::fs::copy(library, target).expect("the library is copied");
        self
    }

    /// A shell script as `hipconfig` on `PATH`. A child process writes it: if this process held the
    /// file open for writing while another test forks, executing it would fail with "text file
    /// busy".
    pub(crate) fn hipconfig(self, script: &str) -> Self {
        let folder = self.root.path().join("opt/rocm/bin");
        std::fs::create_dir_all(&folder).expect("the folder is made");
        let mut writer = Command::new("sh")
            .args([
                "-c",
                "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod +x \"$0\"",
            ])
            .arg(folder.join("hipconfig"))
            .arg(script)
            .stdin(Stdio::null())
            .spawn()
            .expect("sh starts");
        assert!(writer.wait().expect("sh ends").success());
        self.variable("PATH", "/bin:/opt/rocm/bin")
    }

    /// A complete ROCm with these GPUs, in the loader's path.
    pub(crate) fn rocm(self, gpus: &[HipGpu]) -> Self {
        self.hip(&Hip {
            gpus,
            status: 0,
            lacking: &[],
            extra: &[],
        })
        .hipconfig("echo /opt/rocm")
        .file("opt/rocm/include/hip/hip_runtime.h", "")
    }

    pub(crate) fn hip(self, hip: &Hip<'_>) -> Self {
        self.library("lib/libamdhip64.so", &hip.build())
            .library("lib/libhiprtc.so", &hiprtc(&[]))
    }

    /// A complete CUDA with these GPUs.
    pub(crate) fn cuda(self, gpus: &[CudaGpu]) -> Self {
        self.cuda_driver(&Cuda {
            gpus,
            status: 0,
            version: 13000,
            lacking: &[],
        })
        .cuda_toolkit()
    }

    pub(crate) fn cuda_driver(self, cuda: &Cuda<'_>) -> Self {
        self.library("lib/libcuda.so.1", &cuda.build())
    }

    pub(crate) fn cuda_toolkit(self) -> Self {
        let headers = ["cuda_runtime.h", "crt/mma.h", "cccl/cuda/barrier"];
        headers
            .into_iter()
            .fold(self, |machine, header| {
                machine.file(&format!("usr/local/cuda/include/{header}"), "")
            })
            .library("lib/libnvrtc.so.13", &nvrtc(13000, &[75, 80, 90, 100]))
    }

    /// A GPU on the kernel's compute list and on the PCI bus.
    pub(crate) fn kernel_amd(self, node: u32, bus: u32, target_version: u32) -> Self {
        let location = bus << 8;
        let properties = format!(
            "simd_count 304\nvendor_id 4098\nlocation_id {location}\ndomain 0\nunique_id {bus}\n\
             gfx_target_version {target_version}\ndrm_render_minor {}\n",
            127 + node
        );
        let directory = format!("sys/class/kfd/kfd/topology/nodes/{node}");
        self.file(
            "sys/class/kfd/kfd/topology/nodes/0/properties",
            "cpu_cores_count 8\nsimd_count 0\n",
        )
        .file(&format!("{directory}/properties"), &properties)
        .file(
            &format!("{directory}/mem_banks/0/properties"),
            "heap_type 1\nsize_in_bytes 206141652992\n",
        )
        .pci(
            &format!("0000:{bus:02x}:00.0"),
            "0x1002",
            "0x120000",
            "amdgpu",
        )
    }

    pub(crate) fn kernel_nvidia(self, address: &str) -> Self {
        let version = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.1.2  Tue Nov  4 2026\nGCC version: 13\n";
        self.pci(address, "0x10de", "0x030200", "nvidia")
            .file("proc/driver/nvidia/version", version)
            .file(
                &format!("proc/driver/nvidia/gpus/{address}/information"),
                "Model: NVIDIA H100\n",
            )
    }

    pub(crate) fn pci(self, address: &str, vendor: &str, class: &str, driver: &str) -> Self {
        let directory = format!("sys/bus/pci/devices/{address}");
        self.file(&format!("{directory}/vendor"), vendor)
            .file(&format!("{directory}/class"), class)
            .file(
                &format!("{directory}/uevent"),
                &format!("DRIVER={driver}\nPCI_SLOT_NAME={address}\n"),
            )
    }

    pub(crate) fn system(&self) -> System {
        System::fake(
            self.root.path(),
            self.variables.clone(),
            [self.root.path().join("lib")],
        )
    }

    pub(crate) fn inventory(&self) -> Inventory {
        inventory(&self.system())
    }

    /// A text with this machine's folder replaced by `[root]` and the host's architecture by
    /// `[arch]`.
    pub(crate) fn redact(&self, text: &str) -> String {
        text.replace(&self.root.path().display().to_string(), "[root]")
            .replace(std::env::consts::ARCH, "[arch]")
    }
}
