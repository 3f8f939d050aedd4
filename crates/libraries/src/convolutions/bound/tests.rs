//! Bounds of right results, of results that lack a channel, and of Winograd's algorithm.

use super::{ConvolutionBounds, ConvolutionEvaluation};
use crate::{
    convolution_library::ConvolutionAlgorithm,
    convolution_problem::ConvolutionProblem,
    convolutions::plan::{ConvolutionNumbers, ConvolutionPlan},
    product::ComputeType,
};
use testgen_operators::calls::{Attributes, Element};
use testgen_types::{Operator, Precision};

#[test]
fn single_elements_have_the_reference_of_the_whole_result() {
    for precision in [Precision::F32, Precision::Tf32, Precision::Bf16] {
        for planned in ConvolutionPlan::new(true, Some(precision)).convolutions() {
            let (problem, whole) = (&planned.problem, ConvolutionBounds::new(&planned));
            let all: Vec<usize> = (0..problem.y.iter().product()).collect();
            let elements = ConvolutionBounds::of_elements(problem, planned.factors(), &all);
            for (whole, element) in [
                (&whole.added, &elements.added),
                (&whole.transformed, &elements.transformed),
            ] {
                assert_eq!(element.numbers.len(), whole.numbers.len());
                for (whole, element) in whole.numbers.iter().zip(&element.numbers) {
                    let difference = (whole.value - element.value).abs();
                    assert!(difference <= 1e-12 * (1.0 + whole.value.abs()), "{problem}");
                    // Sums of integers have a smaller bound in the plan.
                    assert!(element.error >= 0.999 * whole.error, "{problem}");
                }
            }
        }
    }
}

#[test]
fn a_transform_has_a_wider_bound() {
    let plan = ConvolutionPlan::new(true, Some(Precision::F32));
    for planned in plan.convolutions() {
        let bounds = ConvolutionBounds::new(&planned);
        let numbers = bounds.added.numbers.iter().zip(&bounds.transformed.numbers);
        // A channel whose weights are all zero has no error.
        for (added, transformed) in numbers.filter(|(added, _)| added.value != 0.0) {
            assert!(added.error < transformed.error);
            assert!(added.variance < transformed.variance);
        }
        // Small integers may all be zero.
        let is_zero = bounds
            .added
            .numbers
            .iter()
            .all(|number| number.value == 0.0);
        let detects = is_zero || bounds.detects_lost_terms();
        assert!(detects, "{}", planned.problem);
    }
}

#[test]
fn rounded_constants_may_scale_all_elements_of_a_large_result() {
    let plan = ConvolutionPlan::new(true, Some(Precision::F32));
    let largest = plan
        .convolutions()
        .filter(|planned| planned.kind == ConvolutionNumbers::Uniform)
        .max_by_key(|planned| planned.problem.y.iter().product::<usize>())
        .expect("a convolution of uniform numbers");
    let bounds = ConvolutionBounds::new(&largest);
    let passes = |factor: f64| {
        let numbers = bounds.added.numbers.iter();
        let values: Vec<f64> = numbers.map(|number| number.value * factor).collect();
        bounds.evaluate_scale(&values).failure.is_none()
    };
    assert!(passes(1.0 + 1e-6) && passes(1.0 - 1e-6));
    assert!(!passes(1.0 + 4e-6) && !passes(1.0 - 4e-6));
}

fn algorithm(transforms: bool) -> ConvolutionAlgorithm {
    ConvolutionAlgorithm {
        id: String::new(),
        configuration: String::new(),
        transforms,
        deterministic: true,
        workspace: 0,
        number: 0,
        math: 0,
    }
}

/// One tile of F(4x4, 3x3) for each of eight channels of the result.
struct Tile {
    problem: ConvolutionProblem,
    x: Vec<f64>,
    weight: Vec<f64>,
}

impl Tile {
    const OUT: usize = 8;

    fn new(element: Element, channels: usize) -> Self {
        let shapes: [&[usize]; 2] = [&[1, channels, 6, 6], &[Self::OUT, channels, 3, 3]];
        let attributes = Attributes {
            groups: 1,
            ..Attributes::default()
        };
        let types = (element, ComputeType::F32);
        let problem = ConvolutionProblem::new(Operator::Conv2d, types, shapes, &attributes);
        let [x, weight] = [(0, shapes[0]), (1, shapes[1])].map(|(input, shape)| {
            let length: usize = shape.iter().product();
            (0..length)
                .map(|index| element.round(uniform(2 * index + input)))
                .collect()
        });
        Self {
            problem: problem.expect("is a convolution"),
            x,
            weight,
        }
    }

    fn bounds(&self) -> ConvolutionBounds {
        let all: Vec<usize> = (0..16 * Self::OUT).collect();
        ConvolutionBounds::of_elements(&self.problem, [&self.x, &self.weight], &all)
    }

    /// The result without the last channel, rounded to the type.
    fn lacking_a_channel(&self) -> Vec<f64> {
        let last = self.x.len() - 36;
        let kept = self.x[..last].iter().copied();
        let x: Vec<f64> = kept.chain([0.0; 36]).collect();
        let all: Vec<usize> = (0..16 * Self::OUT).collect();
        let bounds = ConvolutionBounds::of_elements(&self.problem, [&x, &self.weight], &all);
        bounds.added.tensor().values
    }

