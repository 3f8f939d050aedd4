//! The variants of a shape: transposition, alpha and beta, padding, scales, and epilogue.

use super::{plan::ProductPlan, shape::ProductShape};
use crate::{
    epilogue::Epilogue,
    product::{ComputeType, Gemm, GemmTypes},
};

/// The factors alpha and beta. With beta 0, C must not be read; 1 and 0.75 are different paths of
/// kernels.
const SCALARS: [[f64; 2]; 6] = [
    [1.0, 0.0],
    [-0.5, 0.0],
    [1.0, 1.0],
    [-0.5, 0.75],
    [1.0, 0.75],
    [-0.5, 1.0],
];

/// Those of whole numbers.
const WHOLE_SCALARS: [[f64; 2]; 6] = [
    [1.0, 0.0],
    [-2.0, 0.0],
    [1.0, 1.0],
    [-2.0, 3.0],
    [1.0, 3.0],
    [-2.0, 1.0],
];

/// The scales of A and of B: a power of two and a number that rounds.
const SCALES: [f64; 2] = [0.25, 1.6875];

const TRANSPOSES: [[bool; 2]; 4] = [[false, false], [false, true], [true, false], [true, true]];

/// The variants of a shape: every transposition, each with two pairs of factors; those, padding and
/// scales alternate with the index of the shape, so that all are combined over the list. One more has
/// an alpha of 0, and two more of a plan with epilogues have one; not of shapes whose sums have no
/// terms.
pub(super) fn products(
    plan: &ProductPlan,
    shape: ProductShape,
    arithmetic: GemmTypes,
    index: usize,
) -> Vec<Gemm> {
    let whole = arithmetic.compute == ComputeType::I32;
    let scalars = if whole { WHOLE_SCALARS } else { SCALARS };
    let mut products = Vec::new();
    for (order, transposed) in TRANSPOSES.into_iter().enumerate() {
        for offset in [0, 3] {
            let [alpha, beta] = scalars[(index + order + offset) % scalars.len()];
            products.push(Gemm {
                transposed,
                alpha,
                beta,
                ..product(shape, arithmetic, index)
            });
        }
    }
    // A sum without terms is beta * C already, whatever alpha is.
    if shape.inner == 0 {
        return products;
    }
    products.push(without_product(shape, arithmetic, index));
    if plan.epilogues && !arithmetic.has_bytes() {
        products.extend([0, 2].map(|offset| with_epilogue(shape, arithmetic, index, offset)));
    }
    products
}

/// The product with an alpha of 0, which is beta * C.
fn without_product(shape: ProductShape, arithmetic: GemmTypes, index: usize) -> Gemm {
    let third = if arithmetic.compute == ComputeType::I32 {
        3.0
    } else {
        0.75
    };
    Gemm {
        transposed: TRANSPOSES[index / 3 % TRANSPOSES.len()],
        alpha: 0.0,
        beta: [third, 0.0, 1.0][index % 3],
        ..product(shape, arithmetic, index)
    }
}

/// The product of a shape, with its padding and scales.
fn product(shape: ProductShape, arithmetic: GemmTypes, index: usize) -> Gemm {
    let ProductShape {
        rows,
        columns,
        inner,
        batch,
    } = shape;
    let step = match (arithmetic.has_bytes(), rows == 1 || columns == 1) {
        // Elements of 8 bits need columns that start at multiples of 16 bytes.
        (true, _) => 16,
        // Vectors that are stored as rows have an increment of 2.
        (false, true) => 1,
        (false, false) => [3, 8][index / 2 % 2],
    };
    Gemm {
        batch,
        padding: step * (index % 2),
        gap: step * 4 * (index / 3 % 2),
        scales: (arithmetic.has_float8() && index / 2 % 2 == 1).then_some(SCALES),
        ..Gemm::new([rows, columns, inner], arithmetic)
    }
}

/// One of the epilogues.
fn with_epilogue(shape: ProductShape, arithmetic: GemmTypes, index: usize, offset: usize) -> Gemm {
    let [alpha, beta] = SCALARS[(index + offset) % SCALARS.len()];
    Gemm {
        transposed: TRANSPOSES[(index / 3 + offset) % TRANSPOSES.len()],
        alpha,
        beta,
        // The kinds of numbers alternate with five shapes, so the epilogue moves by one more after
        // each five.
        epilogue: Epilogue::ALL[(index + index / 5 + offset) % Epilogue::ALL.len()],
        ..product(shape, arithmetic, index)
    }
}

#[cfg(test)]
mod tests {
    use super::{ProductPlan, products};
    use crate::{library::LibraryName, product::GemmTypes};
    use std::collections::BTreeSet;
    use testgen_types::Precision;

    #[test]
    fn every_epilogue_has_every_transposition_and_kind_of_numbers() {
        let plan = ProductPlan::full(LibraryName::CublasLt);
        let arithmetic = GemmTypes::for_precision(Precision::F16);
        let mut variants = BTreeSet::new();
        for (index, shape) in plan.shapes.iter().enumerate() {
            for product in products(&plan, *shape, arithmetic, index) {
                variants.insert((product.epilogue, product.transposes(), index % 5));
            }
        }
        // Five epilogues and none, four transpositions, five kinds of numbers.
        assert_eq!(variants.len(), 6 * 4 * 5);
    }

    #[test]
    fn an_alpha_of_0_has_every_beta_in_every_transposition() {
        let plan = ProductPlan::full(LibraryName::Rocblas);
        let arithmetic = GemmTypes::for_precision(Precision::F32);
        let mut variants = BTreeSet::new();
        for (index, shape) in plan.shapes.iter().enumerate() {
            let products = products(&plan, *shape, arithmetic, index);
            let zero = products.iter().filter(|product| product.alpha == 0.0);
            variants.extend(zero.map(|product| (product.transposes(), product.beta.to_bits())));
        }
        assert_eq!(variants.len(), 4 * 3);
    }

    #[test]
    fn sums_without_terms_have_every_pair_of_factors() {
        let plan = ProductPlan::reduced(LibraryName::CublasLt);
        for arithmetic in &plan.arithmetics {
            let mut scalars = BTreeSet::new();
            for (index, shape) in plan.shapes.iter().enumerate() {
                if shape.inner == 0 && shape.fits(*arithmetic) {
                    let products = products(&plan, *shape, *arithmetic, index);
                    let pairs = products.iter();
                    scalars.extend(pairs.map(|it| [it.alpha, it.beta].map(f64::to_bits)));
                }
            }
            assert_eq!(scalars.len(), 6, "{arithmetic}");
        }
    }

    #[test]
    fn only_factors_of_8_bits_have_scales_and_only_others_epilogues() {
        let plan = ProductPlan::full(LibraryName::HipblasLt);
        let [mut scaled, mut finished] = [BTreeSet::new(), BTreeSet::new()];
        for arithmetic in &plan.arithmetics {
            for (index, shape) in plan.shapes.iter().enumerate() {
                for product in products(&plan, *shape, *arithmetic, index) {
                    scaled.extend(product.scales.map(|_| arithmetic.has_float8()));
                    let finishes = product.epilogue != super::Epilogue::NONE;
                    finished.extend(finishes.then_some(arithmetic.has_bytes()));
                }
            }
        }
        assert_eq!(scaled, BTreeSet::from([true]));
        assert_eq!(finished, BTreeSet::from([false]));
    }
}
