//! The convolution that the descriptors of tensors and windows describe.

use crate::descriptor::{ConvolutionWindows, TensorLayout};
use crate::numbers::MiopenStatus;
use hip_sim::{SimulatedConvolution, SimulatedTensor, SumOrder};
use std::ffi::c_void;

/// The descriptors that every function of solutions has: of the weight, of x, of the windows, and
/// of y.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConvolutionDescriptors {
    pub(crate) weight: *mut c_void,
    pub(crate) x: *mut c_void,
    pub(crate) windows: *mut c_void,
    pub(crate) y: *mut c_void,
}

impl ConvolutionDescriptors {
    /// The convolution of tensors at `[x, weight, y]`, after the comparison of all lengths.
    ///
    /// # Safety
    ///
    /// The descriptors are null or came from this library.
    pub(crate) unsafe fn convolution(
        &self,
        [x, weight, y]: [*mut c_void; 3],
        order: SumOrder,
    ) -> Result<SimulatedConvolution, MiopenStatus> {
        // SAFETY: as the caller promises.
        let windows = unsafe { self.windows.cast::<ConvolutionWindows>().as_ref() }
            .ok_or(MiopenStatus::BadParm)?;
        // SAFETY: as the caller promises.
        let tensor = |layout: *mut c_void, data| unsafe { tensor(layout, data) };
        let convolution = SimulatedConvolution {
            x: tensor(self.x, x)?,
            weight: tensor(self.weight, weight)?,
            y: tensor(self.y, y)?,
            padding: windows.padding.clone(),
            stride: windows.stride.clone(),
            dilation: windows.dilation.clone(),
            groups: windows.groups,
            transposed: windows.transposed,
            order,
        };
        if fits(&convolution, windows) {
            Ok(convolution)
        } else {
            Err(MiopenStatus::BadParm)
        }
    }
}

/// A tensor of a descriptor at `data`.
///
/// # Safety
///
/// `layout` is null or came from this library.
pub(crate) unsafe fn tensor(
    layout: *mut c_void,
    data: *mut c_void,
) -> Result<SimulatedTensor, MiopenStatus> {
    // SAFETY: as the caller promises.
    let layout = unsafe { layout.cast::<TensorLayout>().as_ref() }.ok_or(MiopenStatus::BadParm)?;
    Ok(SimulatedTensor {
        data,
        number: layout.number.ok_or(MiopenStatus::BadParm)?,
        lengths: layout.lengths.clone(),
        strides: layout.strides.clone(),
    })
}

/// Whether types, ranks, channels and lengths belong together.
fn fits(convolution: &SimulatedConvolution, windows: &ConvolutionWindows) -> bool {
    let [x, weight, y] = [&convolution.x, &convolution.weight, &convolution.y];
    let rank = windows.padding.len();
    // MIOpen has kernels for two and three dimensions.
    let is_supported = (2..=3).contains(&rank)
        && [x, weight, y]
            .iter()
            .all(|tensor| tensor.number == x.number && tensor.lengths.len() == rank + 2);
    if !is_supported {
        return false;
    }
    let groups = windows.groups;
    let [rows, columns] = [weight.lengths[0], weight.lengths[1] * groups];
    let channels = if windows.transposed {
        [rows, columns]
    } else {
        [columns, rows]
    };
    let length = |dimension: usize| {
        let [from, taps] = [x, weight].map(|tensor| tensor.lengths[2 + dimension]);
        let (stride, padding) = (windows.stride[dimension], 2 * windows.padding[dimension]);
        let extent = windows.dilation[dimension] * (taps - 1) + 1;
        if windows.transposed {
            ((from - 1) * stride + extent + windows.output_padding[dimension]).checked_sub(padding)
        } else {
            (from + padding)
                .checked_sub(extent)
                .map(|rest| rest / stride + 1)
        }
    };
    rows % groups == 0
        && channels == [x.lengths[1], y.lengths[1]]
        && x.lengths[0] == y.lengths[0]
        && (0..rank).all(|dimension| length(dimension) == Some(y.lengths[2 + dimension]))
}
