//! The visible-device variables, value by value.

use crate::machine::Machine;
use testgen_device::{DetectionPath, VisibleEntry, VisibleReader, visible_devices};

const ROCR: &str = "ROCR_VISIBLE_DEVICES";
const HIP: &str = "HIP_VISIBLE_DEVICES";
const CUDA: &str = "CUDA_VISIBLE_DEVICES";

/// The entries that apply, whether all devices are hidden, and whether the value is invalid.
type Reading<'a> = (&'a [&'a str], bool, bool);

#[test]
fn values_are_read_as_the_libraries_read_them() {
    let rows: &[(&str, &str, Reading<'_>)] = &[
        (ROCR, "0", (&["0"], false, false)),
        (ROCR, "1, 0", (&["1", "0"], false, false)),
        (ROCR, "", (&[], true, false)),
        (ROCR, "-1", (&[], true, false)),
        (ROCR, "0,-1,1", (&["0"], false, false)),
        (
            ROCR,
            "GPU-deadbeefdeadbeef,0",
            (&["GPU-deadbeefdeadbeef", "0"], false, false),
        ),
        (ROCR, "GPU-", (&[], true, true)),
        (ROCR, "0,0,1", (&["0"], false, true)),
        (ROCR, "0,,1", (&["0"], false, true)),
        (HIP, "0,2", (&["0", "2"], false, false)),
        (HIP, "", (&[], false, false)),
        (HIP, "-1", (&[], true, false)),
        (HIP, "0,0,1", (&["0", "1"], false, false)),
        (HIP, "0, 1", (&["0"], false, true)),
        (HIP, "all", (&[], true, true)),
        (CUDA, "2,1", (&["2", "1"], false, false)),
        (CUDA, "", (&[], true, false)),
        (CUDA, "0,2,-1,1", (&["0", "2"], false, false)),
        (CUDA, "0,x,1", (&["0"], false, true)),
        (CUDA, "0,0", (&[], true, true)),
        (CUDA, "GPU-8932f937", (&["GPU-8932f937"], false, false)),
        (
            CUDA,
            "MIG-GPU-8932f937-d72c/1/2",
            (&["MIG-GPU-8932f937-d72c/1/2"], false, false),
        ),
        (CUDA, "99999999999", (&[], true, true)),
        (CUDA, "NoDevFiles", (&[], true, true)),
    ];
    for (name, value, (entries, hides_all, wrong)) in rows {
        let visibility = visible_devices(&Machine::new().variable(name, value).system());
        let reading = visibility.variables.last().expect("the variable is set");
        let text = |entry: &VisibleEntry| match entry {
            VisibleEntry::Index(index) => index.to_string(),
            VisibleEntry::Uuid(uuid) => uuid.clone(),
        };
        let read: Vec<String> = reading.entries.iter().map(text).collect();
        assert_eq!(
            (read.as_slice(), reading.hides_all, reading.error.is_some()),
            (
                &entries.iter().map(ToString::to_string).collect::<Vec<_>>()[..],
                *hides_all,
                *wrong
            ),
            "{name}=`{value}`: {reading}"
        );
    }
}

#[test]
fn precedence_is_that_of_the_libraries() {
    let readers = |variables: &[(&str, &str)]| {
        let machine = variables
            .iter()
            .fold(Machine::new(), |machine, (name, value)| {
                machine.variable(name, value)
            });
        let visibility = visible_devices(&machine.system());
        visibility
            .variables
            .iter()
            .map(|variable| (variable.name, variable.reader))
            .collect::<Vec<_>>()
    };
    let (rocm, hip, cuda) = (
        VisibleReader::RocmRuntime,
        VisibleReader::Hip,
        VisibleReader::Cuda,
    );
    assert_eq!(readers(&[]), []);
    assert_eq!(
        readers(&[(HIP, "0"), (ROCR, "1"), (CUDA, "2")]),
        [(ROCR, rocm), (HIP, hip), (CUDA, cuda)]
    );
    assert_eq!(readers(&[(CUDA, "2")]), [(CUDA, hip), (CUDA, cuda)]);
    assert_eq!(
        readers(&[(HIP, ""), (CUDA, "2")]),
        [(HIP, hip), (CUDA, hip), (CUDA, cuda)]
    );
}

#[test]
fn each_path_has_its_own_variables() {
    let machine = Machine::new()
        .variable(ROCR, "0")
        .variable(HIP, "0")
        .variable(CUDA, "");
    let visibility = visible_devices(&machine.system());
    let names = |path| {
        visibility
            .on(path)
            .map(|variable| variable.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(DetectionPath::HipRuntime), [ROCR, HIP]);
    assert_eq!(names(DetectionPath::CudaDriver), [CUDA]);
    assert_eq!(names(DetectionPath::CudaCompatibility), [CUDA]);
    assert!(names(DetectionPath::HostProcessor).is_empty());
}

#[test]
fn effects_are_described() {
    let machine = Machine::new()
        .variable(ROCR, "2,GPU-ab")
        .variable(CUDA, "0,abc");
    insta::assert_snapshot!(visible_devices(&machine.system()), @r"
    ROCR_VISIBLE_DEVICES=`2,GPU-ab` (ROCm runtime): shows device 2, GPU-ab, in this order
    CUDA_VISIBLE_DEVICES=`0,abc` (HIP): shows device 0 of those the ROCm runtime leaves, and hides what follows; error: `abc` is neither an index nor a UUID (`GPU-...`); it ends the list
    CUDA_VISIBLE_DEVICES=`0,abc` (CUDA driver): shows device 0, and hides what follows; error: `abc` is neither an index nor a UUID (`GPU-...`); it ends the list
    ");
}
