//! The subprocess: computes on the simulated device and prints its results.

use crate::installation::ROLE;
use crate::{bias, calls, convolutions, primitives, tuning, variables};
use testgen_device::{System, hip_runtime};
use testgen_libraries::{LibraryName, Opened, PartialSums, compare_algorithms, open};

/// Opens a library on the simulated device.
pub(crate) fn opened(name: &str) -> Opened {
    let system = System::host();
    let devices = hip_runtime(&system).expect("a simulated device");
    let library = LibraryName::ALL
        .iter()
        .find(|library| library.as_str() == name)
        .expect("a library");
    open(&system, *library, &devices[0], PartialSums::Single)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Does nothing unless it is the subprocess.
#[test]
fn worker() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let (kind, library) = role.split_once(' ').expect("a kind and a library");
    match kind {
        "algorithms" => {
            let opened = opened(library);
            let operators = opened.name().operators();
            let report = compare_algorithms(&opened, operators, true, None);
            println!("\n{}", serde_json::to_string(&report).expect("is JSON"));
        }
        "calls" if library == "miopen" => {
            convolutions::compare();
            primitives::compare();
        }
        "calls" => calls::compare(library),
        "bias" => bias::multiply(library),
        "tuning" => tuning::multiply(library),
        "tuned_convolution" => tuning::convolve(library),
        "variables" => variables::print_versions(),
        other => panic!("unknown role {other}"),
    }
}
