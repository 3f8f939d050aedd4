//! The products that are computed: about 200 shapes in each type.

use super::shape::ProductShape;
use crate::{
    library::LibraryName,
    number_type::NumberType,
    product::{ComputeType, GemmTypes},
};
use testgen_types::Precision;

/// The products that are computed.
#[derive(Debug, Clone)]
pub(crate) struct ProductPlan {
    /// The shapes.
    pub(crate) shapes: Vec<ProductShape>,
    /// The types.
    pub(crate) arithmetics: Vec<GemmTypes>,
    /// Whether products with epilogues are among them.
    pub(crate) epilogues: bool,
}

impl ProductPlan {
    /// Every shape in every type that a library may have, with every algorithm.
    pub(crate) fn full(library: LibraryName) -> Self {
        Self {
            shapes: [shapes(), without_terms()].concat(),
            arithmetics: arithmetics(library),
            epilogues: matches!(library, LibraryName::CublasLt | LibraryName::HipblasLt),
        }
    }

    /// Every seventh small shape, in every type: seconds on a processor.
    pub(crate) fn reduced(library: LibraryName) -> Self {
        let small = || shapes().into_iter().filter(|shape| shape.terms() < 1 << 16);
        let few = small().step_by(7);
        // Factors of 8 bits need sizes that few of the others have.
        let aligned = small()
            .filter(|shape| shape.fits(GemmTypes::INT8))
            .step_by(3);
        Self {
            shapes: few.chain(aligned).chain(without_terms()).collect(),
            ..Self::full(library)
        }
    }

    /// The part whose results have the type of a precision; whole numbers are a part of f32.
    #[must_use]
    pub(crate) fn of_precision(mut self, precision: Precision) -> Self {
        let GemmTypes {
            result, compute, ..
        } = GemmTypes::for_precision(precision);
        self.arithmetics
            .retain(|arithmetic| match arithmetic.compute {
                // No precision has whole numbers, and they are to be computed once.
                ComputeType::I32 => precision == Precision::F32,
                own => (arithmetic.result, own) == (result, compute),
            });
        self
    }
}

/// The types of a library.
fn arithmetics(library: LibraryName) -> Vec<GemmTypes> {
    use NumberType::{Bf16, E4m3, E4m3Fnuz, E5m2, E5m2Fnuz, F16, F32};
    // A device that does not have one of these types offers no algorithm for it.
    let precisions = [
        Precision::F32,
        Precision::Tf32,
        Precision::F16,
        Precision::Bf16,
    ];
    let mut arithmetics = precisions.map(GemmTypes::for_precision).to_vec();
    let open_compute = [
        ([E4m3, E4m3], Bf16),
        ([E4m3, E5m2], F16),
        ([E5m2, E4m3], F32),
    ];
    let without_infinity = [([E4m3Fnuz, E4m3Fnuz], F16), ([E4m3Fnuz, E5m2Fnuz], F32)];
    let float8 = |formats: &[([NumberType; 2], NumberType)]| -> Vec<GemmTypes> {
        formats
            .iter()
            .map(|(factors, result)| GemmTypes::float8(*factors, *result))
            .collect()
    };
    match library {
        LibraryName::Cublas | LibraryName::Rocblas | LibraryName::Cudnn | LibraryName::Miopen => {}
        LibraryName::CublasLt => {
            arithmetics.extend(float8(&open_compute));
            arithmetics.push(GemmTypes::INT8);
        }
        LibraryName::HipblasLt => {
            arithmetics.extend([float8(&open_compute), float8(&without_infinity)].concat());
            arithmetics.push(GemmTypes::INT8);
        }
    }
    arithmetics
}

/// The lengths of sums beyond which libraries choose other kernels; issues with skinny products
/// between 4096 and 8192.
const LONG: [usize; 5] = [4095, 4096, 4097, 8192, 8193];

