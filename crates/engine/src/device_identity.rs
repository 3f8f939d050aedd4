//! Whether the device that an engine has opened is the one that testgen found.

use crate::{
    call::{DeviceClass, DeviceRequest},
    reply::OpenedDevice,
};

/// Why `opened` is not the requested device, or `None` if it is, by UUID or by PCI address.
pub fn device_mismatch(requested: &DeviceRequest, opened: &OpenedDevice) -> Option<String> {
    // The kind first: identities of different drivers cannot be compared.
    if opened.kind != requested.kind {
        return Some(format!(
            "it reports a device of another kind, `{}`",
            opened.name
        ));
    }
    // There is one host processor.
    if requested.kind == DeviceClass::Cpu {
        return None;
    }
    let pairs = [
        (&requested.uuid, &opened.uuid),
        (&requested.pci_address, &opened.pci_address),
    ];
    let mut known = pairs
        .into_iter()
        .filter_map(|(ours, its)| Some((plain(ours.as_ref()?)?, plain(its.as_ref()?)?)));
    // One identity that agrees is enough: libraries differ in the bytes of a UUID that they print.
    if known.any(|(ours, its)| ours == its) {
        return None;
    }
    let ours = described(&requested.uuid, &requested.pci_address);
    let its = described(&opened.uuid, &opened.pci_address);
    Some(format!(
        "it reports `{}` with {its}, the requested device has {ours}",
        opened.name
    ))
}

fn described(uuid: &Option<String>, address: &Option<String>) -> String {
    let parts: Vec<&str> = [uuid, address]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    if parts.is_empty() {
        "neither a UUID nor a PCI address".to_owned()
    } else {
        parts.join(", ")
    }
}

/// An identifier without the characters that libraries write differently.
fn plain(identifier: &str) -> Option<String> {
    let plain = identifier
        .to_ascii_lowercase()
        .trim_start_matches("gpu-")
        .replace('-', "");
    // GPUs without a unique id have one of zeros.
    let is_zero = plain
        .chars()
        .all(|character| matches!(character, '0' | ':' | '.'));
    (!is_zero).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requested(kind: DeviceClass) -> DeviceRequest {
        let uuid = Some("GPU-81a38d5e-4d1e-5bc5-8f9f-1a2b3c4d5e6f".to_owned());
        DeviceRequest {
            kind,
            index: 0,
            uuid,
            pci_address: Some("0000:03:00.0".to_owned()),
        }
    }

    fn opened(kind: DeviceClass, uuid: Option<&str>, address: Option<&str>) -> OpenedDevice {
        let text = |text: Option<&str>| text.map(str::to_owned);
        OpenedDevice {
            kind,
            name: "gpu".to_owned(),
            uuid: text(uuid),
            pci_address: text(address),
        }
    }

    #[test]
    fn a_device_is_the_same_by_uuid_or_address() {
        let same = "81A38D5E4D1E5BC58F9F1A2B3C4D5E6F";
        let cuda = requested(DeviceClass::Cuda);
        assert_eq!(
            device_mismatch(&cuda, &opened(DeviceClass::Cuda, Some(same), None)),
            None
        );
        assert_eq!(
            device_mismatch(
                &cuda,
                &opened(DeviceClass::Cuda, None, Some("0000:03:00.0"))
            ),
            None
        );
        for other in [
            opened(DeviceClass::Cuda, None, None),
            opened(DeviceClass::Cuda, Some("GPU-00"), Some("0000:04:00.0")),
            opened(DeviceClass::Cpu, Some(same), None),
            opened(DeviceClass::Rocm, Some(same), None),
        ] {
            assert!(device_mismatch(&cuda, &other).is_some(), "{other:?}");
        }
        let zeros = "GPU-0000000000000000";
        let without_id = DeviceRequest {
            uuid: Some(zeros.to_owned()),
            ..requested(DeviceClass::Rocm)
        };
        let other = opened(DeviceClass::Rocm, Some(zeros), Some("0000:04:00.0"));
        assert!(device_mismatch(&without_id, &other).is_some());
        let cpu = DeviceRequest {
            kind: DeviceClass::Cpu,
            index: 0,
            uuid: None,
            pci_address: None,
        };
        assert_eq!(
            device_mismatch(&cpu, &opened(DeviceClass::Cpu, None, None)),
            None
        );
    }
}
