//! The simulated `libhiprtc`: the functions that compile kernels, with the C signatures of
//! `hiprtc.h`.

use hip_sim::{Configuration, HipError, Program, Statistics, guarded};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::Write;
use std::sync::OnceLock;

/// `HIPRTC_ERROR_COMPILATION`.
const COMPILATION: u32 = 6;

/// `hiprtcCreateProgram`.
///
/// # Safety
///
/// `program` can be written; `source` ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcCreateProgram(
    program: *mut *mut c_void,
    source: *const c_char,
    _name: *const c_char,
    _headers: c_int,
    _header_texts: *const *const c_char,
    _header_names: *const *const c_char,
) -> u32 {
    guarded(|| {
        if program.is_null() || source.is_null() {
            return Err(HipError::InvalidValue);
        }
        // SAFETY: as the caller promises.
        unsafe {
            program.write(Box::into_raw(Box::new(Program::new(CStr::from_ptr(source)))).cast())
        };
        Ok(())
    })
}

/// `hiprtcCompileProgram`. The options are ignored: they are for AMD's compiler.
///
/// # Safety
///
/// `program` came from [`hiprtcCreateProgram`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcCompileProgram(
    program: *mut c_void,
    _count: c_int,
    _options: *const *const c_char,
) -> u32 {
    let mut rejected = false;
    let status = guarded(|| {
        // SAFETY: as the caller promises.
        let program =
            unsafe { program.cast::<Program>().as_mut() }.ok_or(HipError::InvalidValue)?;
        let (configuration, statistics) = compiler()?;
        rejected = program.compile(configuration, statistics).is_err();
        Ok(())
    });
    // hiprtc has a separate enum: as a HIP status, this number would be another error.
    if rejected { COMPILATION } else { status }
}

/// `hiprtcGetProgramLogSize`, including the terminating zero.
///
/// # Safety
///
/// `program` came from [`hiprtcCreateProgram`]; `size` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetProgramLogSize(program: *mut c_void, size: *mut usize) -> u32 {
    // SAFETY: as the caller promises.
    unsafe {
        put_size(program, size, |program| {
            program.log().to_bytes_with_nul().len()
        })
    }
}

/// `hiprtcGetProgramLog`.
///
/// # Safety
///
/// `program` came from [`hiprtcCreateProgram`]; `log` has room for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetProgramLog(program: *mut c_void, log: *mut c_char) -> u32 {
    // SAFETY: as the caller promises.
    unsafe { put_bytes(program, log, |program| program.log().to_bytes_with_nul()) }
}

/// `hiprtcGetCodeSize`.
///
/// # Safety
///
/// `program` came from [`hiprtcCreateProgram`]; `size` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetCodeSize(program: *mut c_void, size: *mut usize) -> u32 {
    // SAFETY: as the caller promises.
    unsafe { put_size(program, size, |program| program.code().len()) }
}

/// `hiprtcGetCode`.
///
/// # Safety
///
/// `program` came from [`hiprtcCreateProgram`]; `code` has room for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetCode(program: *mut c_void, code: *mut c_char) -> u32 {
    // SAFETY: as the caller promises.
    unsafe { put_bytes(program, code, Program::code) }
}

/// `hiprtcDestroyProgram`.
///
/// # Safety
///
/// `program` is null, or points to a program of [`hiprtcCreateProgram`] that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcDestroyProgram(program: *mut *mut c_void) -> u32 {
    guarded(|| {
        // SAFETY: as the caller promises.
        let program = unsafe { program.as_ref() }
            .filter(|program| !program.is_null())
            .ok_or(HipError::InvalidValue)?;
        // SAFETY: as the caller promises.
        drop(unsafe { Box::from_raw(program.cast::<Program>()) });
        Ok(())
    })
}

unsafe fn put_size(
    program: *mut c_void,
    size: *mut usize,
    measure: impl FnOnce(&Program) -> usize,
) -> u32 {
    guarded(|| {
        // SAFETY: as the caller of the function above promises.
        let (program, size) = unsafe { (program.cast::<Program>().as_ref(), size.as_mut()) };
        *size.ok_or(HipError::InvalidValue)? = measure(program.ok_or(HipError::InvalidValue)?);
        Ok(())
    })
}

unsafe fn put_bytes<Byte>(
    program: *mut c_void,
    place: *mut c_char,
    bytes: impl FnOnce(&Program) -> &[Byte],
) -> u32 {
    guarded(|| {
        // SAFETY: as the caller of the function above promises.
        let program =
            unsafe { program.cast::<Program>().as_ref() }.ok_or(HipError::InvalidValue)?;
        let bytes = bytes(program);
        // SAFETY: the caller allocated as many bytes as the matching size function returned.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), place, bytes.len()) };
        Ok(())
    })
}

/// The configuration of this process, and its counters.
fn compiler() -> Result<(&'static Configuration, &'static Statistics), HipError> {
    // `libamdhip64` has its own counters: the two libraries share nothing but code objects.
    static COMPILER: OnceLock<Option<(Configuration, Statistics)>> = OnceLock::new();
    let compiler = COMPILER.get_or_init(|| match Configuration::from_environment() {
        Ok(configuration) => {
            if configuration.statistics.is_some() {
                // SAFETY: the function belongs to this library, which burn never unloads.
                unsafe { atexit(write_statistics) };
            }
            Some((configuration, Statistics::default()))
        }
        Err(error) => {
            eprintln!("hip-sim: {error}");
            None
        }
    });
    compiler
        .as_ref()
        .map(|(configuration, statistics)| (configuration, statistics))
        .ok_or(HipError::NotInitialized)
}

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}

extern "C" fn write_statistics() {
    let Ok((configuration, statistics)) = compiler() else {
        return;
    };
    let Some(path) = &configuration.statistics else {
        return;
    };
    let file = std::fs::OpenOptions::new()
        .create(true)
        // Every process of a run writes a line to the same file.
        .append(true)
        .open(path);
    // Ignored: the process is ending, so an error cannot be reported.
    let _ = file.and_then(|mut file| writeln!(file, "{statistics}"));
}
