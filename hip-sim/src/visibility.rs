//! The visible-device variables, as the ROCm runtime and then HIP read them.
//!
//! A list counts up to its first entry that is no device of the list, so that `-1` hides everything behind it. HIP reads
//! `HIP_VISIBLE_DEVICES`, or `CUDA_VISIBLE_DEVICES` where that is unset or empty; its ordinals count what the ROCm
//! runtime has left. A set but empty `ROCR_VISIBLE_DEVICES` hides all.

use crate::DeviceModel;

/// The devices that are left.
pub(crate) fn visible(devices: Vec<DeviceModel>, variable: impl Fn(&str) -> Option<String>) -> Vec<DeviceModel> {
    let left = match variable("ROCR_VISIBLE_DEVICES") {
        Some(list) => chosen(&devices, &list),
        None => devices,
    };
    let set = |name: &str| variable(name).filter(|list| !list.is_empty());
    match set("HIP_VISIBLE_DEVICES").or_else(|| set("CUDA_VISIBLE_DEVICES")) {
        Some(list) => chosen(&left, &list),
        None => left,
    }
}

fn chosen(devices: &[DeviceModel], list: &str) -> Vec<DeviceModel> {
    let ordinals = list.split(',').map_while(|entry| entry.trim().parse::<usize>().ok());
    let mut taken = Vec::new();
    for ordinal in ordinals.take_while(|ordinal| *ordinal < devices.len()) {
        if !taken.contains(&ordinal) {
            taken.push(ordinal);
        }
    }
    taken.into_iter().map(|ordinal| devices[ordinal].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::visible;
    use crate::{Architecture, DeviceModel};

    fn left(variables: &[(&str, &str)]) -> Vec<Architecture> {
        let devices = Architecture::ALL.iter().map(|architecture| DeviceModel::new(*architecture)).collect();
        let variable =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        visible(devices, variable).iter().map(|device| device.architecture).collect()
    }

    #[test]
    fn the_variables_apply_in_order() {
        use Architecture::{Gfx90a, Gfx942, Gfx1030, Gfx1100};
        assert_eq!(left(&[]), [Gfx1030, Gfx1100, Gfx90a, Gfx942]);
        assert_eq!(left(&[("ROCR_VISIBLE_DEVICES", "3,1"), ("HIP_VISIBLE_DEVICES", "1")]), [Gfx1100]);
        assert_eq!(left(&[("HIP_VISIBLE_DEVICES", ""), ("CUDA_VISIBLE_DEVICES", "2")]), [Gfx90a]);
        assert_eq!(left(&[("HIP_VISIBLE_DEVICES", "0"), ("CUDA_VISIBLE_DEVICES", "2")]), [Gfx1030]);
        assert_eq!(left(&[("HIP_VISIBLE_DEVICES", "1,-1,2")]), [Gfx1100]);
        assert_eq!(left(&[("HIP_VISIBLE_DEVICES", "-1")]), []);
        assert_eq!(left(&[("ROCR_VISIBLE_DEVICES", "")]), []);
    }
}
