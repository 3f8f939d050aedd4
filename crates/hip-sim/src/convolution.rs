//! Convolutions of the simulated MIOpen on the host: a sum over channels and taps for each element
//! of the result, with injected faults.

use crate::{
    convolution_fault::ConvolutionFault,
    fault::{Fault, Faults},
    matrix::{SimulatedTensor, positions},
    product::{InjectedProductError, SumOrder},
};

/// A convolution, or a transposed one, of tensors [batch, channels, ...].
#[derive(Debug, Clone)]
pub struct SimulatedConvolution {
    /// The input.
    pub x: SimulatedTensor,
    /// The weight: [out, in / groups, ...], transposed [in, out / groups, ...].
    pub weight: SimulatedTensor,
    /// The result.
    pub y: SimulatedTensor,
    /// Zeros on both sides of each spatial dimension; of the result if it is transposed.
    pub padding: Vec<usize>,
    /// Positions between two windows.
    pub stride: Vec<usize>,
    /// Positions between two taps of a window.
    pub dilation: Vec<usize>,
    /// Groups of channels.
    pub groups: usize,
    /// Whether it is a transposed convolution.
    pub transposed: bool,
    /// The order in which terms are added.
    pub order: SumOrder,
}

impl SimulatedConvolution {
    /// Computes the convolution.
    ///
    /// # Errors
    ///
    /// The fault `convolution=refuse` is injected.
    ///
    /// # Safety
    ///
    /// The elements of x and of the weight can be read, the elements of y written; with the fault
    /// `convolution=beyond` also the element after them.
    pub unsafe fn compute(&self, faults: &Faults) -> Result<(), InjectedProductError> {
        let has = |fault: ConvolutionFault| faults.any(|one| *one == Fault::Convolution(fault));
        if has(ConvolutionFault::Refuse) {
            return Err(InjectedProductError);
        }
        // Solutions are listed in the order of `SumOrder::ALL`.
        let is_last = self.order == SumOrder::Wide;
        if has(ConvolutionFault::Silent) || has(ConvolutionFault::Solution) && is_last {
            return Ok(());
        }
        for position in positions(&self.y.lengths) {
            let index = self.y.index(position.iter().copied());
            if has(ConvolutionFault::Limit) && index * self.y.number.bytes() >= 1024 {
                continue;
            }
            let is_nan = has(ConvolutionFault::Nan) && is_last && index == 0;
            // SAFETY: as the caller promises.
            let sum = unsafe { self.sum(&has, &position) };
            // SAFETY: as the caller promises.
            unsafe { self.y.write(index, if is_nan { f64::NAN } else { sum }) };
        }
        if has(ConvolutionFault::Beyond) {
            // SAFETY: as the caller promises.
            unsafe { self.y.write(self.y.last() + 1, 1.0) };
        }
        Ok(())
    }

    /// The sum of the element at a position of the result.
    unsafe fn sum(&self, has: &impl Fn(ConvolutionFault) -> bool, position: &[usize]) -> f64 {
        let [batch, channel, place @ ..] = position else {
            return 0.0;
        };
        let [inner, outer] = [&self.x, &self.y].map(|tensor| tensor.lengths[1] / self.groups);
        let group = channel / outer;
        let of_weight = if has(ConvolutionFault::Group) {
            0
        } else {
            group
        };
        let mut terms = Vec::new();
        for tap in positions(&self.weight.lengths[2..]) {
            let Some(from) = self.source(has, place, &tap) else {
                continue;
            };
            for index in 0..inner {
                let [x, row] = [group, of_weight].map(|group| group * inner + index);
                let rows = if self.transposed {
                    [row, channel % outer]
                } else {
                    [of_weight * outer + channel % outer, index]
                };
                let x = [*batch, x].into_iter().chain(from.iter().copied());
                let weight = rows.into_iter().chain(tap.iter().copied());
                // SAFETY: as the caller promises.
                terms.push(unsafe { self.term(has, [self.x.index(x), self.weight.index(weight)]) });
            }
        }
        self.added(has(ConvolutionFault::Round), &terms)
    }