    /// The result of Winograd's algorithm, whose transforms round to `to`.
    fn transformed(&self, to: Element) -> Vec<f64> {
        let channels = self.problem.x[1];
        let round = |matrix: Vec<f64>| -> Vec<f64> {
            matrix.into_iter().map(|value| to.round(value)).collect()
        };
        let tiles: Vec<Vec<f64>> = self
            .x
            .chunks(36)
            .map(|tile| round(around(&INPUT, tile, 6)))
            .collect();
        let of_channel = |weight: &[f64]| {
            let mut sums = vec![0.0_f32; 36];
            for (window, tile) in weight.chunks(9).zip(&tiles) {
                let window = round(around(&WEIGHT, window, 3));
                let terms = window.iter().zip(tile).map(|(a, b)| (a * b) as f32);
                sums.iter_mut()
                    .zip(terms)
                    .for_each(|(sum, term)| *sum += term);
            }
            around(
                &OUTPUT,
                &sums.into_iter().map(f64::from).collect::<Vec<_>>(),
                6,
            )
        };
        let all = self.weight.chunks(9 * channels).flat_map(of_channel);
        all.map(|value| self.problem.element.round(f64::from(value as f32)))
            .collect()
    }
}

/// Numbers between -1 and 1 without a period: a hash of their index.
fn uniform(index: usize) -> f64 {
    let mixed = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// The matrices of F(4, 3) by Lavin and Gray (arXiv 1509.09308).
const INPUT: [&[f64]; 6] = [
    &[4.0, 0.0, -5.0, 0.0, 1.0, 0.0],
    &[0.0, -4.0, -4.0, 1.0, 1.0, 0.0],
    &[0.0, 4.0, -4.0, -1.0, 1.0, 0.0],
    &[0.0, -2.0, -1.0, 2.0, 1.0, 0.0],
    &[0.0, 2.0, -1.0, -2.0, 1.0, 0.0],
    &[0.0, 4.0, 0.0, -5.0, 0.0, 1.0],
];
const WEIGHT: [&[f64]; 6] = [
    &[1.0 / 4.0, 0.0, 0.0],
    &[-1.0 / 6.0, -1.0 / 6.0, -1.0 / 6.0],
    &[-1.0 / 6.0, 1.0 / 6.0, -1.0 / 6.0],
    &[1.0 / 24.0, 1.0 / 12.0, 1.0 / 6.0],
    &[1.0 / 24.0, -1.0 / 12.0, 1.0 / 6.0],
    &[0.0, 0.0, 1.0],
];
const OUTPUT: [&[f64]; 4] = [
    &[1.0, 1.0, 1.0, 1.0, 1.0, 0.0],
    &[0.0, 1.0, -1.0, 2.0, -2.0, 0.0],
    &[0.0, 1.0, 1.0, 4.0, 4.0, 0.0],
    &[0.0, 1.0, -1.0, 8.0, -8.0, 1.0],
];

/// M * square * M transposed, in f32 after each product with M.
fn around(matrix: &[&[f64]], square: &[f64], length: usize) -> Vec<f64> {
    let rows = |from: &[f64]| -> Vec<f64> {
        // Columns become rows, so that a second time applies M to the other side.
        let columns = (0..from.len() / length).flat_map(|column| {
            let line = &from[column * length..][..length];
            matrix.iter().map(move |row| {
                let sum: f64 = row.iter().zip(line).map(|(a, b)| a * b).sum();
                f64::from(sum as f32)
            })
        });
        let products: Vec<f64> = columns.collect();
        let lines = products.len() / matrix.len();
        (0..matrix.len())
            .flat_map(|row| (0..lines).map(move |line| (row, line)))
            .map(|(row, line)| products[line * matrix.len() + row])
            .collect()
    };
    rows(&rows(square))
}

fn is_right(tile: &Tile, values: &[f64]) -> Option<bool> {
    match tile.bounds().evaluate(&algorithm(true), values, None) {
        ConvolutionEvaluation::Decided(evaluation) => Some(evaluation.failure.is_none()),
        ConvolutionEvaluation::Undecided => None,
    }
}

#[test]
fn winograd_is_right_and_a_lost_channel_wrong() {
    for (element, transformed, channels) in [
        (Element::F32, Element::F32, 4),
        (Element::F32, Element::F32, 256),
        (Element::F16, Element::F32, 256),
        (Element::F16, Element::F16, 4),
        (Element::F16, Element::F16, 256),
        (Element::Bf16, Element::Bf16, 4),
    ] {
        let tile = Tile::new(element, channels);
        let name = format!("{element} {transformed} {channels}");
        let values = tile.transformed(transformed);
        assert_eq!(is_right(&tile, &values), Some(true), "{name}");
        let lacking = tile.lacking_a_channel();
        assert_eq!(is_right(&tile, &lacking), Some(false), "{name}");
        let larger: Vec<f64> = values.iter().map(|value| value * 1.01).collect();
        // One part of a hundred is less than the truncation of two factors of bf16.
        let expected = Some(element == Element::Bf16);
        assert_eq!(is_right(&tile, &larger), expected, "{name}");
    }
}

#[test]
fn a_bound_that_a_lost_channel_is_within_decides_only_about_exact_sums() {
    let tile = Tile::new(Element::Bf16, 512);
    assert_eq!(is_right(&tile, &tile.transformed(Element::Bf16)), None);
    assert_eq!(is_right(&tile, &tile.lacking_a_channel()), None);
    assert_eq!(
        is_right(&tile, &tile.bounds().added.tensor().values),
        Some(true)
    );
}
