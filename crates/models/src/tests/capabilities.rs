//! The capabilities that a configuration describes are those of the network.

use crate::{capabilities::Capabilities, checkpoint::Checkpoint, config, describe, load};
use std::{fs, path::Path};
use testgen_nn::device::BackendDevice;
use testgen_types::{ModelType, Precision};

#[test]
fn described_capabilities_are_those_of_the_network() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut compared = 0;
    let mut wrong = Vec::new();
    for entry in fs::read_dir(fixtures).expect("there are fixtures") {
        let checkpoint = Checkpoint::at(entry.expect("an entry of the folder").path());
        let Ok(config) = checkpoint.config() else { continue };
        let model_type = ModelType::find(config::model_type(&config)).expect("a fixture's type is known");
        let device = BackendDevice::Cpu(Default::default());
        let network = load(model_type, &checkpoint, &device, Precision::F32).expect("a fixture loads").capabilities();
        let described = describe(model_type, &checkpoint).expect("a fixture is described").capabilities();
        compared += 1;
        if comparable(described) != comparable(network) {
            let name = checkpoint.directory().file_name().unwrap_or_default().to_string_lossy().into_owned();
            wrong.push(format!("{name}:\n  {:?}\n  {:?}", comparable(described), comparable(network)));
        }
    }
    assert!(compared > 90, "{compared}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Without what only a native session asks for.
fn comparable(own: Capabilities) -> Capabilities {
    Capabilities { cached_layers: own.cached_layers.map(|_| 1), cache_reset_length: None, ..own }
}
