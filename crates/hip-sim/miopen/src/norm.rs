//! Norms by the statistics of the elements.

use crate::norm_arguments::{NormArguments, NormShape};
use crate::numbers::{MiopenStatus, NORMS, T5_NORMS, guarded};
use std::ffi::{c_int, c_void};

/// The fewest groups and the most channels of a group for which MIOpen 3.3 has a kernel, less one.
const GROUPS: [usize; 2] = [32, 64];

/// `miopenLayerNormForward`, of all dimensions from `first` on.
///
/// # Safety
///
/// The descriptors came from this library; the elements of x, of the weight and of the bias can be
/// read, the elements of y and of the statistics written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenLayerNormForward(
    handle: *mut c_void,
    mode: c_int,
    x_layout: *mut c_void,
    x: *const c_void,
    weight_layout: *mut c_void,
    weight: *const c_void,
    bias_layout: *mut c_void,
    bias: *const c_void,
    epsilon: f32,
    first: i32,
    y_layout: *mut c_void,
    y: *mut c_void,
    mean_layout: *mut c_void,
    mean: *mut c_void,
    scale_layout: *mut c_void,
    scale: *mut c_void,
) -> c_int {
    let arguments = NormArguments {
        handle,
        x: [x_layout, x.cast_mut()],
        parameters: [
            [weight_layout, weight.cast_mut()],
            [bias_layout, bias.cast_mut()],
        ],
        y: [y_layout, y],
        statistics: [[mean_layout, mean], [scale_layout, scale]],
        epsilon,
    };
    let shape = |lengths: &[usize]| {
        let first = usize::try_from(first).map_err(|_| MiopenStatus::BadParm)?;
        rows(lengths.get(first..).ok_or(MiopenStatus::BadParm)?)
    };
    // SAFETY: as the caller promises.
    guarded(|| unsafe { arguments.compute([mode, NORMS[0], NORMS[1]], shape) })
}

/// `miopenT5LayerNormForward`, of the last dimension.
///
/// # Safety
///
/// The descriptors came from this library; the elements of x and of the weight can be read, the
/// elements of y and of the statistic written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenT5LayerNormForward(
    handle: *mut c_void,
    mode: c_int,
    x_layout: *mut c_void,
    x: *const c_void,
    weight_layout: *mut c_void,
    weight: *const c_void,
    epsilon: f32,
    y_layout: *mut c_void,
    y: *mut c_void,
    scale_layout: *mut c_void,
    scale: *mut c_void,
) -> c_int {
    let arguments = NormArguments {
        handle,
        x: [x_layout, x.cast_mut()],
        parameters: [[weight_layout, weight.cast_mut()]],
        y: [y_layout, y],
        statistics: [[scale_layout, scale]],
        epsilon,
    };
    let shape = |lengths: &[usize]| rows(&lengths[lengths.len().saturating_sub(1)..]);
    // SAFETY: as the caller promises.
    guarded(|| unsafe { arguments.compute([mode, T5_NORMS[0], T5_NORMS[1]], shape) })
}

/// `miopenGroupNormForward`, of the second dimension in groups and everything after it.
///
/// # Safety
///
/// The descriptors came from this library; the elements of x, of the weight and of the bias can be
/// read, the elements of y and of the statistics written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenGroupNormForward(
    handle: *mut c_void,
    mode: c_int,
    x_layout: *mut c_void,
    x: *const c_void,
    weight_layout: *mut c_void,
    weight: *const c_void,
    bias_layout: *mut c_void,
    bias: *const c_void,
    groups: u64,
    epsilon: f32,
    y_layout: *mut c_void,
    y: *mut c_void,
    mean_layout: *mut c_void,
    mean: *mut c_void,
    scale_layout: *mut c_void,
    scale: *mut c_void,
) -> c_int {
    let arguments = NormArguments {
        handle,
        x: [x_layout, x.cast_mut()],
        parameters: [
            [weight_layout, weight.cast_mut()],
            [bias_layout, bias.cast_mut()],
        ],
        y: [y_layout, y],
        statistics: [[mean_layout, mean], [scale_layout, scale]],
        epsilon,
    };
    let shape = |lengths: &[usize]| {
        let groups = usize::try_from(groups).map_err(|_| MiopenStatus::BadParm)?;
        in_groups(lengths, groups)
    };
    // SAFETY: as the caller promises.
    guarded(|| unsafe { arguments.compute([mode, NORMS[0], NORMS[1]], shape) })
}

/// The shape of a norm of rows with these lengths, which have a parameter for each element.
fn rows(normalised: &[usize]) -> Result<NormShape, MiopenStatus> {
    let columns = normalised.iter().product();
    Ok(NormShape {
        together: columns,
        channels: columns,
        positions: 1,
    })
}

/// The shape of a norm of groups of channels.
fn in_groups(lengths: &[usize], groups: usize) -> Result<NormShape, MiopenStatus> {
    let [batch, channels, spatial @ ..] = lengths else {
        return Err(MiopenStatus::BadParm);
    };
    if spatial.is_empty() || channels.checked_rem(groups) != Some(0) {
        return Err(MiopenStatus::BadParm);
    }
    let [fewest, width] = GROUPS;
    if batch * groups < fewest || channels / groups >= width {
        return Err(MiopenStatus::NotImplemented);
    }
    let positions = spatial.iter().product();
    Ok(NormShape {
        together: channels / groups * positions,
        channels: *channels,
        positions,
    })
}