/// Shapes whose sums have no terms, so that D is beta * C: kernels that return at once leave D as it
/// is (cuBLAS of pytorch 31421, stream-k kernels of hipBLASLt 1399). One fits factors of 8 bits.
fn without_terms() -> Vec<ProductShape> {
    let batch = ProductShape {
        batch: 3,
        ..ProductShape::new([17, 5, 0])
    };
    let sizes = [[17, 33, 0], [1, 64, 0], [16, 16, 0]];
    [sizes.map(ProductShape::new).as_slice(), &[batch]].concat()
}

/// 200 shapes: one row or column, one tile, tiles with tails, long sums, tall and wide matrices,
/// batches.
fn shapes() -> Vec<ProductShape> {
    let mut shapes = Vec::new();
    for rows in [1, 8, 17, 64, 129] {
        for columns in [1, 16, 33, 64, 127] {
            shapes.extend(
                [1, 16, 40, 65, 256].map(|inner| ProductShape::new([rows, columns, inner])),
            );
        }
    }
    for inner in LONG {
        shapes.extend(
            [[1, 33], [16, 16], [33, 17], [64, 32]]
                .map(|[rows, columns]| ProductShape::new([rows, columns, inner])),
        );
    }
    for rows in [1000, 1024, 4097] {
        shapes.extend(
            [[1, 64], [16, 32], [48, 16]]
                .map(|[columns, inner]| ProductShape::new([rows, columns, inner])),
        );
        shapes.extend(
            [[1, 64], [16, 32]].map(|[columns, inner]| ProductShape::new([columns, rows, inner])),
        );
    }
    shapes.extend(
        [
            [256, 256, 64],
            [257, 255, 48],
            [128, 384, 96],
            [320, 192, 80],
        ]
        .map(ProductShape::new),
    );
    shapes.extend([
        ProductShape::new([512, 512, 16]),
        ProductShape::new([96, 640, 32]),
    ]);
    for batch in [2, 3, 8, 33] {
        let sizes = [
            [1, 1, 1],
            [16, 16, 16],
            [17, 33, 9],
            [1, 64, 40],
            [64, 1, 64],
            [32, 48, 64],
            [65, 31, 128],
        ];
        shapes.extend(sizes.map(|sizes| ProductShape {
            batch,
            ..ProductShape::new(sizes)
        }));
    }
    shapes.extend([[128, 128, 512], [16, 64, 1024]].map(|sizes| ProductShape {
        batch: 2,
        ..ProductShape::new(sizes)
    }));
    shapes.extend([[2, 2, 2], [3, 5, 7], [31, 31, 31]].map(ProductShape::new));
    // A matrix and a vector; above are products with one row.
    shapes.extend(LONG.map(|inner| ProductShape::new([33, 1, inner])));
    shapes
}

#[cfg(test)]
mod tests {
    use super::{GemmTypes, ProductPlan, shapes};
    use crate::library::LibraryName;
    use std::collections::BTreeSet;
    use testgen_types::Precision;

    #[test]
    fn each_type_belongs_to_one_precision() {
        let all = ProductPlan::full(LibraryName::HipblasLt).arithmetics;
        let parts = [
            Precision::F32,
            Precision::Tf32,
            Precision::F16,
            Precision::Bf16,
        ]
        .map(|precision| {
            ProductPlan::full(LibraryName::HipblasLt)
                .of_precision(precision)
                .arithmetics
        });
        assert!(parts[0].contains(&GemmTypes::INT8));
        assert_eq!(parts.concat().len(), all.len());
        let different: BTreeSet<GemmTypes> = parts.concat().into_iter().collect();
        assert_eq!(different, all.into_iter().collect());
    }

    #[test]
    fn shapes_are_200_different_ones_with_long_sums_and_batches() {
        let shapes = shapes();
        assert_eq!(shapes.iter().collect::<BTreeSet<_>>().len(), shapes.len());
        assert!((195..=205).contains(&shapes.len()), "{}", shapes.len());
        assert!(
            shapes.iter().any(|shape| shape.inner == 8193)
                && shapes.iter().any(|shape| shape.batch == 33)
        );
        let largest = shapes.iter().map(|shape| shape.terms()).max();
        assert!(largest.is_some_and(|terms| terms < 1 << 25), "{largest:?}");
        assert!(ProductPlan::reduced(LibraryName::Rocblas).shapes.len() > 10);
    }
}