    /// The position of x that a tap multiplies for a position of the result; `None` for padding,
    /// and between the elements of a transposed convolution.
    fn source(
        &self,
        has: &impl Fn(ConvolutionFault) -> bool,
        place: &[usize],
        tap: &[usize],
    ) -> Option<Vec<usize>> {
        let along = |dimension: usize| {
            let padding = if has(ConvolutionFault::Padding) {
                0
            } else {
                self.padding[dimension]
            };
            let dilation = if has(ConvolutionFault::Dilation) {
                1
            } else {
                self.dilation[dimension]
            };
            let tap = if has(ConvolutionFault::Flip) {
                self.weight.lengths[2 + dimension] - 1 - tap[dimension]
            } else {
                tap[dimension]
            };
            let (stride, offset) = (self.stride[dimension], tap * dilation);
            let from = if self.transposed {
                let distance = (place[dimension] + padding).checked_sub(offset)?;
                (distance % stride == 0).then_some(distance / stride)?
            } else {
                (place[dimension] * stride + offset).checked_sub(padding)?
            };
            (from < self.x.lengths[2 + dimension]).then_some(from)
        };
        (0..place.len()).map(along).collect()
    }

    unsafe fn term(&self, has: &impl Fn(ConvolutionFault) -> bool, [x, weight]: [usize; 2]) -> f64 {
        let normal = if has(ConvolutionFault::Flush) {
            self.x.number.smallest_normal()
        } else {
            0.0
        };
        // SAFETY: as the caller promises.
        let factors = unsafe { [self.x.read(x), self.weight.read(weight)] };
        factors
            .map(|factor| if factor.abs() < normal { 0.0 } else { factor })
            .iter()
            .product()
    }

    fn added(&self, rounds: bool, terms: &[f64]) -> f64 {
        let add = |sum: f64, term: &f64| {
            if rounds {
                self.y.number.round(sum + term)
            } else {
                f64::from((sum + term) as f32)
            }
        };
        match self.order {
            SumOrder::Wide if !rounds => terms.iter().sum(),
            SumOrder::Forward | SumOrder::Wide => terms.iter().fold(0.0, add),
            SumOrder::Backward => terms.iter().rev().fold(0.0, add),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SimulatedConvolution, SumOrder};
    use crate::{Faults, InjectedProductError, MatrixType, SimulatedTensor};

    fn tensor(data: &mut [f32], lengths: [usize; 3]) -> SimulatedTensor {
        SimulatedTensor {
            data: data.as_mut_ptr().cast(),
            number: MatrixType::F32,
            lengths: lengths.to_vec(),
            strides: vec![lengths[1] * lengths[2], lengths[2], 1],
        }
    }

    /// Two groups of one channel, three elements and two taps, one zero on both sides.
    fn computed(
        transposed: bool,
        order: SumOrder,
        faults: &str,
    ) -> Result<Vec<f32>, InjectedProductError> {
        let length = if transposed { 2 } else { 4 };
        let mut x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let (mut weight, mut y) = ([1.0, 10.0, 100.0, 1000.0], [f32::NAN; 9]);
        let convolution = SimulatedConvolution {
            x: tensor(&mut x, [1, 2, 3]),
            weight: tensor(&mut weight, [2, 1, 2]),
            y: tensor(&mut y, [1, 2, length]),
            padding: vec![1],
            stride: vec![1],
            dilation: vec![1],
            groups: 2,
            transposed,
            order,
        };
        let faults: Faults = faults.parse().map_err(|_| InjectedProductError)?;
        // SAFETY: every tensor has the elements of its lengths, and y one more.
        unsafe { convolution.compute(&faults)? };
        Ok(y[..2 * length + 1].to_vec())
    }

    fn first(faults: &str) -> Vec<f32> {
        computed(false, SumOrder::Forward, faults).expect("is computed")
    }

    #[test]
    fn a_convolution_and_a_transposed_one_are_computed() {
        let y = first("");
        assert_eq!(y[..4], [10.0, 21.0, 32.0, 3.0]);
        assert_eq!(y[4..8], [4000.0, 5400.0, 6500.0, 600.0]);
        assert!(y[8].is_nan());
        let y = computed(true, SumOrder::Wide, "").expect("is computed");
        assert_eq!(y[..4], [12.0, 23.0, 4500.0, 5600.0]);
    }

    #[test]
    fn faults_change_it() {
        assert_eq!(first("convolution=group")[4..6], [40.0, 54.0]);
        assert_eq!(first("convolution=padding")[..2], [21.0, 32.0]);
        assert_eq!(first("convolution=flip")[..2], [1.0, 12.0]);
        assert_eq!(first("convolution=beyond")[8], 1.0);
        assert!(first("convolution=silent")[0].is_nan());
        assert_eq!(first("convolution=nan")[0], 10.0);
        let last = computed(false, SumOrder::Wide, "convolution=nan").expect("is computed");
        assert!(last[0].is_nan());
        assert_eq!(
            computed(false, SumOrder::Forward, "convolution=refuse"),
            Err(InjectedProductError)
        );
    }
}
