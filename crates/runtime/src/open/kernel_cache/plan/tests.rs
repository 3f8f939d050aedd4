use super::{CachePlan, cargo_hash, keys, plan, user_config};
use crate::machine::host_processor;
use testgen_device::{DetectionPath, Device};
use testgen_types::DeviceKind;

fn gpu(path: DetectionPath, architecture: &str, simulated: bool) -> Device {
    Device {
        kind: if path == DetectionPath::CudaDriver {
            DeviceKind::Cuda
        } else {
            DeviceKind::Rocm
        },
        path,
        architecture: Some(architecture.to_owned()),
        runtime_version: Some("6.4".to_owned()),
        simulated,
        ..host_processor()
    }
}

#[test]
fn architectures_and_simulations_never_share_a_folder() {
    let hip = |architecture, simulated| gpu(DetectionPath::HipRuntime, architecture, simulated);
    let names = [
        keys(&[host_processor(), hip("gfx1100", false)]),
        keys(&[hip("gfx1100", true)]),
        keys(&[hip("gfx90a", false), hip("gfx90a", false)]),
        keys(&[
            hip("gfx1100", false),
            gpu(DetectionPath::CudaDriver, "sm_90", false),
        ]),
    ];
    let expected = [
        "gfx1100-6.4",
        "sim-gfx1100-6.4",
        "gfx90a-6.4",
        "gfx1100-6.4+sm_90-6.4",
    ];
    assert_eq!(names, expected.map(|name| Ok(name.to_owned())));
}

#[test]
fn two_architectures_in_one_backend_are_not_cached() {
    let different = [
        gpu(DetectionPath::HipRuntime, "gfx1100", false),
        gpu(DetectionPath::HipRuntime, "gfx1030", false),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan(Some(folder.path()), "p", &different);
    assert!(
        matches!(&plan, CachePlan::InMemory { reason } if reason.contains("gfx1030-6.4, gfx1100-6.4")),
        "{plan:?}"
    );
}

#[test]
fn a_writable_folder_is_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let devices = [gpu(DetectionPath::CudaDriver, "sm_90", false)];
    let kernels = folder.path().join("kernels/sm_90-6.4/p");
    assert_eq!(
        plan(Some(folder.path()), "p", &devices),
        CachePlan::Stored {
            kernels: kernels.clone()
        }
    );
    assert!(kernels.is_dir());
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("a file");
    assert!(matches!(
        plan(Some(&file), "p", &devices),
        CachePlan::InMemory { .. }
    ));
    assert!(matches!(
        plan(None, "p", &devices),
        CachePlan::InMemory { .. }
    ));
}

#[test]
fn a_configuration_above_the_working_directory_takes_precedence() {
    let folder = tempfile::tempdir().expect("a folder");
    let below = folder.path().join("a/b");
    std::fs::create_dir_all(&below).expect("folders");
    assert_eq!(user_config(&below), None);
    std::fs::write(folder.path().join("cubecl.toml"), "").expect("a file");
    assert_eq!(user_config(&below), Some(folder.path().join("cubecl.toml")));
}

#[test]
fn the_hash_of_a_test_binary_is_parsed() {
    assert_eq!(
        cargo_hash("suite-0123456789abcdef"),
        Some("0123456789abcdef")
    );
    assert_eq!(cargo_hash("open-device"), None);
    assert_eq!(cargo_hash("suite"), None);
}
