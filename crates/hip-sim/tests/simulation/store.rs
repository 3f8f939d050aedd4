//! The cache of compiled kernels: hits, concurrent compilation, and errors of the compiler.

use crate::test_device::TestDevice;
use hip_sim::{Program, Statistics};
use std::ffi::CString;

const TEXT: &str = "extern \"C\" __global__ void kernel(float* data) { data[0] = 1; }";

#[test]
fn a_kernel_is_compiled_once() {
    let device = TestDevice::with(&[]);
    let statistics = Statistics::default();
    for _ in 0..3 {
        let mut program =
            Program::new(&CString::new(format!("#include <hip/hip_runtime.h>\n{TEXT}")).unwrap());
        program
            .compile(device.simulator.configuration(), &statistics)
            .unwrap();
    }
    assert_eq!(
        (statistics.compiled_kernels(), statistics.cache_hits()),
        (1, 2)
    );
}

#[test]
fn several_threads_may_compile_the_same_kernel() {
    let device = TestDevice::with(&[]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| device.compile(TEXT).unwrap());
        }
    });
    let files = std::fs::read_dir(device.folder.path()).unwrap();
    let names: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        names.iter().filter(|name| name.ends_with(".so")).count(),
        1,
        "{names:?}"
    );
    assert!(!names.iter().any(|name| name.contains("tmp")), "{names:?}");
}

#[test]
fn an_error_of_the_compiler_is_returned() {
    let error = TestDevice::with(&[])
        .compile("extern \"C\" __global__ void kernel(float* data) { data[0] = undeclared; }");
    let error = error.unwrap_err();
    assert!(
        error.contains("undeclared") && error.contains("error"),
        "{error}"
    );
}

#[test]
fn a_missing_compiler_is_an_error_that_names_the_variable() {
    let error = TestDevice::with(&[("HIP_SIM_CXX", "no-such-compiler")])
        .compile(TEXT)
        .unwrap_err();
    assert!(
        error.contains("`no-such-compiler`") && error.contains("HIP_SIM_CXX"),
        "{error}"
    );
}

#[test]
fn the_dump_is_the_original_source() {
    let folder = tempfile::TempDir::new().unwrap();
    TestDevice::with(&[("HIP_SIM_DUMP", folder.path().to_str().unwrap())])
        .compile(TEXT)
        .unwrap();
    let file = std::fs::read_dir(folder.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    assert_eq!(file.extension().unwrap(), "hip");
    assert!(std::fs::read_to_string(file).unwrap().ends_with(TEXT));
}
