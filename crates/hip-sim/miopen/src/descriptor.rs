//! Descriptors of tensors and of convolutions.

use crate::numbers::{
    CONVOLUTION, MiopenStatus, TRANSPOSE, create, destroy, element_type, guarded, numbers,
};
use hip_sim::MatrixType;
use std::ffi::{c_int, c_void};

/// The type, lengths and strides of a tensor.
#[derive(Debug, Default)]
pub(crate) struct TensorLayout {
    pub(crate) number: Option<MatrixType>,
    pub(crate) lengths: Vec<usize>,
    pub(crate) strides: Vec<usize>,
}

/// The windows, mode and groups of a convolution.
#[derive(Debug, Default)]
pub(crate) struct ConvolutionWindows {
    pub(crate) padding: Vec<usize>,
    pub(crate) stride: Vec<usize>,
    pub(crate) dilation: Vec<usize>,
    pub(crate) output_padding: Vec<usize>,
    pub(crate) groups: usize,
    pub(crate) transposed: bool,
}

/// `miopenCreateTensorDescriptor`.
///
/// # Safety
///
/// `tensor` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenCreateTensorDescriptor(tensor: *mut *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { create(tensor, TensorLayout::default()) })
}

/// `miopenSetTensorDescriptor`, with strides.
///
/// # Safety
///
/// `tensor` came from [`miopenCreateTensorDescriptor`]; both arrays have `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenSetTensorDescriptor(
    tensor: *mut c_void,
    number: c_int,
    count: c_int,
    lengths: *const c_int,
    strides: *const c_int,
) -> c_int {
    guarded(|| {
        // SAFETY: as the caller promises.
        let tensor =
            unsafe { tensor.cast::<TensorLayout>().as_mut() }.ok_or(MiopenStatus::BadParm)?;
        *tensor = TensorLayout {
            number: Some(element_type(number)?),
            // SAFETY: as the caller promises.
            lengths: unsafe { numbers(lengths, count, 1)? },
            // SAFETY: as the caller promises.
            strides: unsafe { numbers(strides, count, 1)? },
        };
        Ok(())
    })
}

/// `miopenDestroyTensorDescriptor`.
///
/// # Safety
///
/// `tensor` came from [`miopenCreateTensorDescriptor`] and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenDestroyTensorDescriptor(tensor: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { destroy::<TensorLayout>(tensor) })
}

/// `miopenCreateConvolutionDescriptor`.
///
/// # Safety
///
/// `convolution` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenCreateConvolutionDescriptor(convolution: *mut *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { create(convolution, ConvolutionWindows::default()) })
}

/// `miopenInitConvolutionNdDescriptor`, which also resets groups and output padding.
///
/// # Safety
///
/// `convolution` came from [`miopenCreateConvolutionDescriptor`]; the arrays have `rank` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenInitConvolutionNdDescriptor(
    convolution: *mut c_void,
    rank: c_int,
    padding: *const c_int,
    stride: *const c_int,
    dilation: *const c_int,
    mode: c_int,
) -> c_int {
    guarded(|| {
        // SAFETY: as the caller promises.
        let windows = unsafe { windows_at(convolution)? };
        // SAFETY: as the caller promises.
        let padding = unsafe { numbers(padding, rank, 0)? };
        *windows = ConvolutionWindows {
            output_padding: vec![0; padding.len()],
            padding,
            // SAFETY: as the caller promises.
            stride: unsafe { numbers(stride, rank, 1)? },
            // SAFETY: as the caller promises.
            dilation: unsafe { numbers(dilation, rank, 1)? },
            groups: 1,
            transposed: match mode {
                CONVOLUTION => false,
                TRANSPOSE => true,
                _ => return Err(MiopenStatus::BadParm),
            },
        };
        Ok(())
    })
}

/// `miopenSetConvolutionGroupCount`.
///
/// # Safety
///
/// `convolution` came from [`miopenCreateConvolutionDescriptor`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenSetConvolutionGroupCount(
    convolution: *mut c_void,
    groups: c_int,
) -> c_int {
    guarded(|| {
        // SAFETY: as the caller promises.
        let windows = unsafe { windows_at(convolution)? };
        windows.groups = usize::try_from(groups)
            .ok()
            .filter(|groups| *groups > 0)
            .ok_or(MiopenStatus::BadParm)?;
        Ok(())
    })
}

/// `miopenSetTransposeConvNdOutputPadding`.
///
/// # Safety
///
/// `convolution` came from [`miopenCreateConvolutionDescriptor`]; the array has `rank` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenSetTransposeConvNdOutputPadding(
    convolution: *mut c_void,
    rank: c_int,
    padding: *const c_int,
) -> c_int {
    guarded(|| {
        // SAFETY: as the caller promises.
        let windows = unsafe { windows_at(convolution)? };
        // SAFETY: as the caller promises.
        let padding = unsafe { numbers(padding, rank, 0)? };
        if padding.len() != windows.padding.len() {
            return Err(MiopenStatus::BadParm);
        }
        windows.output_padding = padding;
        Ok(())
    })
}

/// `miopenDestroyConvolutionDescriptor`.
///
/// # Safety
///
/// `convolution` came from [`miopenCreateConvolutionDescriptor`] and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenDestroyConvolutionDescriptor(convolution: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { destroy::<ConvolutionWindows>(convolution) })
}

/// The descriptor at an address.
///
/// # Safety
///
/// `convolution` is null or came from [`miopenCreateConvolutionDescriptor`].
unsafe fn windows_at<'a>(
    convolution: *mut c_void,
) -> Result<&'a mut ConvolutionWindows, MiopenStatus> {
    // SAFETY: as the caller promises.
    unsafe { convolution.cast::<ConvolutionWindows>().as_mut() }.ok_or(MiopenStatus::BadParm)
}
