//! Softmax, activations, pools, reductions and norms of the simulated MIOpen on the host, with
//! injected faults. Every element is computed in f64 and rounded once.

use crate::{
    fault::{Fault, Faults},
    matrix::{SimulatedTensor, positions},
    primitive_arithmetic::{SimulatedFunction, SimulatedReduction, softmax_line},
    primitive_fault::PrimitiveFault,
    primitive_norm::SimulatedNorm,
    product::InjectedProductError,
};

/// An operator with one input.
#[derive(Debug, Clone)]
pub struct SimulatedPrimitive {
    /// The operator.
    pub kind: SimulatedKind,
    /// The input.
    pub x: SimulatedTensor,
    /// The result.
    pub y: SimulatedTensor,
}

/// The operator of a [`SimulatedPrimitive`].
#[derive(Debug, Clone, PartialEq)]
pub enum SimulatedKind {
    /// A softmax.
    Softmax {
        /// Whether the maximum is subtracted first.
        shifted: bool,
        /// Whether the result is the logarithm.
        logarithm: bool,
        /// Whether it is over all dimensions but the first, in place of the second one.
        instance: bool,
    },
    /// A function of each element.
    Activation(SimulatedFunction),
    /// One number for each group of elements: of all dimensions in which y has length 1.
    Reduction(SimulatedReduction),
    /// One number for each window of the dimensions after the second.
    Pool {
        /// The result of a window.
        each: SimulatedWindow,
        /// The lengths of a window.
        window: Vec<usize>,
        /// Positions before the first element of each dimension.
        padding: Vec<usize>,
        /// Positions between two windows.
        stride: Vec<usize>,
    },
    /// A norm of dense elements.
    Norm(SimulatedNorm),
}

/// The result of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulatedWindow {
    /// The largest element; NaN if any is NaN.
    Maximum,
    /// The mean of the elements.
    Mean,
    /// The sum of the elements over the size of the window with padding.
    MeanWithPadding,
}

impl SimulatedPrimitive {
    /// Computes the operator.
    ///
    /// # Errors
    ///
    /// The fault `primitive=refuse` is injected.
    ///
    /// # Safety
    ///
    /// The elements of x can be read, the elements of y written; with the fault `primitive=beyond`
    /// also the element after them.
    pub unsafe fn compute(&self, faults: &Faults) -> Result<(), InjectedProductError> {
        let has = |fault: PrimitiveFault| faults.any(|one| *one == Fault::Primitive(fault));
        if has(PrimitiveFault::Refuse) {
            return Err(InjectedProductError);
        }
        if has(PrimitiveFault::Silent) {
            return Ok(());
        }
        // SAFETY: as the caller promises.
        let results = unsafe { self.results(&has) };
        for (index, value) in results {
            if !has(PrimitiveFault::Limit) || index * self.y.number.bytes() < 1024 {
                // SAFETY: as the caller promises.
                unsafe { self.y.write(index, value) };
            }
        }
        if has(PrimitiveFault::Beyond) {
            // SAFETY: as the caller promises.
            unsafe { self.y.write(self.y.last() + 1, 1.0) };
        }
        Ok(())
    }

    /// The index of each element of y with its number.
    unsafe fn results(&self, has: &impl Fn(PrimitiveFault) -> bool) -> Vec<(usize, f64)> {
        match &self.kind {
            SimulatedKind::Softmax {
                shifted,
                logarithm,
                instance,
            } => {
                let shifts = *shifted && !has(PrimitiveFault::Shift);
                // SAFETY: as the caller promises.
                unsafe { self.softmax(shifts, *logarithm, *instance) }
            }
            SimulatedKind::Activation(function) => {
                let sign = has(PrimitiveFault::Sign);
                // SAFETY: as the caller promises.
                unsafe { self.elements(|x| function.apply(if sign { x.abs() } else { x })) }
            }
            SimulatedKind::Reduction(reduction) => {
                // SAFETY: as the caller promises.
                unsafe { self.reduced(*reduction, has) }
            }
            SimulatedKind::Pool {
                each,
                window,
                padding,
                stride,
            } => {
                let counts =
                    has(PrimitiveFault::Padding) || *each == SimulatedWindow::MeanWithPadding;
                let windows = SimulatedWindows {
                    window,
                    padding,
                    stride,
                };
                // SAFETY: as the caller promises.
                unsafe { self.pooled(*each, counts, windows) }
            }
            SimulatedKind::Norm(norm) => {
                // SAFETY: as the caller promises.
                let x = unsafe { self.x.numbers() };
                let places = positions(&self.y.lengths).into_iter();
                let places = places.map(|position| self.y.index(position));
                places.zip(norm.apply(&x, has)).collect()
            }
        }
    }

    unsafe fn elements(&self, function: impl Fn(f64) -> f64) -> Vec<(usize, f64)> {
        positions(&self.y.lengths)
            .iter()
            .map(|position| {
                let [from, to] =
                    [&self.x, &self.y].map(|tensor| tensor.index(position.iter().copied()));
                // SAFETY: as the caller promises.
                (to, function(unsafe { self.x.read(from) }))
            })
            .collect()
    }

