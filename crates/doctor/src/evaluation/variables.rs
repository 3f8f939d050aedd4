//! Variables that hide devices or change what their libraries report.

use crate::{
    facts::MachineFacts,
    row::{Area, DoctorRow, RowStatus},
};
use testgen_base::text::{Count, shell_quote};
use testgen_device::{VisibleEntry, VisibleReader, VisibleVariable};

/// Also with `_0`, `_1`, ... for single GPUs.
const OVERRIDE: &str = "HSA_OVERRIDE_GFX_VERSION";
/// AMD documents it for OpenCL and HIP; the HIP runtime reads it where no other variable is set.
const ORDINAL: &str = "GPU_DEVICE_ORDINAL";

pub(super) fn rows(facts: &MachineFacts) -> Vec<DoctorRow> {
    let mut rows: Vec<DoctorRow> = facts
        .inventory
        .visibility
        .variables
        .iter()
        .map(visible)
        .collect();
    rows.extend(ordinal(facts));
    rows.extend(contradictions(facts));
    rows.extend(
        facts
            .variables
            .iter()
            // ROCm reads it with the number of a GPU after the name, too.
            .filter(|(name, _)| name.starts_with(OVERRIDE))
            .map(overridden),
    );
    if rows.is_empty() {
        let evidence = "none hides a device or replaces its architecture";
        rows.push(DoctorRow::new(
            Area::Variables,
            "none",
            RowStatus::Ok,
            evidence,
        ));
    }
    rows
}

fn visible(variable: &VisibleVariable) -> DoctorRow {
    let evidence = format!(
        "`{}`, read by {}: {}",
        variable.value,
        variable.reader.as_str(),
        variable.effect
    );
    // Only a note, because hiding devices is mostly intended.
    let row = DoctorRow::new(Area::Variables, variable.name, RowStatus::Note, evidence);
    match &variable.error {
        Some(error) => row.failure(error, format!("unset {}", variable.name)),
        None => row,
    }
}

fn overridden((name, value): (&String, &String)) -> DoctorRow {
    let evidence = format!("`{value}` replaces the architecture that the ROCm runtime reports");
    DoctorRow::new(Area::Variables, name, RowStatus::Warning, evidence).because(
        "kernels for another architecture may fail or compute wrong numbers",
        format!("unset {name}"),
    )
}

fn ordinal(facts: &MachineFacts) -> Option<DoctorRow> {
    let value = facts.variables.get(ORDINAL)?;
    let evidence =
        format!("`{value}`; AMD documents it for OpenCL and HIP, testgen does not interpret it");
    let cause =
        "runtimes differ in whether they read it, so that engines may see different devices";
    let mut fix = format!("unset {ORDINAL}");
    // An empty ROCR_VISIBLE_DEVICES would hide every GPU.
    if !value.is_empty() {
        fix += &format!("; export ROCR_VISIBLE_DEVICES={}", shell_quote(value));
    }
    Some(DoctorRow::new(Area::Variables, ORDINAL, RowStatus::Warning, evidence).because(cause, fix))
}

/// Pairs of variables that cannot both have their effect.
fn contradictions(facts: &MachineFacts) -> Vec<DoctorRow> {
    let [rocr, hip] = [VisibleReader::RocmRuntime, VisibleReader::Hip].map(|reader| {
        facts
            .inventory
            .visibility
            .variables
            .iter()
            .find(move |variable| variable.reader == reader)
    });
    let mut rows = Vec::new();
    if let (Some(rocr), Some(hip)) = (rocr, hip) {
        rows.extend(beyond(rocr, hip));
    }
    // HIP reads the second variable when the first one is empty, so that both agree.
    if let (Some(hip), Some(cuda)) = (
        facts.variables.get("HIP_VISIBLE_DEVICES"),
        facts.variables.get("CUDA_VISIBLE_DEVICES"),
    ) && !hip.is_empty()
        && hip != cuda
    {
        let evidence = format!("HIP_VISIBLE_DEVICES=`{hip}`, CUDA_VISIBLE_DEVICES=`{cuda}`");
        let cause =
            "HIP reads the first one and ignores the second, the CUDA driver reads the second only";
        let subject = "HIP_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES";
        let row = DoctorRow::new(Area::Variables, subject, RowStatus::Warning, evidence);
        rows.push(row.because(
            cause,
            "unset CUDA_VISIBLE_DEVICES on a machine with AMD GPUs only",
        ));
    }
    rows
}

