//! hiprtc on top of NVRTC: the kernel's source with headers that define HIP's device language in
//! terms of CUDA's.

use crate::driver::SUCCESS;
use crate::{answer, driver};
use hip_sim::HipError;
use libloading::Library;
use std::ffi::{CString, c_char, c_int};
use std::mem::ManuallyDrop;
use std::sync::OnceLock;

type ProgramHandle = *mut std::ffi::c_void;

const HEADERS: &[(&std::ffi::CStr, &str)] = &[
    (
        c"hip/hip_runtime.h",
        include_str!("../include/hip/hip_runtime.h"),
    ),
    (c"hip/hip_fp16.h", include_str!("../include/hip/hip_fp16.h")),
    (c"hip/hip_bf16.h", include_str!("../include/hip/hip_bf16.h")),
];

/// The functions of NVRTC.
struct Nvrtc {
    create: unsafe extern "C" fn(
        *mut ProgramHandle,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int,
    compile: unsafe extern "C" fn(ProgramHandle, c_int, *const *const c_char) -> c_int,
    code_size: unsafe extern "C" fn(ProgramHandle, *mut usize) -> c_int,
    code: unsafe extern "C" fn(ProgramHandle, *mut c_char) -> c_int,
    log_size: unsafe extern "C" fn(ProgramHandle, *mut usize) -> c_int,
    log: unsafe extern "C" fn(ProgramHandle, *mut c_char) -> c_int,
}

impl Nvrtc {
    fn open() -> Option<Self> {
        // Newest first: an older compiler does not know the newest devices.
        let names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
        let folders = [String::new(), format!("{}/lib64/", toolkit())];
        let paths = folders
            .iter()
            .flat_map(|folder| names.map(|name| format!("{folder}{name}")));
        // SAFETY: loading runs the initialisers of NVIDIA's compiler, as burn's CUDA backend does.
        let library = paths
            .into_iter()
            .find_map(|path| unsafe { Library::new(path) }.ok())?;
        // Never unloaded: its functions are called until the process ends.
        let library = ManuallyDrop::new(library);
        // SAFETY: the types are the C signatures of nvrtc.h.
        unsafe {
            Some(Self {
                create: *library.get("nvrtcCreateProgram").ok()?,
                compile: *library.get("nvrtcCompileProgram").ok()?,
                code_size: *library.get("nvrtcGetCUBINSize").ok()?,
                code: *library.get("nvrtcGetCUBIN").ok()?,
                log_size: *library.get("nvrtcGetProgramLogSize").ok()?,
                log: *library.get("nvrtcGetProgramLog").ok()?,
            })
        }
    }
}

fn toolkit() -> String {
    std::env::var("CUDA_PATH").unwrap_or_else(|_| "/usr/local/cuda".to_owned())
}

fn nvrtc() -> Result<&'static Nvrtc, HipError> {
    static NVRTC: OnceLock<Option<Nvrtc>> = OnceLock::new();
    NVRTC
        .get_or_init(Nvrtc::open)
        .as_ref()
        .ok_or(HipError::NotInitialized)
}

/// `hiprtcCreateProgram`.
///
/// # Safety
///
/// `program` can be written; `source` ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcCreateProgram(
    program: *mut ProgramHandle,
    source: *const c_char,
    name: *const c_char,
    _headers: c_int,
    _header_texts: *const *const c_char,
    _header_names: *const *const c_char,
) -> u32 {
    answer(nvrtc().map(|nvrtc| {
        let texts: Vec<CString> = HEADERS
            .iter()
            .map(|(_, text)| CString::new(*text).unwrap_or_default())
            .collect();
        let texts: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        let names: Vec<*const c_char> = HEADERS.iter().map(|(name, _)| name.as_ptr()).collect();
        let count = c_int::try_from(HEADERS.len()).unwrap_or_default();
        // SAFETY: as the caller promises; NVRTC copies the headers.
        unsafe { (nvrtc.create)(program, source, name, count, texts.as_ptr(), names.as_ptr()) }
    }))
}

/// `hiprtcCompileProgram`. The options are for AMD's compiler and are replaced by NVRTC's.
///
/// # Safety
///
/// `program` is a program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcCompileProgram(
    program: ProgramHandle,
    _count: c_int,
    _options: *const *const c_char,
) -> u32 {
    answer(nvrtc().and_then(|nvrtc| {
        let include = toolkit();
        let options = [
            format!("--gpu-architecture=sm_{}", capability()?),
            format!("--include-path={include}/include"),
            format!("--include-path={include}/include/cccl"),
            "--std=c++17".to_owned(),
        ];
        let options: Vec<CString> = options
            .into_iter()
            .map(|option| CString::new(option).unwrap_or_default())
            .collect();
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(options.len()).unwrap_or_default();
        // SAFETY: as the caller promises.
        Ok(unsafe { (nvrtc.compile)(program, count, options.as_ptr()) })
    }))
}

/// The compute capability of device 0, as 90.
fn capability() -> Result<c_int, HipError> {
    // Of device 0, because kernels are compiled once for all devices of a machine.
    /// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `_MINOR`.
    const MAJOR_AND_MINOR: [c_int; 2] = [75, 76];
    let driver = driver()?;
    let attribute = |attribute| {
        let mut value = 0;
        // SAFETY: `value` can be written.
        let status = unsafe { (driver.attribute)(&mut value, attribute, 0) };
        if status == SUCCESS {
            Ok(value)
        } else {
            Err(HipError::InvalidDevice)
        }
    };
    let [major, minor] = MAJOR_AND_MINOR.map(attribute);
    Ok(major? * 10 + minor?)
}

macro_rules! forwarded {
    ($($(#[$doc:meta])* $name:ident = $field:ident(*mut $value:ty);)+) => {
        $($(#[$doc])*
        ///
        /// # Safety
        ///
        /// `program` is a program; `place` can be written.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(program: ProgramHandle, place: *mut $value) -> u32 {
            // SAFETY: as the caller promises.
            answer(nvrtc().map(|nvrtc| unsafe { (nvrtc.$field)(program, place) }))
        })+
    };
}

forwarded! {
    /// `hiprtcGetCodeSize`.
    hiprtcGetCodeSize = code_size(*mut usize);
    /// `hiprtcGetCode`.
    hiprtcGetCode = code(*mut c_char);
    /// `hiprtcGetProgramLogSize`.
    hiprtcGetProgramLogSize = log_size(*mut usize);
    /// `hiprtcGetProgramLog`.
    hiprtcGetProgramLog = log(*mut c_char);
}
