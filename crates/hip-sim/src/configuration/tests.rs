use super::{Configuration, ConfigurationError};
use crate::architecture::SimulatedArchitecture;

fn read(variables: &[(&str, &str)]) -> Result<Configuration, ConfigurationError> {
    Configuration::read(|name| {
        variables
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn there_is_one_gfx1100_by_default() {
    let configuration = read(&[]).expect("defaults are valid");
    assert_eq!(configuration.devices.len(), 1);
    assert_eq!(
        configuration.devices[0].architecture,
        SimulatedArchitecture::Gfx1100
    );
    assert_eq!(
        configuration.devices[0].marked_name(),
        "AMD gfx1100 (hip-sim)"
    );
    assert_eq!(configuration.version[..2], [6, 4]);
    assert_eq!(
        read(&[("HIP_SIM_VERSION", "5.2.21153")])
            .expect("is valid")
            .version,
        [5, 2, 21153]
    );
}

#[test]
fn devices_and_their_properties_are_read() {
    let text = "gfx90a,memory=512,name=AMD Instinct MI210,pci=0000:c1:00.0; gfx1030";
    let devices = read(&[("HIP_SIM_DEVICES", text)])
        .expect("is valid")
        .devices;
    assert_eq!(devices[0].memory, 512 << 20);
    assert_eq!(devices[0].marked_name(), "AMD Instinct MI210 (hip-sim)");
    assert_eq!(devices[0].pci_address, "0000:c1:00.0");
    assert_eq!(devices[1].architecture, SimulatedArchitecture::Gfx1030);
}

#[test]
fn invalid_values_are_errors() {
    for (variable, value) in [
        ("HIP_SIM_DEVICES", "gfx900"),
        ("HIP_SIM_DEVICES", "gfx90a;"),
        ("HIP_SIM_DEVICES", "gfx90a,memory=0"),
        ("HIP_SIM_DEVICES", "gfx90a,memory=8GB"),
        ("HIP_SIM_DEVICES", "gfx90a,pci=3"),
        ("HIP_SIM_DEVICES", "gfx90a,colour=red"),
        ("HIP_SIM_VERSION", "6.4"),
        ("HIP_SIM_VERSION", "six"),
        ("HIP_SIM_FAULTS", "explode"),
        ("HIP_SIM_LONGEST", "48k"),
    ] {
        let error = read(&[(variable, value)]).expect_err(value);
        assert!(error.to_string().starts_with(variable), "{error}");
    }
}

#[test]
fn the_cache_follows_the_variables() {
    let cache = |variables: &[(&str, &str)]| read(variables).expect("is valid").cache;
    assert_eq!(
        cache(&[("HIP_SIM_CACHE", "c"), ("HOME", "/h")]).to_str(),
        Some("c")
    );
    assert_eq!(
        cache(&[("TESTGEN_CACHE", "t"), ("HOME", "/h")]).to_str(),
        Some("t/hip-sim")
    );
    assert_eq!(
        cache(&[("XDG_CACHE_HOME", "/x"), ("HOME", "/h")]).to_str(),
        Some("/x/hip-sim")
    );
    assert_eq!(
        cache(&[("XDG_CACHE_HOME", "relative"), ("HOME", "/h")]).to_str(),
        Some("/h/.cache/hip-sim")
    );
}
