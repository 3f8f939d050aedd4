//! Compiled kernels: found again, shared between threads, and what happens without a compiler or with a wrong text.

use crate::laboratory::Laboratory;
use hip_sim::{Program, Statistics};
use std::ffi::CString;

const TEXT: &str = "extern \"C\" __global__ void kernel(float* data) { data[0] = 1; }";

#[test]
fn a_kernel_is_compiled_once() {
    let laboratory = Laboratory::with(&[]);
    let statistics = Statistics::default();
    for _ in 0..3 {
        let mut program = Program::new(&CString::new(format!("#include <hip/hip_runtime.h>\n{TEXT}")).unwrap());
        program.compile(laboratory.simulator.configuration(), &statistics).unwrap();
    }
    assert_eq!((statistics.compiled_kernels(), statistics.cache_hits()), (1, 2));
}

#[test]
fn several_threads_may_compile_the_same_kernels() {
    let laboratory = Laboratory::with(&[]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| laboratory.compile(TEXT).unwrap());
        }
    });
    let files = std::fs::read_dir(laboratory.folder.path()).unwrap();
    let names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.iter().filter(|name| name.ends_with(".so")).count(), 1, "{names:?}");
    assert!(!names.iter().any(|name| name.contains("tmp")), "{names:?}");
}

#[test]
fn a_text_that_does_not_compile_says_where() {
    let refusal =
        Laboratory::with(&[]).compile("extern \"C\" __global__ void kernel(float* data) { data[0] = nonsense; }");
    let refusal = refusal.unwrap_err();
    assert!(refusal.contains("nonsense") && refusal.contains("error"), "{refusal}");
}

#[test]
fn a_missing_compiler_is_a_clear_error() {
    let refusal = Laboratory::with(&[("HIP_SIM_CXX", "no-such-compiler")]).compile(TEXT).unwrap_err();
    assert!(refusal.contains("`no-such-compiler`") && refusal.contains("HIP_SIM_CXX"), "{refusal}");
}

#[test]
fn the_text_is_dumped_as_it_came() {
    let folder = tempfile::TempDir::new().unwrap();
    let laboratory = Laboratory::with(&[("HIP_SIM_DUMP", folder.path().to_str().unwrap())]);
    laboratory.compile(TEXT).unwrap();
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    assert_eq!(file.extension().unwrap(), "hip");
    assert!(std::fs::read_to_string(file).unwrap().ends_with(TEXT));
}
