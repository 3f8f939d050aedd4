//! The signatures by which functions of the libraries are called, for their comparison with the
//! published headers.

use crate::{
    classic::{
        CublasFunctions, CublasGemvFunctions, RocblasFunctions, RocblasGemvFunctions,
        SolutionFunctions,
    },
    dnn::{
        CudnnFunctions, CudnnPrimitiveFunctions, CudnnSwishFunctions, MiopenFunctions,
        MiopenNormFunctions, MiopenPrimitiveFunctions, PrimitiveFunctions,
    },
    lt::LtFunctions,
    symbols::FunctionTable,
};

/// Every function of the six libraries with the classes of its parameters: `pointer`, `i32`,
/// `u32`, `i64`, `u64`, `usize`, `f32`, `f64`, `bool`.
pub fn signatures() -> Vec<(String, Vec<&'static str>)> {
    let tables = [
        ("cublas", CublasFunctions::SIGNATURES),
        ("cublas", CublasGemvFunctions::SIGNATURES),
        ("cublasLt", LtFunctions::SIGNATURES),
        ("rocblas_", RocblasFunctions::SIGNATURES),
        ("rocblas_", RocblasGemvFunctions::SIGNATURES),
        ("rocblas_", SolutionFunctions::SIGNATURES),
        ("hipblasLt", LtFunctions::SIGNATURES),
        ("cudnn", CudnnFunctions::SIGNATURES),
        ("cudnn", PrimitiveFunctions::SIGNATURES),
        ("cudnn", CudnnPrimitiveFunctions::SIGNATURES),
        ("cudnn", CudnnSwishFunctions::SIGNATURES),
        ("miopen", MiopenFunctions::SIGNATURES),
        ("miopen", PrimitiveFunctions::SIGNATURES),
        ("miopen", MiopenPrimitiveFunctions::SIGNATURES),
        ("miopen", MiopenNormFunctions::SIGNATURES),
    ];
    let functions = tables.into_iter().flat_map(|(prefix, table)| {
        table.iter().map(move |(suffix, parameters)| {
            (
                format!("{prefix}{suffix}"),
                parameters
                    .iter()
                    .map(|parameter| parameter_class(parameter))
                    .collect(),
            )
        })
    });
    functions.collect()
}

/// The class of a parameter by the text of its type.
pub fn parameter_class(text: &str) -> &'static str {
    match text.trim() {
        pointer if pointer.starts_with('*') => "pointer",
        "Opaque" | "Data" => "pointer",
        "c_int" | "i32" => "i32",
        "c_uint" | "u32" => "u32",
        "c_longlong" | "i64" => "i64",
        "u64" => "u64",
        "usize" => "usize",
        "f32" => "f32",
        "f64" => "f64",
        "bool" => "bool",
        _ => "unknown",
    }
}
