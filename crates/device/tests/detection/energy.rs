//! The energy counters of processors and GPUs on fake machines.

use crate::fake_library::{CudaGpu, H100, MI300X, nvml};
use crate::machine::Machine;
use std::path::Path;
use testgen_device::{Device, EnergyCounter, cuda_driver, hip_runtime, host_processor};

fn opened(machine: &Machine, device: &Device) -> Option<EnergyCounter> {
    EnergyCounter::open_in(&machine.system(), device)
}

/// The joules between now and after `change`.
fn joules(counter: &EnergyCounter, change: impl FnOnce()) -> Option<f64> {
    let before = counter.read().expect("the counter is read");
    change();
    let after = counter.read().expect("the counter is read");
    counter.joules(&before, &after)
}

/// A package, or a part of one, with its counter.
fn powercap(machine: Machine, directory: &str, (name, energy): (&str, u64)) -> Machine {
    let directory = format!("sys/class/powercap/{directory}");
    machine
        .file(&format!("{directory}/name"), &format!("{name}\n"))
        .file(&format!("{directory}/energy_uj"), &format!("{energy}\n"))
        .file(
            &format!("{directory}/max_energy_range_uj"),
            "262143328850\n",
        )
}

fn write(machine: &Machine, path: &str, energy: u64) {
    let path = machine.system().path(Path::new("/").join(path));
    std::fs::write(path, energy.to_string()).expect("the counter is written");
}

#[test]
fn nvml_counts_millijoules_of_a_whole_gpu() {
    let library = nvml("0000:41:00.0", 80, 55);
    let with = |gpu: CudaGpu| {
        Machine::new()
            .cuda(&[gpu])
            .library("lib/libnvidia-ml.so.1", &library)
    };
    let device =
        |machine: &Machine| cuda_driver(&machine.system()).expect("a device is found")[0].clone();
    let machine = with(H100);
    let counter = opened(&machine, &device(&machine)).expect("it has a counter");
    assert_eq!(joules(&counter, || {}), Some(1.5));
    let instance = with(CudaGpu {
        name: "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
        free_gib: 8,
        ..H100
    });
    assert!(opened(&instance, &device(&instance)).is_none());
    let without = Machine::new().cuda(&[H100]);
    assert!(opened(&without, &device(&without)).is_none());
}

#[test]
fn a_processor_has_the_sum_of_its_packages() {
    let machine = powercap(Machine::new(), "intel-rapl:0", ("package-0", 1_000_000));
    let machine = powercap(machine, "intel-rapl:1", ("package-1", 5_000_000));
    // Parts of a package, and the whole machine.
    let machine = powercap(machine, "intel-rapl:0:0", ("core", 1));
    let machine = powercap(machine, "intel-rapl:2", ("psys", 1));
    let host = host_processor(&machine.system());
    let counter = opened(&machine, &host).expect("it has counters");
    let second = "sys/class/powercap/intel-rapl:1/energy_uj";
    let used = joules(&counter, || {
        write(
            &machine,
            "sys/class/powercap/intel-rapl:0/energy_uj",
            1_250_000,
        );
        write(&machine, second, 5_500_000);
        write(
            &machine,
            "sys/class/powercap/intel-rapl:2/energy_uj",
            9_000_000,
        );
    });
    assert_eq!(used, Some(0.75));
    // Nothing was counted, as of a counter that does not count.
    assert_eq!(joules(&counter, || {}), None);
    std::fs::remove_file(machine.system().path(format!("/{second}"))).expect("it is removed");
    assert!(opened(&machine, &host).is_none(), "a part is not the sum");
    assert!(opened(&Machine::new(), &host).is_none());
}

#[test]
fn a_counter_that_starts_again_has_gone_through_its_range() {
    let machine = powercap(
        Machine::new(),
        "intel-rapl:0",
        ("package-0", 262_143_328_850 - 400_000),
    );
    let counter = opened(&machine, &host_processor(&machine.system())).expect("it has a counter");
    let file = "sys/class/powercap/intel-rapl:0/energy_uj";
    assert_eq!(
        joules(&counter, || write(&machine, file, 100_000)),
        Some(0.5)
    );
}

#[test]
fn an_amd_gpu_has_the_counter_of_its_hwmon_directory() {
    let file = "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon4/energy1_input";
    let machine = Machine::new().rocm(&[MI300X]);
    let device = hip_runtime(&machine.system()).expect("a device is found")[0].clone();
    assert!(opened(&machine, &device).is_none());
    let machine = machine
        .file(
            "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon3/name",
            "other\n",
        )
        .file(file, "900000\n");
    let counter = opened(&machine, &device).expect("it has a counter");
    assert_eq!(
        joules(&counter, || write(&machine, file, 2_400_000)),
        Some(1.5)
    );
    // Without a range, a counter that goes back says nothing.
    assert_eq!(joules(&counter, || write(&machine, file, 1)), None);
    let simulated = Device {
        simulated: true,
        ..device
    };
    assert!(opened(&machine, &simulated).is_none());
}
