//! The clocks of AMD GPUs; the clocks of NVIDIA GPUs are tested with the CUDA path.

use crate::fake_library::MI300X;
use crate::machine::Machine;
use testgen_device::{ComputeFacts, compute_facts_in, hip_runtime};

fn facts(machine: &Machine) -> ComputeFacts {
    let devices = hip_runtime(&machine.system()).expect("devices are found");
    compute_facts_in(&machine.system(), &devices[0])
}

#[test]
fn clocks_of_an_amd_gpu_are_of_its_kernel_driver() {
    let levels = "S: 132Mhz\n0: 500Mhz\n1: 1300Mhz *\n2: 2100Mhz\n";
    let file = "sys/bus/pci/devices/0000:03:00.0/pp_dpm_sclk";
    let expected = ComputeFacts {
        compute_units: None,
        clock_mhz: Some(1300),
        max_clock_mhz: Some(2100),
    };
    let machine = Machine::new().rocm(&[MI300X]).file(file, levels);
    assert_eq!(facts(&machine), expected);
    // The clocks of another GPU do not count.
    let elsewhere = file.replace("03", "04");
    let machine = Machine::new().rocm(&[MI300X]).file(&elsewhere, levels);
    assert_eq!(facts(&machine), ComputeFacts::default());
}
