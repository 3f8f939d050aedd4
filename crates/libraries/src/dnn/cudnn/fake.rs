//! A library with cuDNN's functions that computes nothing and keeps what it is called with: the
//! order of arguments, most of which are pointers, is not visible in signatures.

use super::{CudnnFunctions, CudnnPerformance};
use std::{
    cell::{Cell, RefCell},
    ffi::{c_char, c_int, c_void},
    slice::from_raw_parts,
};

pub(super) type Pointer = *mut c_void;

thread_local! {
    static CALLS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static CREATED: Cell<usize> = const { Cell::new(0) };
    static STATUS: Cell<c_int> = const { Cell::new(0) };
}

/// The calls since the last time, on this thread. Descriptors are numbered anew after it.
pub(super) fn calls() -> Vec<String> {
    CREATED.set(0);
    CALLS.take()
}

/// Lets every later function that creates a descriptor return a status.
pub(super) fn fail(status: c_int) {
    STATUS.set(status);
}

pub(super) fn keep(call: String) -> c_int {
    CALLS.with_borrow_mut(|calls| calls.push(call));
    0
}

pub(super) unsafe extern "C" fn create(place: *mut Pointer) -> c_int {
    if STATUS.get() == 0 {
        CREATED.set(CREATED.get() + 1);
        // SAFETY: the caller passes a place that can be written.
        unsafe { place.write(CREATED.get() as Pointer) };
    }
    STATUS.get()
}

pub(super) unsafe extern "C" fn destroy(descriptor: Pointer) -> c_int {
    keep(format!("destroy {}", descriptor as usize))
}

unsafe extern "C" fn nothing(_: Pointer) -> c_int {
    0
}

unsafe extern "C" fn version() -> usize {
    90_600
}

unsafe extern "C" fn error(_: c_int) -> *const c_char {
    c"FAKE_STATUS".as_ptr()
}

/// The numbers of an array.
pub(super) fn numbers<'a>(array: *const c_int, count: c_int) -> &'a [c_int] {
    // SAFETY: the code under test passes arrays with as many numbers as it says.
    unsafe { from_raw_parts(array, count as usize) }
}

unsafe extern "C" fn tensor(
    descriptor: Pointer,
    number: c_int,
    count: c_int,
    lengths: *const c_int,
    strides: *const c_int,
) -> c_int {
    let [lengths, strides] = [lengths, strides].map(|array| numbers(array, count));
    let descriptor = descriptor as usize;
    keep(format!(
        "tensor {descriptor}: type {number} lengths {lengths:?} strides {strides:?}"
    ))
}

unsafe extern "C" fn filter(
    descriptor: Pointer,
    number: c_int,
    format: c_int,
    count: c_int,
    lengths: *const c_int,
) -> c_int {
    let (descriptor, lengths) = (descriptor as usize, numbers(lengths, count));
    keep(format!(
        "filter {descriptor}: type {number} format {format} lengths {lengths:?}"
    ))
}

unsafe extern "C" fn windows(
    descriptor: Pointer,
    count: c_int,
    padding: *const c_int,
    stride: *const c_int,
    dilation: *const c_int,
    mode: c_int,
    number: c_int,
) -> c_int {
    let [padding, stride, dilation] =
        [padding, stride, dilation].map(|array| numbers(array, count));
    let descriptor = descriptor as usize;
    keep(format!(
        "windows {descriptor}: padding {padding:?} stride {stride:?} dilation {dilation:?} mode {mode} type {number}"
    ))
}

unsafe extern "C" fn groups(descriptor: Pointer, groups: c_int) -> c_int {
    keep(format!("groups of {}: {groups}", descriptor as usize))
}

unsafe extern "C" fn math(descriptor: Pointer, math: c_int) -> c_int {
    keep(format!("math of {}: {math}", descriptor as usize))
}

