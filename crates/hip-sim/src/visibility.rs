//! The visible-device variables, applied as the ROCm runtime and then HIP do.
//!
//! A list ends at its first entry that is not an ordinal of a device, so `-1` hides everything
//! after it. HIP reads `HIP_VISIBLE_DEVICES`, or `CUDA_VISIBLE_DEVICES` where that is unset or
//! empty; its ordinals count the devices that the ROCm runtime leaves. A set but empty
//! `ROCR_VISIBLE_DEVICES` hides all.

use crate::device_model::DeviceModel;

/// The visible devices.
pub(crate) fn visible(
    devices: Vec<DeviceModel>,
    variable: impl Fn(&str) -> Option<String>,
) -> Vec<DeviceModel> {
    let of_runtime = match variable("ROCR_VISIBLE_DEVICES") {
        Some(list) => selected(&devices, &list),
        None => devices,
    };
    let set = |name: &str| variable(name).filter(|list| !list.is_empty());
    match set("HIP_VISIBLE_DEVICES").or_else(|| set("CUDA_VISIBLE_DEVICES")) {
        Some(list) => selected(&of_runtime, &list),
        None => of_runtime,
    }
}

fn selected(devices: &[DeviceModel], list: &str) -> Vec<DeviceModel> {
    let ordinals = list
        .split(',')
        .map_while(|entry| entry.trim().parse::<usize>().ok());
    let mut unique = Vec::new();
    for ordinal in ordinals.take_while(|ordinal| *ordinal < devices.len()) {
        if !unique.contains(&ordinal) {
            unique.push(ordinal);
        }
    }
    unique
        .into_iter()
        .map(|ordinal| devices[ordinal].clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::visible;
    use crate::architecture::SimulatedArchitecture;
    use crate::device_model::DeviceModel;

    fn visible_with(variables: &[(&str, &str)]) -> Vec<SimulatedArchitecture> {
        let devices = SimulatedArchitecture::ALL
            .iter()
            .map(|architecture| DeviceModel::new(*architecture))
            .collect();
        let variable = |name: &str| {
            variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        };
        visible(devices, variable)
            .iter()
            .map(|device| device.architecture)
            .collect()
    }

    #[test]
    fn the_variables_apply_in_order() {
        use SimulatedArchitecture::{Gfx90a, Gfx942, Gfx1030, Gfx1100};
        assert_eq!(visible_with(&[]), [Gfx1030, Gfx1100, Gfx90a, Gfx942]);
        assert_eq!(
            visible_with(&[
                ("ROCR_VISIBLE_DEVICES", "3,1"),
                ("HIP_VISIBLE_DEVICES", "1")
            ]),
            [Gfx1100]
        );
        assert_eq!(
            visible_with(&[("HIP_VISIBLE_DEVICES", ""), ("CUDA_VISIBLE_DEVICES", "2")]),
            [Gfx90a]
        );
        assert_eq!(
            visible_with(&[("HIP_VISIBLE_DEVICES", "0"), ("CUDA_VISIBLE_DEVICES", "2")]),
            [Gfx1030]
        );
        assert_eq!(
            visible_with(&[("HIP_VISIBLE_DEVICES", "1,-1,2")]),
            [Gfx1100]
        );
        assert_eq!(visible_with(&[("HIP_VISIBLE_DEVICES", "-1")]), []);
        assert_eq!(visible_with(&[("ROCR_VISIBLE_DEVICES", "")]), []);
    }
}
