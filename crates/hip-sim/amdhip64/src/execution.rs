//! Streams, events, modules and launches.

use crate::{CURRENT, device_of, put, simulator};
use hip_sim::{Dim3, Function, HipError, Launch, Module, Stream, guarded};
use std::ffi::{CStr, c_char, c_uint, c_void};

/// `hipStreamCreateWithFlags`. The stream is never freed: burn keeps its streams for the life of
/// the process.
///
/// # Safety
///
/// `stream` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithFlags(stream: *mut *mut c_void, _flags: c_uint) -> u32 {
    guarded(|| {
        let created = Box::into_raw(Box::new(Stream {
            device: CURRENT.get(),
        }));
        // SAFETY: as the caller promises.
        unsafe { put(stream, created.cast()) }
    })
}

/// `hipStreamSynchronize`. Nothing to do: every operation is complete already.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamSynchronize(_stream: *mut c_void) -> u32 {
    0
}

/// `hipStreamWaitEvent`. Nothing to do: every operation is complete already.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamWaitEvent(
    _stream: *mut c_void,
    _event: *mut c_void,
    _flags: c_uint,
) -> u32 {
    0
}

/// `hipEventCreateWithFlags`.
///
/// # Safety
///
/// `event` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreateWithFlags(event: *mut *mut c_void, _flags: c_uint) -> u32 {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { put(event, Box::into_raw(Box::new(0_u64)).cast()) })
}

/// `hipEventRecord`.
///
/// # Safety
///
/// `stream` is null or a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventRecord(_event: *mut c_void, stream: *mut c_void) -> u32 {
    // SAFETY: as the caller promises.
    guarded(|| simulator()?.record_event(unsafe { device_of(stream) }))
}

/// `hipEventSynchronize`. Nothing to do: every operation is complete already.
#[unsafe(no_mangle)]
pub extern "C" fn hipEventSynchronize(_event: *mut c_void) -> u32 {
    0
}

/// `hipEventDestroy`.
///
/// # Safety
///
/// `event` came from [`hipEventCreateWithFlags`] and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventDestroy(event: *mut c_void) -> u32 {
    guarded(|| {
        if event.is_null() {
            return Err(HipError::InvalidValue);
        }
        // SAFETY: as the caller promises.
        drop(unsafe { Box::from_raw(event.cast::<u64>()) });
        Ok(())
    })
}

/// `hipModuleLoadData`. The module is never freed: burn keeps its modules for the life of the
/// process.
///
/// # Safety
///
/// `module` can be written; `image` points to a code object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoadData(module: *mut *mut c_void, image: *const c_void) -> u32 {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { put(module, Box::into_raw(Box::new(Module::load(image)?)).cast()) })
}

/// `hipModuleGetFunction`.
///
/// # Safety
///
/// `function` can be written; `module` came from [`hipModuleLoadData`]; `name` ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetFunction(
    function: *mut *mut c_void,
    module: *mut c_void,
    name: *const c_char,
) -> u32 {
    guarded(|| {
        // SAFETY: as the caller promises.
        let (module, name) = unsafe { (module.cast::<Module>().as_ref(), CStr::from_ptr(name)) };
        let module = module.ok_or(HipError::InvalidValue)?;
        let found = simulator()?.function(CURRENT.get(), module, name)?;
        // SAFETY: as the caller promises.
        unsafe { put(function, Box::into_raw(Box::new(found)).cast()) }
    })
}

/// `hipModuleLaunchKernel`.
///
/// # Safety
///
/// `function` came from [`hipModuleGetFunction`]; `arguments` points to the kernel's arguments;
/// `stream` is null or a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLaunchKernel(
    function: *mut c_void,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared_memory: c_uint,
    stream: *mut c_void,
    arguments: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> u32 {
    let (grid, block) = (
        Dim3::new(grid_x, grid_y, grid_z),
        Dim3::new(block_x, block_y, block_z),
    );
    let launch = Launch {
        grid,
        block,
        shared_memory,
        arguments,
    };
    guarded(|| {
        // SAFETY: as the caller promises.
        let function =
            unsafe { function.cast::<Function>().as_ref() }.ok_or(HipError::InvalidValue)?;
        // SAFETY: as the caller promises.
        unsafe { simulator()?.launch(device_of(stream), function, &launch) }
    })
}
