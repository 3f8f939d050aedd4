//! Python, and the packages that engines use. PyTorch's are in `python/torch.rs`.

mod package;
mod torch;

use crate::{
    facts::{MachineFacts, Python, PythonFailure},
    row::{Area, DoctorRow, RowStatus},
};
use package::{absent, broken, install, older};
use testgen_base::text::shell_quote;
use torch::{architectures, torch};

/// The oldest transformers that the engine `torch` supports.
const TRANSFORMERS: (u32, u32) = (4, 57);

/// The packages besides torch and onnxruntime; the last one is for diffusion models only.
const OTHERS: [&str; 4] = ["transformers", "safetensors", "numpy", "diffusers"];

pub(super) fn rows(facts: &MachineFacts) -> Vec<DoctorRow> {
    let python = match &facts.python {
        Ok(python) => python,
        // Without Python no package can be looked up, and a row for each would repeat this one.
        Err(failure) => return vec![without_python(failure)],
    };
    let evidence = format!("{}, version {}", python.executable, python.version);
    let mut rows = vec![
        DoctorRow::new(Area::Python, "python", RowStatus::Ok, evidence),
        torch(facts, python),
    ];
    rows.extend(architectures(facts, python));
    rows.extend(OTHERS.map(|name| other(python, name)));
    rows.push(onnxruntime(python));
    rows.extend(several_distributions(python));
    rows
}

/// Only `run` and `generate` work without Python; engines and `record` do not.
fn without_python(failure: &PythonFailure) -> DoctorRow {
    // Python was asked for, or is installed and broken; an absent one may not be needed.
    let status = if failure.named || !failure.missing {
        RowStatus::Failure
    } else {
        RowStatus::Note
    };
    let row = DoctorRow::new(
        Area::Python,
        "python",
        status,
        format!("`{}`: {}", failure.program, failure.problem),
    );
    row.because(
        "the engines `torch` and `onnxruntime` need Python 3",
        "sudo apt install python3, or --python PATH",
    )
}

fn other(python: &Python, name: &str) -> DoctorRow {
    let Some(package) = python.packages.get(name) else {
        return absent(python, name);
    };
    let row = DoctorRow::new(Area::Python, name, RowStatus::Ok, &package.version);
    if name == "transformers" && older(&package.version, TRANSFORMERS) {
        return row.warning(
            "the engine `torch` needs 4.57 or newer",
            install(python, "--upgrade transformers"),
        );
    }
    row
}

fn onnxruntime(python: &Python) -> DoctorRow {
    let Some(package) = python.packages.get("onnxruntime") else {
        return absent(python, "onnxruntime");
    };
    if let Some(error) = &package.error {
        return broken(python, "onnxruntime", package, error);
    }
    let build = package
        .build
        .as_ref()
        .map_or_else(String::new, |build| format!(", {build}"));
    // Not evaluated: the list is what the build contains, also if a library of a provider is
    // missing. Only the known answers show that a provider computes.
    let providers = package.providers.join(", ");
    DoctorRow::new(
        Area::Python,
        "onnxruntime",
        RowStatus::Ok,
        format!("{}{build}; providers: {providers}", package.version),
    )
}

fn several_distributions(python: &Python) -> Option<DoctorRow> {
    // All of them write the same directory, so that the last one that was installed replaces files
    // of the others.
    let found = &python.onnxruntime_distributions;
    let row = DoctorRow::new(
        Area::Python,
        "onnxruntime",
        RowStatus::Warning,
        format!("installed by {}", found.join(", ")),
    );
    let remove = format!(
        "{} -m pip uninstall --yes {}",
        shell_quote(&python.executable),
        found.join(" ")
    );
    let fix = format!("{remove}; then install the one for this GPU");
    (found.len() > 1).then(|| row.because("these packages overwrite each other's files", fix))
}

#[cfg(test)]
mod tests {
    use super::rows;
    use crate::{
        evaluation::samples::{amd_host, empty, row, with_package},
        facts::{PythonFailure, PythonPackage},
        row::RowStatus,
    };
    use testgen_device::DeviceKind;

    fn package(version: &str) -> PythonPackage {
        PythonPackage {
            version: version.to_owned(),
            ..PythonPackage::default()
        }
    }

    fn hip(architectures: &[&str]) -> PythonPackage {
        let architectures = architectures
            .iter()
            .map(|name| (*name).to_owned())
            .collect();
        PythonPackage {
            hip: Some("7.0".to_owned()),
            architectures,
            ..package("2.11.0+rocm7.0")
        }
    }

    #[test]
    fn absent_packages_and_an_absent_python_are_notes() {
        let found = rows(&empty());
        for name in ["torch", "transformers", "onnxruntime"] {
            assert_eq!(row(&found, name).status, RowStatus::Note);
            let fix = format!("/usr/bin/python3 -m pip install {name}");
            assert_eq!(row(&found, name).fix, Some(fix));
        }
        let failure = |named, missing| {
            let failure = PythonFailure {
                program: "python3".to_owned(),
                problem: "not found".to_owned(),
                named,
                missing,
            };
            let facts = crate::facts::MachineFacts {
                python: Err(failure),
                ..empty()
            };
            row(&rows(&facts), "python").status
        };
        assert_eq!(failure(false, true), RowStatus::Note);
        assert_eq!(failure(true, true), RowStatus::Failure);
        assert_eq!(failure(false, false), RowStatus::Failure);
    }

