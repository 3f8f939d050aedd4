//! Streams, events, modules and launches.

use crate::driver::{Handle, SUCCESS};
use crate::{answer, in_context};
use std::ffi::{c_char, c_int, c_uint, c_void};

/// The dynamic shared memory that a CUDA kernel may use without opting in.
// HIP needs no opt-in.
const SHARED_MEMORY_DEFAULT: c_uint = 48 << 10;
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
const MAX_DYNAMIC_SHARED_SIZE: c_int = 8;
/// `CU_STREAM_NON_BLOCKING`, the same as HIP's.
const NON_BLOCKING: c_uint = 1;

/// `hipStreamCreateWithFlags`.
///
/// # Safety
///
/// `stream` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithFlags(stream: *mut Handle, _flags: c_uint) -> u32 {
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.create_stream)(stream, NON_BLOCKING) }))
}

/// `hipStreamSynchronize`.
///
/// # Safety
///
/// `stream` is null or a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamSynchronize(stream: Handle) -> u32 {
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.synchronize_stream)(stream) }))
}

/// `hipStreamWaitEvent`.
///
/// # Safety
///
/// `stream` is null or a stream; `event` is an event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamWaitEvent(stream: Handle, event: Handle, _flags: c_uint) -> u32 {
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.wait_event)(stream, event, 0) }))
}

/// `hipEventCreateWithFlags`.
///
/// # Safety
///
/// `event` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreateWithFlags(event: *mut Handle, _flags: c_uint) -> u32 {
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.create_event)(event, 0) }))
}

/// `hipEventRecord`.
///
/// # Safety
///
/// `event` is an event; `stream` is null or a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventRecord(event: Handle, stream: Handle) -> u32 {
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.record_event)(event, stream) }))
}

/// `hipEventSynchronize`.
///
/// # Safety
///
/// `event` is an event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventSynchronize(event: Handle) -> u32 {
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.synchronize_event)(event) }))
}

/// `hipEventDestroy`.
///
/// # Safety
///
/// `event` is an event that nothing uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventDestroy(event: Handle) -> u32 {
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.destroy_event)(event) }))
}

/// `hipModuleLoadData`: the image is NVRTC's output.
///
/// # Safety
///
/// `module` can be written; `image` is a whole image.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoadData(module: *mut Handle, image: *const c_void) -> u32 {
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.load_module)(module, image) }))
}

/// `hipModuleGetFunction`.
///
/// # Safety
///
/// `function` can be written; `module` is a module; `name` ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetFunction(
    function: *mut Handle,
    module: Handle,
    name: *const c_char,
) -> u32 {
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.function)(function, module, name) }))
}

/// `hipModuleLaunchKernel`.
///
/// # Safety
///
/// `function` is a function; `arguments` points to its arguments; `stream` is null or a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLaunchKernel(
    function: Handle,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared_memory: c_uint,
    stream: Handle,
    arguments: *mut Handle,
    extra: *mut Handle,
) -> u32 {
    answer(in_context().map(|driver| {
        let bytes = c_int::try_from(shared_memory).unwrap_or(c_int::MAX);
        // SAFETY: as the caller promises.
        unsafe {
            if shared_memory > SHARED_MEMORY_DEFAULT {
                let status = (driver.function_attribute)(function, MAX_DYNAMIC_SHARED_SIZE, bytes);
                if status != SUCCESS {
                    return status;
                }
            }
            (driver.launch)(
                function,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                shared_memory,
                stream,
                arguments,
                extra,
            )
        }
    }))
}
