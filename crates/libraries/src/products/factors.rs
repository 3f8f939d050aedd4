//! The numbers of the matrices, and the reference of their product in f64.

use super::shape::ProductShape;
use crate::{
    epilogue::EpilogueActivation,
    number_type::NumberType,
    product::{ComputeType, Gemm, GemmTypes},
};
use testgen_operators::{
    calls::Element,
    cases::{Arithmetic as Bounds, BoundedNumber, Reference},
};
use testgen_types::Precision;

/// The numbers of A, B and C, row-major, of the bias, and the sums of A * B.
pub(super) struct Factors {
    shape: ProductShape,
    arithmetic: GemmTypes,
    kind: FactorKind,
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    bias: Vec<f64>,
    sums: Vec<BoundedNumber>,
}

/// The numbers of the matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FactorKind {
    /// Uniform from -1 to 1.
    Uniform,
    /// Whole numbers from -2 to 2, in C multiples of 4: with alpha -0.5 and beta 0.75 every step is
    /// exact.
    Integers,
    /// A is subnormal, B large enough that the result is normal: zero if the device flushes A.
    Subnormal,
    /// Whole numbers from -127 to 127, in C and the bias to 1000.
    Bytes,
    /// Whole numbers from 64 to 127: long sums exceed the 24 bits in which f32 is exact.
    LargeBytes,
}

impl FactorKind {
    /// The kinds alternate over the shapes. TF32 loses bits of subnormal numbers, and types of 8
    /// bits have few of them.
    fn new(index: usize, shape: ProductShape, arithmetic: GemmTypes) -> Self {
        let has_subnormals = arithmetic.compute == ComputeType::F32 && !arithmetic.has_float8();
        match index % 5 {
            _ if arithmetic.compute == ComputeType::I32 => match shape.inner {
                0..1024 => Self::Bytes,
                _ => Self::LargeBytes,
            },
            1 => Self::Integers,
            3 if has_subnormals => Self::Subnormal,
            _ => Self::Uniform,
        }
    }

    /// Whether every step is exact.
    fn is_exact(self) -> bool {
        matches!(self, Self::Integers | Self::Bytes | Self::LargeBytes)
    }
}

impl Factors {
    /// The numbers for the shape with number `index` of the list; the same in every run.
    pub(super) fn new(shape: ProductShape, arithmetic: GemmTypes, index: usize) -> Self {
        let kind = FactorKind::new(index, shape, arithmetic);
        let ProductShape {
            rows,
            columns,
            inner,
            batch,
        } = shape;
        let [type_a, type_b] = arithmetic.factors;
        let fill = |operand: usize, count: usize, number: NumberType| -> Vec<f64> {
            // Four operands, so that every matrix of every shape has a separate seed.
            let mut random = SplitMix64::new((index * 4 + operand) as u64);
            (0..count)
                .map(|_| number.round(random.number(kind, operand, number)))
                .collect()
        };
        let (a, b) = (
            fill(0, batch * rows * inner, type_a),
            fill(1, batch * inner * columns, type_b),
        );
        let c = fill(2, batch * rows * columns, arithmetic.result);
        let bias = fill(3, rows, arithmetic.result);
        let sums = sums(shape, bounds(arithmetic), &a, &b, arithmetic.has_float8());
        Self {
            shape,
            arithmetic,
            kind,
            a,
            b,
            c,
            bias,
            sums,
        }
    }

    /// The bias of a row.
    pub(super) fn bias(&self, row: usize) -> f64 {
        self.bias[row]
    }

    /// An element of A.
    pub(super) fn a(&self, matrix: usize, [row, column]: [usize; 2]) -> f64 {
        self.a[(matrix * self.shape.rows + row) * self.shape.inner + column]
    }

    /// An element of B.
    pub(super) fn b(&self, matrix: usize, [row, column]: [usize; 2]) -> f64 {
        self.b[(matrix * self.shape.inner + row) * self.shape.columns + column]
    }

    /// An element of C.
    pub(super) fn c(&self, matrix: usize, [row, column]: [usize; 2]) -> f64 {
        self.c[(matrix * self.shape.rows + row) * self.shape.columns + column]
    }

    /// A sum of subnormal numbers whose factor alpha is applied to a factor in place of the sum, as
    /// some algorithms do.
    fn with_scaled_factor(&self, sum: BoundedNumber) -> BoundedNumber {
        if self.kind != FactorKind::Subnormal {
            return sum;
        }
        // Each product of alpha and an element of A rounds to a multiple of the smallest number.
        let error = self.shape.inner as f64 * LARGEST_OF_B * f64::from(f32::from_bits(1));
        BoundedNumber {
            error: sum.error + error,
            // An error that is uniform between two bounds has a third of their square as its
            // variance.
            variance: sum.variance + error * error / 3.0,
            ..sum
        }
    }

    /// The result with a bound for each element: alpha * sum and beta * C are added in f32, and
    /// rounded once to the type of D.
    pub(super) fn reference(&self, product: &Gemm) -> Reference {
        let ProductShape {
            rows,
            columns,
            batch,
            ..
        } = self.shape;
        Reference {
            shape: vec![batch, rows, columns],
            element: element(self.arithmetic.result),
            numbers: (0..self.sums.len())
                .map(|index| self.number(product, index))
                .collect(),
            // The error of tanh is not a rounding of independent terms.
            sums: !self.kind.is_exact() && product.epilogue.activation != EpilogueActivation::Gelu,
            signed_zeros: false,
        }
    }

    /// The element of the result with this index.
    fn number(&self, product: &Gemm, index: usize) -> BoundedNumber {
        let bounds = bounds(self.arithmetic);
        let ProductShape { rows, columns, .. } = self.shape;
        let bias = self.bias[index / columns % rows];
        let total = self.total(product, self.sums[index], self.c[index]);
        bounds.stored(product.epilogue.apply(bounds, total, bias))
    }

