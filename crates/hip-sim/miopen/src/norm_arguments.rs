//! The arguments that norms by the statistics of the elements have in common.

use crate::numbers::MiopenStatus;
use crate::primitive::compute;
use crate::problem::tensor;
use hip_sim::{MatrixType, SimulatedKind, SimulatedNorm, SimulatedStatistics, SimulatedTensor};
use std::ffi::{c_int, c_void};

/// The bytes of a statistic in f32.
const STATISTIC: usize = 4;

/// The tensors of a norm, each a descriptor with its elements.
#[derive(Debug)]
pub(crate) struct NormArguments<const PARAMETERS: usize, const STATISTICS: usize> {
    pub(crate) handle: *mut c_void,
    pub(crate) x: [*mut c_void; 2],
    pub(crate) parameters: [[*mut c_void; 2]; PARAMETERS],
    pub(crate) y: [*mut c_void; 2],
    pub(crate) statistics: [[*mut c_void; 2]; STATISTICS],
    pub(crate) epsilon: f32,
}

/// How the elements of x belong together.
#[derive(Debug)]
pub(crate) struct NormShape {
    /// The elements with common statistics.
    pub(crate) together: usize,
    /// The numbers of a parameter.
    pub(crate) channels: usize,
    /// The elements of a channel that follow each other.
    pub(crate) positions: usize,
}

impl<const PARAMETERS: usize, const STATISTICS: usize> NormArguments<PARAMETERS, STATISTICS> {
    /// Computes a norm, whose mode is the first one of `modes` without parameters, and the second
    /// one with them. A norm with a mean has a statistic for it.
    ///
    /// # Safety
    ///
    /// The descriptors are null or came from this library; elements are null, or those of x and
    /// of the parameters can be read, those of y and of the statistics written.
    pub(crate) unsafe fn compute(
        self,
        [mode, plain, weighted]: [c_int; 3],
        shape: impl FnOnce(&[usize]) -> Result<NormShape, MiopenStatus>,
    ) -> Result<(), MiopenStatus> {
        // SAFETY: as the caller promises.
        let [x, y] = unsafe { [tensor(self.x[0], self.x[1])?, tensor(self.y[0], self.y[1])?] };
        let has_null = [self.handle, x.data, y.data].contains(&std::ptr::null_mut());
        if has_null
            || x.number != y.number
            || x.lengths != y.lengths
            || ![plain, weighted].contains(&mode)
        {
            return Err(MiopenStatus::BadParm);
        }
        let shape = shape(&x.lengths)?;
        // SAFETY: as the caller promises.
        let parameters = unsafe { self.parameters(&x, shape.channels, mode == weighted)? };
        let groups = x.lengths.iter().product::<usize>() / shape.together;
        // SAFETY: as the caller promises.
        unsafe { self.write_statistics(groups)? };
        let norm = SimulatedNorm {
            statistics: SimulatedStatistics::Computed {
                together: shape.together,
                is_centred: STATISTICS == 2,
            },
            epsilon: f64::from(self.epsilon),
            parameters,
            positions: shape.positions,
        };
        // SAFETY: as the caller promises.
        unsafe { compute(SimulatedKind::Norm(norm), [x, y]) }
    }

    /// The weight and the bias of each channel.
    ///
    /// # Safety
    ///
    /// As for [`Self::compute`].
    unsafe fn parameters(
        &self,
        x: &SimulatedTensor,
        channels: usize,
        is_weighted: bool,
    ) -> Result<Vec<[f64; 2]>, MiopenStatus> {
        let mut parameters = vec![[1.0, 0.0]; channels];
        for (place, [layout, data]) in self.parameters.into_iter().enumerate() {
            // SAFETY: as the caller promises.
            let parameter = unsafe { tensor(layout, data)? };
            let is_read = is_weighted && !data.is_null();
            if parameter.number != x.number
                || parameter.lengths.iter().product::<usize>() != channels
                || is_read != is_weighted
            {
                return Err(MiopenStatus::BadParm);
            }
            if is_read {
                // SAFETY: as the caller promises.
                let numbers = unsafe { parameter.numbers() };
                let channels = parameters.iter_mut().zip(numbers);
                channels.for_each(|(channel, number)| channel[place] = number);
            }
        }
        Ok(parameters)
    }

    /// Writes a byte to the statistics, which the callers of this library do not read.
    unsafe fn write_statistics(&self, groups: usize) -> Result<(), MiopenStatus> {
        // A byte that differs from the byte of their guards, so that memory that is too short for
        // f32 is noticed.
        for [layout, data] in self.statistics {
            // SAFETY: as the caller promises.
            let statistic = unsafe { tensor(layout, data)? };
            if statistic.lengths.iter().product::<usize>() != groups {
                return Err(MiopenStatus::BadParm);
            }
            if statistic.number != MatrixType::F32 {
                return Err(MiopenStatus::NotImplemented);
            }
            if !data.is_null() {
                // SAFETY: as the caller promises.
                unsafe { data.cast::<u8>().write_bytes(0x5a, STATISTIC * groups) };
            }
        }
        Ok(())
    }
}
