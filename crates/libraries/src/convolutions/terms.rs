//! The terms of one element of a convolution: the elements of x and of the weight whose products
//! are added.

use crate::convolution_problem::ConvolutionProblem;
use testgen_operators::calls::row_major_strides;

/// The terms of the element `flat` of the result, each as row-major indices of x and of the weight.
pub(super) fn terms(problem: &ConvolutionProblem, flat: usize) -> impl Iterator<Item = [usize; 2]> {
    let positions: usize = problem.y[2..].iter().product();
    let (image, position) = (flat / positions, flat % positions);
    let (row, channel) = (image / problem.y[1], image % problem.y[1]);
    let [plane, taps] =
        [&problem.x, &problem.weight].map(|shape| shape[2..].iter().product::<usize>());
    let [inner, outer] = [&problem.x, &problem.y].map(|shape| shape[1] / problem.groups);
    let (group, within) = (channel / outer, channel % outer);
    // Found once, because the windows of all channels of an element are at the same places.
    let seen: Vec<[usize; 2]> = (0..taps)
        .filter_map(|tap| Some([source(problem, position, tap)?, tap]))
        .collect();
    let (channels, transposed) = (problem.x[1], problem.is_transposed());
    (0..inner).flat_map(move |index| {
        let from = (row * channels + group * inner + index) * plane;
        let by = if transposed {
            ((group * inner + index) * outer + within) * taps
        } else {
            (channel * inner + index) * taps
        };
        let terms = seen.clone().into_iter();
        terms.map(move |[place, tap]| [from + place, by + tap])
    })
}

/// The element of a channel of x that a tap of the window multiplies; none if it is padding, or
/// between two elements of a transposed convolution.
fn source(problem: &ConvolutionProblem, position: usize, tap: usize) -> Option<usize> {
    let [from, to, kernel] = [&problem.x, &problem.y, &problem.weight].map(|shape| &shape[2..]);
    let [strides, own] = [to, kernel].map(row_major_strides);
    let mut place = 0;
    for dimension in 0..from.len() {
        let window = position / strides[dimension] % to[dimension];
        let offset = tap / own[dimension] % kernel[dimension] * problem.dilation[dimension];
        let (padding, stride) = (problem.padding[dimension], problem.stride[dimension]);
        let index = if problem.is_transposed() {
            let whole = (window + padding).checked_sub(offset)?;
            whole.is_multiple_of(stride).then_some(whole / stride)?
        } else {
            (window * stride + offset).checked_sub(padding)?
        };
        // The padding after the last element; before the first one, `checked_sub` has returned.
        if index >= from[dimension] {
            return None;
        }
        place = place * from[dimension] + index;
    }
    Some(place)
}