    unsafe fn softmax(&self, shifts: bool, logarithm: bool, instance: bool) -> Vec<(usize, f64)> {
        let is_over = |dimension: usize| dimension == 1 || instance && dimension > 1;
        let groups = groups(&self.x.lengths, is_over);
        let of_group = |group: &Vec<Vec<usize>>| -> Vec<(usize, f64)> {
            let scores: Vec<f64> = group
                .iter()
                // SAFETY: as the caller promises.
                .map(|position| unsafe { self.x.read(self.x.index(position.iter().copied())) })
                .collect();
            let places = group
                .iter()
                .map(|position| self.y.index(position.iter().copied()));
            places
                .zip(softmax_line(&scores, shifts, logarithm))
                .collect()
        };
        groups.iter().flat_map(of_group).collect()
    }

    unsafe fn reduced(
        &self,
        reduction: SimulatedReduction,
        has: &impl Fn(PrimitiveFault) -> bool,
    ) -> Vec<(usize, f64)> {
        let drops = has(PrimitiveFault::Block) && reduction.adds();
        let [from, to] = [&self.x.lengths, &self.y.lengths];
        let groups = groups(from, |dimension| to[dimension] == 1);
        groups
            .iter()
            .map(|group| {
                let mut numbers: Vec<f64> = group
                    .iter()
                    // SAFETY: as the caller promises.
                    .map(|position| unsafe { self.x.read(self.x.index(position.iter().copied())) })
                    .collect();
                let count = numbers.len();
                if drops && count > PrimitiveFault::BLOCK {
                    numbers.truncate(count / PrimitiveFault::BLOCK * PrimitiveFault::BLOCK);
                }
                let place = group[0].iter().zip(to);
                let place = place.map(|(index, length)| if *length == 1 { 0 } else { *index });
                (
                    self.y.index(place),
                    reduction.apply_with(&numbers, count, has),
                )
            })
            .collect()
    }

    unsafe fn pooled(
        &self,
        each: SimulatedWindow,
        counts_padding: bool,
        windows: SimulatedWindows<'_>,
    ) -> Vec<(usize, f64)> {
        let pool = |position: &Vec<usize>| {
            let size: usize = windows.window.iter().product();
            let elements = windows.elements(position, &self.x.lengths);
            let numbers: Vec<f64> = elements
                .into_iter()
                // SAFETY: as the caller promises.
                .map(|from| unsafe { self.x.read(self.x.index(from)) })
                .collect();
            let number = match each {
                SimulatedWindow::Maximum => SimulatedReduction::Maximum.apply(&numbers, size),
                SimulatedWindow::Mean | SimulatedWindow::MeanWithPadding => {
                    let count = if counts_padding { size } else { numbers.len() };
                    SimulatedReduction::Mean.apply(&numbers, count)
                }
            };
            (self.y.index(position.iter().copied()), number)
        };
        positions(&self.y.lengths).iter().map(pool).collect()
    }
}

/// The windows of a pool.
#[derive(Clone, Copy)]
struct SimulatedWindows<'a> {
    window: &'a [usize],
    padding: &'a [usize],
    stride: &'a [usize],
}

impl SimulatedWindows<'_> {
    /// The positions of x in the window of a position of y, without padding.
    fn elements(self, position: &[usize], lengths: &[usize]) -> Vec<Vec<usize>> {
        let inside = |tap: &Vec<usize>| -> Option<Vec<usize>> {
            let spatial = tap.iter().enumerate().map(|(dimension, tap)| {
                let start = position[2 + dimension] * self.stride[dimension] + tap;
                start
                    .checked_sub(self.padding[dimension])
                    .filter(|index| *index < lengths[2 + dimension])
            });
            position[..2]
                .iter()
                .copied()
                .map(Some)
                .chain(spatial)
                .collect()
        };
        positions(self.window).iter().filter_map(inside).collect()
    }
}

/// The positions of a shape in groups that differ in the dimensions `is_over` only.
fn groups(lengths: &[usize], is_over: impl Fn(usize) -> bool) -> Vec<Vec<Vec<usize>>> {
    let part = |over: bool| -> Vec<usize> {
        let length = |(dimension, length): (usize, &usize)| {
            if is_over(dimension) == over {
                *length
            } else {
                1
            }
        };
        lengths.iter().enumerate().map(length).collect()
    };
    let (kept, varied) = (positions(&part(false)), positions(&part(true)));
    kept.iter()
        .map(|start| varied.iter().map(|offset| moved(start, offset)).collect())
        .collect()
}

/// A position moved by an offset in each dimension.
fn moved(position: &[usize], offset: &[usize]) -> Vec<usize> {
    position.iter().zip(offset).map(|(a, b)| a + b).collect()
}

#[cfg(test)]
mod tests;
