//! The devices, and contradictions between the sources that list them.

use crate::{
    facts::MachineFacts,
    row::{Area, DoctorRow, RowStatus},
};
use testgen_device::{Device, DeviceKind, VisibleVariable};

pub(super) fn rows(facts: &MachineFacts) -> Vec<DoctorRow> {
    let devices = &facts.inventory.devices;
    let mut rows: Vec<DoctorRow> = devices
        .iter()
        .flat_map(|device| of_device(facts, device))
        .collect();
    if devices.iter().all(|device| device.kind == DeviceKind::Cpu) {
        let evidence = "no GPU: its checks will be ignored, with the reason";
        rows.push(DoctorRow::new(
            Area::Devices,
            "GPU",
            RowStatus::Note,
            evidence,
        ));
    }
    // Errors of variables are lines about variables.
    let errors: Vec<String> = facts
        .inventory
        .visibility
        .errors()
        .map(VisibleVariable::to_string)
        .collect();
    let others = facts
        .inventory
        .contradictions
        .iter()
        .filter(|problem| !errors.contains(&problem.what));
    rows.extend(others.map(|problem| {
        let row = DoctorRow::new(
            Area::Devices,
            "contradiction",
            RowStatus::Warning,
            &problem.what,
        );
        row.because(
            "the kernel, the libraries and the variables do not agree",
            &problem.remedy,
        )
    }));
    rows
}

fn of_device(facts: &MachineFacts, device: &Device) -> Vec<DoctorRow> {
    let parts = [device.architecture.as_ref(), device.pci_address.as_ref()];
    let mut evidence = device.name.clone();
    for part in parts.into_iter().flatten() {
        evidence.push_str(&format!(", {part}"));
    }
    for (name, version) in [
        ("driver", &device.driver_version),
        ("runtime", &device.runtime_version),
    ] {
        if let Some(version) = version {
            evidence.push_str(&format!(", {name} {version}"));
        }
    }
    let new = |status, evidence| DoctorRow::new(Area::Devices, device.label(), status, evidence);
    let problems = device
        .unusable_by_burn
        .iter()
        .flat_map(|unusable| &unusable.problems);
    // Other engines may be able to use it.
    let status = if facts.native {
        RowStatus::Failure
    } else {
        RowStatus::Note
    };
    let mut rows: Vec<DoctorRow> = problems
        .map(|problem| {
            let row = new(
                status,
                format!(
                    "{evidence}; the native engine cannot use it: {}",
                    problem.what
                ),
            );
            row.because("burn would abort or compute nothing on it", &problem.remedy)
        })
        .collect();
    let warnings = device.warnings.iter();
    rows.extend(warnings.map(|problem| {
        new(RowStatus::Warning, problem.what.clone())
            .because("the device works with limitations", &problem.remedy)
    }));
    if device.unusable_by_burn.is_none() {
        let simulated = if device.simulated {
            "; a software simulation, which never counts as a GPU"
        } else {
            ""
        };
        let status = if device.simulated {
            RowStatus::Note
        } else {
            RowStatus::Ok
        };
        rows.insert(0, new(status, evidence + simulated));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::rows;
    use crate::{
        evaluation::samples::{amd_host, empty, row},
        row::RowStatus,
    };
    use testgen_device::{DeviceProblem, Unusable};

    #[test]
    fn a_device_that_burn_cannot_use_is_a_failure_of_the_native_engine_alone() {
        let mut facts = amd_host();
        let problem = DeviceProblem::new("burn 0.21 does not support gfx906", "use another GPU");
        facts.inventory.devices[1].unusable_by_burn = Unusable::from_problems(vec![problem]);
        let found = rows(&facts);
        let device = row(&found, "rocm:0");
        assert_eq!(
            (device.status, device.fix.as_deref()),
            (RowStatus::Failure, Some("use another GPU"))
        );
        facts.native = false;
        assert_eq!(row(&rows(&facts), "rocm:0").status, RowStatus::Note);
    }

    #[test]
    fn versions_simulations_and_contradictions_are_shown() {
        let mut facts = amd_host();
        let found = rows(&facts);
        let expected =
            "AMD Instinct MI300X, gfx942, 0000:03:00.0, driver 6.12.12, runtime 7.0.51831";
        assert_eq!(
            (
                row(&found, "rocm:0").status,
                row(&found, "rocm:0").evidence.as_str()
            ),
            (RowStatus::Ok, expected)
        );
        facts.inventory.devices[1].simulated = true;
        facts.inventory.contradictions =
            vec![DeviceProblem::new("the kernel lists 2, HIP 1", "see above")];
        let found = rows(&facts);
        assert_eq!(row(&found, "rocm:0").status, RowStatus::Note);
        assert_eq!(row(&found, "contradiction").status, RowStatus::Warning);
        assert_eq!(row(&rows(&empty()), "GPU").status, RowStatus::Note);
    }
}