/// Three algorithms, of which the library has two.
fn list(count: *mut c_int, results: *mut CudnnPerformance) {
    let result = |algorithm, math, status| CudnnPerformance {
        algorithm,
        math,
        status,
        memory: 64,
        ..CudnnPerformance::default()
    };
    let all = [result(0, 1, 0), result(1, 1, 3000), result(6, 3, 0)];
    for (index, result) in all.into_iter().enumerate() {
        // SAFETY: the code under test has room for more than three.
        unsafe { results.add(index).write(result) };
    }
    // SAFETY: the code under test passes a place that can be written.
    unsafe { count.write(3) };
}

unsafe extern "C" fn list_forward(
    _: Pointer,
    x: Pointer,
    weight: Pointer,
    windows: Pointer,
    y: Pointer,
    _: c_int,
    count: *mut c_int,
    results: *mut CudnnPerformance,
) -> c_int {
    list(count, results);
    let [x, weight, windows, y] = [x, weight, windows, y].map(|pointer| pointer as usize);
    keep(format!(
        "list forward: x {x} weight {weight} windows {windows} y {y}"
    ))
}

unsafe extern "C" fn list_backward(
    _: Pointer,
    weight: Pointer,
    dy: Pointer,
    windows: Pointer,
    dx: Pointer,
    _: c_int,
    count: *mut c_int,
    results: *mut CudnnPerformance,
) -> c_int {
    list(count, results);
    let [weight, dy, windows, dx] = [weight, dy, windows, dx].map(|pointer| pointer as usize);
    keep(format!(
        "list backward: weight {weight} dy {dy} windows {windows} dx {dx}"
    ))
}

/// The f32 at an address.
pub(super) fn scalar(address: *const c_void) -> f32 {
    // SAFETY: the code under test passes the address of an f32.
    unsafe { address.cast::<f32>().read() }
}

unsafe extern "C" fn forward(
    _: Pointer,
    alpha: *const c_void,
    x_layout: Pointer,
    x: *const c_void,
    weight_layout: Pointer,
    weight: *const c_void,
    windows: Pointer,
    algorithm: c_int,
    workspace: Pointer,
    bytes: usize,
    beta: *const c_void,
    y_layout: Pointer,
    y: Pointer,
) -> c_int {
    let [alpha, beta] = [alpha, beta].map(scalar);
    let [x_layout, weight_layout, windows, y_layout] =
        [x_layout, weight_layout, windows, y_layout].map(|pointer| pointer as usize);
    keep(format!(
        "forward: alpha {alpha} x {x_layout} at {x:?} weight {weight_layout} at {weight:?} windows {windows} \
         algorithm {algorithm} workspace {workspace:?} of {bytes} beta {beta} y {y_layout} at {y:?}"
    ))
}

unsafe extern "C" fn backward(
    _: Pointer,
    alpha: *const c_void,
    weight_layout: Pointer,
    weight: *const c_void,
    dy_layout: Pointer,
    dy: *const c_void,
    windows: Pointer,
    algorithm: c_int,
    workspace: Pointer,
    bytes: usize,
    beta: *const c_void,
    dx_layout: Pointer,
    dx: Pointer,
) -> c_int {
    let [alpha, beta] = [alpha, beta].map(scalar);
    let [weight_layout, dy_layout, windows, dx_layout] =
        [weight_layout, dy_layout, windows, dx_layout].map(|pointer| pointer as usize);
    keep(format!(
        "backward: alpha {alpha} weight {weight_layout} at {weight:?} dy {dy_layout} at {dy:?} windows {windows} \
         algorithm {algorithm} workspace {workspace:?} of {bytes} beta {beta} dx {dx_layout} at {dx:?}"
    ))
}

/// The functions of the fake library.
pub(super) fn functions() -> CudnnFunctions {
    CudnnFunctions {
        create,
        destroy: nothing,
        version,
        error,
        tensor_create: create,
        tensor_set: tensor,
        tensor_destroy: destroy,
        filter_create: create,
        filter_set: filter,
        filter_destroy: destroy,
        windows_create: create,
        windows_set: windows,
        set_groups: groups,
        set_math: math,
        windows_destroy: destroy,
        forward_algorithms: list_forward,
        forward,
        backward_algorithms: list_backward,
        backward,
    }
}