/// HIP counts the devices that the ROCm runtime leaves, so its indices end before their number.
fn beyond(rocr: &VisibleVariable, hip: &VisibleVariable) -> Option<DoctorRow> {
    let left = rocr.entries.len();
    let index = hip.entries.iter().find_map(|entry| match entry {
        VisibleEntry::Index(index) if *index as usize >= left => Some(*index),
        VisibleEntry::Index(_) | VisibleEntry::Uuid(_) => None,
    })?;
    let evidence = format!(
        "{}=`{}` leaves {}, {}=`{}` has the index {index}",
        rocr.name,
        rocr.value,
        Count(left, "device"),
        hip.name,
        hip.value
    );
    let cause = format!(
        "{} counts the devices that {} leaves, from 0 on; an index beyond them hides devices",
        hip.name, rocr.name
    );
    let row = DoctorRow::new(
        Area::Variables,
        format!("{} and {}", rocr.name, hip.name),
        RowStatus::Failure,
        evidence,
    );
    Some(row.because(cause, format!("unset {}", hip.name)))
}

#[cfg(test)]
mod tests {
    use super::rows;
    use crate::{
        evaluation::samples::{amd_host, row, with_variables},
        row::{DoctorRow, RowStatus},
    };

    fn with(variables: &[(&str, &str)]) -> Vec<DoctorRow> {
        rows(&with_variables(amd_host(), variables))
    }

    #[test]
    fn an_override_is_a_warning() {
        for name in ["HSA_OVERRIDE_GFX_VERSION", "HSA_OVERRIDE_GFX_VERSION_1"] {
            let rows = with(&[(name, "11.0.0")]);
            assert_eq!(row(&rows, name).status, RowStatus::Warning);
            assert_eq!(row(&rows, name).fix, Some(format!("unset {name}")));
        }
    }

    #[test]
    fn an_index_that_the_rocm_runtime_does_not_leave_is_a_failure() {
        let rows = with(&[
            ("ROCR_VISIBLE_DEVICES", "2,3"),
            ("HIP_VISIBLE_DEVICES", "2,3"),
        ]);
        let found = row(&rows, "ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES");
        assert_eq!(found.status, RowStatus::Failure);
        assert!(
            found.evidence.contains("leaves 2 devices") && found.evidence.contains("the index 2"),
            "{found:?}"
        );
        assert_eq!(found.fix.as_deref(), Some("unset HIP_VISIBLE_DEVICES"));
        let rows = with(&[
            ("ROCR_VISIBLE_DEVICES", "2,3"),
            ("HIP_VISIBLE_DEVICES", "1"),
        ]);
        assert!(
            rows.iter().all(|row| row.status == RowStatus::Note),
            "{rows:?}"
        );
    }

    #[test]
    fn two_different_lists_for_hip_and_cuda_are_a_warning() {
        let subject = "HIP_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES";
        let rows = with(&[("HIP_VISIBLE_DEVICES", "0"), ("CUDA_VISIBLE_DEVICES", "1")]);
        assert_eq!(row(&rows, subject).status, RowStatus::Warning);
        for equal in [
            [("HIP_VISIBLE_DEVICES", "0"), ("CUDA_VISIBLE_DEVICES", "0")],
            [("HIP_VISIBLE_DEVICES", ""), ("CUDA_VISIBLE_DEVICES", "0")],
        ] {
            assert!(with(&equal).iter().all(|row| row.subject != subject));
        }
    }

    #[test]
    fn the_fix_of_an_empty_ordinal_hides_no_device() {
        let fix = |value: &str| {
            row(&with(&[(super::ORDINAL, value)]), super::ORDINAL)
                .fix
                .clone()
        };
        let all = "unset GPU_DEVICE_ORDINAL";
        assert_eq!(fix("").as_deref(), Some(all));
        assert_eq!(
            fix("1"),
            Some(format!("{all}; export ROCR_VISIBLE_DEVICES=1"))
        );
    }

    #[test]
    fn an_error_in_a_list_is_a_failure_and_a_valid_list_a_note() {
        let rows = with(&[
            ("ROCR_VISIBLE_DEVICES", "0,oops"),
            ("GPU_DEVICE_ORDINAL", "0"),
        ]);
        assert_eq!(
            row(&rows, "ROCR_VISIBLE_DEVICES").status,
            RowStatus::Failure
        );
        assert_eq!(row(&rows, "GPU_DEVICE_ORDINAL").status, RowStatus::Warning);
        let rows = with(&[("ROCR_VISIBLE_DEVICES", "0")]);
        assert_eq!((rows.len(), rows[0].status), (1, RowStatus::Note));
        let rows = with(&[]);
        assert_eq!((rows.len(), rows[0].status), (1, RowStatus::Ok));
    }
}