    /// alpha * sum + beta * added.
    fn total(&self, product: &Gemm, sum: BoundedNumber, added: f64) -> BoundedNumber {
        let bounds = bounds(self.arithmetic);
        if self.kind.is_exact() {
            let scale: f64 = product.scales.unwrap_or([1.0; 2]).iter().product();
            let value = product.alpha * scale * sum.value + product.beta * added;
            return BoundedNumber::exact(value);
        }
        // A factor of 1 does not round.
        let times = |number: BoundedNumber, factor: f64| match factor {
            1.0 => number,
            _ => bounds.mul(BoundedNumber::exact(factor), number),
        };
        let [of_a, of_b] = product.scales.unwrap_or([1.0; 2]);
        let sum = times(times(sum, of_a), of_b);
        let scaled = match product.alpha {
            // A and B are not read then, and may be NaN.
            0.0 => BoundedNumber::exact(0.0),
            1.0 => sum,
            alpha => times(self.with_scaled_factor(sum), alpha),
        };
        let added = BoundedNumber::exact(added);
        match product.beta {
            // C is not read then, and may be NaN.
            0.0 => scaled,
            beta => bounds.add(scaled, times(added, beta)),
        }
    }
}

/// The rounding of a product in its types.
pub(crate) fn bounds(arithmetic: GemmTypes) -> Bounds {
    Bounds::for_precision(match (arithmetic.compute, arithmetic.result) {
        (ComputeType::I32, _) => return Bounds::exact(Element::I32),
        (ComputeType::Tf32, _) => Precision::Tf32,
        (ComputeType::F32, NumberType::F16) => Precision::F16,
        (ComputeType::F32, NumberType::Bf16) => Precision::Bf16,
        // Factors of 8 bits are exact in f32.
        (ComputeType::F32, _) => Precision::F32,
    })
}

/// The type of results, which never has 8 bits.
pub(crate) fn element(result: NumberType) -> Element {
    result.element().unwrap_or(Element::F32)
}

/// The unit of the sums inside Hopper's matrix unit for factors of 8 bits: 14 bits (DeepSeek-V3,
/// section 3.5.2; the documentation of NVIDIA has no number).
const FLOAT8_UNIT: f64 = 1.0 / (1_u64 << 13) as f64;

/// The sums of A * B, row-major for each matrix.
fn sums(
    shape: ProductShape,
    bounds: Bounds,
    a: &[f64],
    b: &[f64],
    float8: bool,
) -> Vec<BoundedNumber> {
    let ProductShape {
        rows,
        columns,
        inner,
        batch,
    } = shape;
    let mut sums = Vec::with_capacity(batch * rows * columns);
    for matrix in 0..batch {
        let (a, b) = (&a[matrix * rows * inner..], &b[matrix * inner * columns..]);
        // By columns of B, whose elements are not neighbours: copied once.
        let columns_of_b: Vec<Vec<f64>> = (0..columns)
            .map(|column| {
                (0..inner)
                    .map(|index| b[index * columns + column])
                    .collect()
            })
            .collect();
        for row in 0..rows {
            let a = &a[row * inner..(row + 1) * inner];
            for b in &columns_of_b {
                let sum = bounds.dot(
                    a.iter()
                        .zip(b)
                        .map(|(a, b)| (BoundedNumber::exact(*a), BoundedNumber::exact(*b))),
                );
                sums.push(if float8 { widened(sum, a, b) } else { sum });
            }
        }
    }
    sums
}

/// The bound of a sum of factors of 8 bits: every partial sum loses bits below the largest term.
fn widened(sum: BoundedNumber, a: &[f64], b: &[f64]) -> BoundedNumber {
    let magnitude: f64 = a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum();
    let error = sum.error + FLOAT8_UNIT * magnitude;
    BoundedNumber {
        error,
        variance: sum.variance + (FLOAT8_UNIT * magnitude).powi(2) / 3.0,
        ..sum
    }
}

/// The largest element of B next to subnormal elements of A.
const LARGEST_OF_B: f64 = 1024.0;

/// Random numbers: splitmix64.
struct SplitMix64(u64);

impl SplitMix64 {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number from 0 to 1, without 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// An element of operand 0 (A), 1 (B), 2 (C) or 3 (the bias).
    fn number(&mut self, kind: FactorKind, operand: usize, number: NumberType) -> f64 {
        let uniform = 2.0 * self.unit() - 1.0;
        // The smallest normal number; subnormal numbers are below it.
        let normal = if number == NumberType::F16 {
            2_f64.powi(-14)
        } else {
            2_f64.powi(-126)
        };
        match (kind, operand) {
            (FactorKind::Uniform, _) => uniform,
            (FactorKind::Integers, 2 | 3) => 4.0 * (2.5 * uniform).trunc(),
            (FactorKind::Integers, _) => (2.5 * uniform).trunc(),
            (FactorKind::Bytes | FactorKind::LargeBytes, 2 | 3) => (1000.0 * uniform).trunc(),
            // Up to 127: -128 marks elements that were not written.
            (FactorKind::Bytes, _) => (128.0 * uniform).trunc(),
            // All positive, so that long sums grow beyond 2^24.
            (FactorKind::LargeBytes, _) => 64.0 + (64.0 * uniform.abs()).trunc(),
            (FactorKind::Subnormal, 0) => uniform * normal,
            (FactorKind::Subnormal, 1) => LARGEST_OF_B * uniform,
            (FactorKind::Subnormal, _) => uniform * LARGEST_OF_B * normal,
        }
    }
}