    #[test]
    fn a_torch_for_another_vendor_is_a_warning_with_the_index_of_its_wheels() {
        let cuda = PythonPackage {
            cuda: Some("12.8".to_owned()),
            ..package("2.11.0")
        };
        let found = rows(&with_package(amd_host(), "torch", cuda.clone()));
        let torch = row(&found, "torch");
        assert_eq!(
            (torch.status, torch.evidence.as_str()),
            (RowStatus::Warning, "2.11.0, built for CUDA 12.8")
        );
        assert!(
            torch
                .fix
                .as_ref()
                .is_some_and(|fix| fix.contains("download.pytorch.org/whl/rocm"))
        );
        assert_eq!(
            row(&rows(&with_package(empty(), "torch", cuda)), "torch").status,
            RowStatus::Ok
        );
        assert_eq!(
            row(&rows(&with_package(amd_host(), "torch", hip(&[]))), "torch").status,
            RowStatus::Ok
        );
    }

    #[test]
    fn a_build_without_kernels_for_the_gpu_is_a_warning() {
        let found = rows(&with_package(
            amd_host(),
            "torch",
            hip(&["gfx90a", "gfx1100"]),
        ));
        let torch = row(&found, "torch, rocm:0");
        assert_eq!(
            (torch.status, torch.evidence.as_str()),
            (
                RowStatus::Warning,
                "has kernels for gfx90a, gfx1100, not for gfx942"
            )
        );
        let mut simulated = amd_host();
        let gpu = simulated.inventory.devices.last_mut().expect("is a GPU");
        gpu.simulated = true;
        let found = rows(&with_package(simulated, "torch", hip(&["gfx90a"])));
        assert!(found.iter().all(|row| row.subject != "torch, rocm:0"));
        for complete in [hip(&["gfx942"]), hip(&[])] {
            let found = rows(&with_package(amd_host(), "torch", complete));
            assert!(found.iter().all(|row| row.subject != "torch, rocm:0"));
        }
    }

    #[test]
    fn a_cuda_build_without_kernels_for_the_gpu_is_a_warning() {
        let fix = |own: &str, built: &[&str]| {
            let mut facts = amd_host();
            let gpu = facts.inventory.devices.last_mut().expect("is a GPU");
            gpu.kind = DeviceKind::Cuda;
            gpu.architecture = Some(own.to_owned());
            let torch = PythonPackage {
                cuda: Some("12.8".to_owned()),
                hip: None,
                ..hip(built)
            };
            let found = rows(&with_package(facts, "torch", torch));
            let row = found.iter().find(|row| row.subject == "torch, cuda:0");
            row.and_then(|row| row.fix.clone()).unwrap_or_default()
        };
        let built = ["compute_90", "sm_75", "sm_80", "sm_90"];
        for own in ["sm_75", "sm_86", "sm_90", "sm_120"] {
            assert_eq!(fix(own, &built), "", "{own}");
        }
        assert!(fix("sm_61", &built).contains("whl/cu126"));
        assert!(fix("sm_120", &built[1..]).contains("whl/cu128"));
        assert!(fix("sm_100", &["sm_90a"]).contains("whl/cu128"));
        assert_eq!(fix("sm_90", &["sm_90a"]), "");
    }

    #[test]
    fn old_and_broken_packages_are_reported() {
        let status =
            |name: &str, package| row(&rows(&with_package(empty(), name, package)), name).status;
        assert_eq!(status("torch", package("2.3.1")), RowStatus::Warning);
        assert_eq!(status("torch", package("2.4.0")), RowStatus::Ok);
        assert_eq!(
            status("transformers", package("4.56.2")),
            RowStatus::Warning
        );
        assert_eq!(status("transformers", package("5.0.0")), RowStatus::Ok);
        let damaged = PythonPackage {
            error: Some("libamdhip64.so.6: cannot open".to_owned()),
            ..package("2.11.0")
        };
        assert_eq!(status("torch", damaged), RowStatus::Failure);
    }

    #[test]
    fn onnxruntime_has_its_providers() {
        let providers = vec![
            "MIGraphXExecutionProvider".to_owned(),
            "CPUExecutionProvider".to_owned(),
        ];
        let mut facts = with_package(
            empty(),
            "onnxruntime",
            PythonPackage {
                providers,
                ..package("1.27.0")
            },
        );
        let found = rows(&facts);
        let found = row(&found, "onnxruntime");
        assert_eq!(found.status, RowStatus::Ok);
        assert_eq!(
            found.evidence,
            "1.27.0; providers: MIGraphXExecutionProvider, CPUExecutionProvider"
        );
        if let Ok(python) = &mut facts.python {
            python.onnxruntime_distributions =
                vec!["onnxruntime".to_owned(), "onnxruntime-gpu".to_owned()];
        }
        assert_eq!(
            rows(&facts)
                .iter()
                .filter(|row| row.status == RowStatus::Warning)
                .count(),
            1
        );
    }
}
