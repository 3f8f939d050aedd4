//! Machines for tests, as facts.

use crate::{
    facts::{
        Access, DeviceFile, Host, KernelModule, MachineFacts, Python, PythonPackage, User,
        UserGroup,
    },
    row::DoctorRow,
};
use std::{collections::BTreeMap, path::Path};
use testgen_device::{
    DetectionPath, Device, DeviceKind, Inventory, KfdGpu, PathResult, PciGpu, System, Topology,
    Vendor, Visibility, host_processor, visible_devices,
};

/// The row of a subject.
pub(crate) fn row<'a>(rows: &'a [DoctorRow], subject: &str) -> &'a DoctorRow {
    let found = rows.iter().find(|row| row.subject == subject);
    found.unwrap_or_else(|| panic!("no `{subject}` in {rows:#?}"))
}

/// A host without GPU and without Python packages.
pub(crate) fn empty() -> MachineFacts {
    let host = Device {
        total_memory: Some(16 << 30),
        free_memory: Some(8 << 30),
        ..host_processor(&System::host())
    };
    MachineFacts {
        host: Host::default(),
        user: User::default(),
        files: Vec::new(),
        variables: BTreeMap::new(),
        inventory: Inventory {
            visibility: Visibility::default(),
            topology: Topology::default(),
            paths: vec![
                absent(DetectionPath::HipRuntime),
                absent(DetectionPath::CudaDriver),
            ],
            devices: vec![host],
            contradictions: Vec::new(),
        },
        python: Ok(Python {
            executable: "/usr/bin/python3".to_owned(),
            version: "3.12.3".to_owned(),
            ..Python::default()
        }),
        native: true,
    }
}

fn absent(path: DetectionPath) -> PathResult {
    PathResult {
        path,
        found: 0,
        absence: Some(format!("{path}: not installed")),
    }
}

fn group(id: u32, name: &str) -> UserGroup {
    UserGroup {
        id,
        name: Some(name.to_owned()),
    }
}

/// The place of the MI300X.
const ADDRESS: &str = "0000:03:00.0";
/// Its architecture.
const GFX942: &str = "gfx942";

/// A host with an MI300X where everything works.
pub(crate) fn amd_host() -> MachineFacts {
    let mut facts = empty();
    facts.host.modules = vec![KernelModule {
        name: "amdgpu".to_owned(),
        version: Some("6.12.12".to_owned()),
    }];
    facts.host.rocm = Some("7.0.1".to_owned());
    facts.user = User {
        id: 1000,
        name: Some("ada".to_owned()),
        groups: vec![group(1000, "ada"), group(44, "video")],
        account_groups: vec!["video".to_owned()],
    };
    facts.files = ["/dev/kfd", "/dev/dri/renderD128"]
        .map(|path| file(path, Access::Works))
        .to_vec();
    facts.inventory.topology = Topology {
        kfd: Some(vec![KfdGpu {
            node: 1,
            architecture: Some(GFX942.to_owned()),
            pci_address: Some(ADDRESS.to_owned()),
            uuid: None,
            memory: None,
            render_node: None,
        }]),
        pci: vec![PciGpu {
            address: ADDRESS.to_owned(),
            vendor: Vendor::Amd,
            driver: Some("amdgpu".to_owned()),
        }],
        ..Topology::default()
    };
    facts.inventory.paths[0] = PathResult {
        path: DetectionPath::HipRuntime,
        found: 1,
        absence: None,
    };
    facts.inventory.devices.push(Device {
        kind: DeviceKind::Rocm,
        path: DetectionPath::HipRuntime,
        name: "AMD Instinct MI300X".to_owned(),
        architecture: Some(GFX942.to_owned()),
        total_memory: Some(192 << 30),
        free_memory: Some(190 << 30),
        pci_address: Some(ADDRESS.to_owned()),
        driver_version: Some("6.12.12".to_owned()),
        runtime_version: Some("7.0.51831".to_owned()),
        ..facts.inventory.devices[0].clone()
    });
    facts
}

/// The same machine in Docker.
pub(crate) fn in_container(mut facts: MachineFacts) -> MachineFacts {
    facts.host.container = vec!["/.dockerenv".to_owned()];
    facts
}

/// The same machine with these variables.
pub(crate) fn with_variables(mut facts: MachineFacts, variables: &[(&str, &str)]) -> MachineFacts {
    facts.variables = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    facts.inventory.visibility =
        visible_devices(&System::fake(Path::new("/"), variables.iter().copied(), []));
    facts
}

/// A file with the permissions that ROCm's packages set.
pub(crate) fn file(path: &str, access: Access) -> DeviceFile {
    let group = UserGroup {
        id: 109,
        name: Some("render".to_owned()),
    };
    DeviceFile {
        path: path.to_owned(),
        mode: 0o660,
        owner: 0,
        group,
        access,
    }
}

/// The machine with a package of Python.
pub(crate) fn with_package(
    mut facts: MachineFacts,
    name: &str,
    package: PythonPackage,
) -> MachineFacts {
    if let Ok(python) = &mut facts.python {
        python.packages.insert(name.to_owned(), package);
    }
    facts
}
