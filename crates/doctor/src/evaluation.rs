//! The meaning of facts: pure functions from facts to lines.

mod computations;
mod container;
mod device_files;
mod devices;
mod kernel_modules;
mod libraries;
mod memory;
mod python;
#[cfg(test)]
mod samples;
mod variables;

use crate::{facts::MachineFacts, row::DoctorRow};

pub use computations::evaluate_computations;

/// The lines of all facts, in the order of their areas.
pub fn evaluate(facts: &MachineFacts) -> Vec<DoctorRow> {
    let parts: [fn(&MachineFacts) -> Vec<DoctorRow>; 8] = [
        container::rows,
        kernel_modules::rows,
        device_files::rows,
        variables::rows,
        libraries::rows,
        devices::rows,
        memory::rows,
        python::rows,
    ];
    parts.iter().flat_map(|part| part(facts)).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        evaluate,
        samples::{amd_host, empty, file, in_container, with_package, with_variables},
    };
    use crate::{
        diagnosis::Diagnosis,
        facts::{Access, MachineFacts, PythonPackage},
        row::RowStatus,
    };

    /// Machines on which something is wrong.
    fn damaged() -> Vec<MachineFacts> {
        let mut forbidden = amd_host();
        forbidden.files = vec![
            file("/dev/kfd", Access::Forbidden),
            file("/dev/dri/renderD128", Access::Filtered),
        ];
        let mut broken = in_container(amd_host());
        broken.files = vec![file(
            "/dev/kfd",
            Access::Failed("input/output error".to_owned()),
        )];
        broken.host.memory_limit = Some(1);
        let mut unloaded = amd_host();
        unloaded.host.modules.clear();
        unloaded.inventory.topology.pci[0].driver = None;
        let variables = [
            ("ROCR_VISIBLE_DEVICES", "x"),
            ("HSA_OVERRIDE_GFX_VERSION", "1"),
            ("GPU_DEVICE_ORDINAL", "0"),
        ];
        let torch = PythonPackage {
            version: "2.0".to_owned(),
            ..PythonPackage::default()
        };
        vec![
            forbidden,
            broken,
            unloaded,
            with_variables(amd_host(), &variables),
            with_package(amd_host(), "torch", torch),
        ]
    }

    #[test]
    fn every_problem_has_its_cause_and_a_command() {
        for facts in damaged() {
            let rows = evaluate(&facts);
            let problems: Vec<_> = rows
                .iter()
                .filter(|row| row.status >= RowStatus::Warning)
                .collect();
            assert!(!problems.is_empty(), "{facts:?}");
            for row in problems {
                assert!(row.cause.is_some() && row.fix.is_some(), "{row:?}");
            }
        }
    }

    #[test]
    fn lines_are_in_the_order_of_their_areas_and_the_same_each_time() {
        for facts in damaged() {
            let rows = evaluate(&facts);
            assert_eq!(rows, evaluate(&facts));
            let sorted = Diagnosis::new(rows.clone()).rows;
            assert_eq!(
                rows.iter().map(|row| row.area).collect::<Vec<_>>(),
                sorted.iter().map(|row| row.area).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn a_machine_where_everything_works_has_no_problem() {
        for facts in [empty(), amd_host(), in_container(amd_host())] {
            let problems: Vec<_> = evaluate(&facts)
                .into_iter()
                .filter(|row| row.status >= RowStatus::Warning)
                .collect();
            assert!(problems.is_empty(), "{problems:#?}");
        }
    }
}
