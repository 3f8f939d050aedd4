//! Products of two small matrices, with and without faults.

use super::{InjectedProductError, SimulatedEpilogue, SimulatedProduct, SumOrder};
use crate::{Faults, MatrixBatch, MatrixType};

/// A 2 x 3 times 3 x 2, plus C.
fn computed(faults: &str) -> Result<[f32; 5], InjectedProductError> {
    scaled(faults, [2.0, 1.0], 3)
}

/// The same with `[alpha, beta]` and sums of `inner` terms; of alpha 0, A is NaN.
fn scaled(
    faults: &str,
    [alpha, beta]: [f32; 2],
    inner: usize,
) -> Result<[f32; 5], InjectedProductError> {
    let (mut a, mut b) = (
        [1.0_f32, 4.0, 2.0, 5.0, 3.0, 6.0],
        [1.0_f32, 0.0, 2.0, 0.0, 1.0, 3.0],
    );
    let (mut c, mut d) = ([100.0_f32; 4], [f32::NAN; 5]);
    if alpha == 0.0 {
        a.fill(f32::NAN);
    }
    let matrix = |data: *mut f32, leading| MatrixBatch {
        data: data.cast(),
        number: MatrixType::F32,
        leading,
        stride: 0,
    };
    let product = SimulatedProduct {
        sizes: [2, 2, inner],
        batch: 1,
        transposed: [false, false],
        alpha,
        beta,
        a: matrix(a.as_mut_ptr(), 2),
        b: matrix(b.as_mut_ptr(), 3),
        c: matrix(c.as_mut_ptr(), 2),
        d: matrix(d.as_mut_ptr(), 2),
        xf32: false,
        order: SumOrder::Forward,
        scales: [1.0; 2],
        epilogue: SimulatedEpilogue::default(),
    };
    let faults: Faults = faults.parse().map_err(|_| InjectedProductError)?;
    // SAFETY: every matrix has the elements of its sizes, and D one more.
    unsafe { product.compute(&faults)? };
    Ok(d)
}

#[test]
fn a_product_is_computed_by_columns() {
    let [a, b, c, d, after] = computed("").expect("is computed");
    assert_eq!([a, b, c, d], [114.0, 132.0, 122.0, 146.0]);
    assert!(after.is_nan());
}

#[test]
fn faults_change_it() {
    assert_eq!(computed("blas=alpha").expect("is computed")[0], 107.0);
    assert_eq!(computed("blas=beta").expect("is computed")[0], 14.0);
    assert_eq!(computed("blas=beyond").expect("is computed")[4], 1.0);
    assert!(computed("blas=silent").expect("is computed")[0].is_nan());
    assert_eq!(computed("blas=refuse"), Err(InjectedProductError));
}

#[test]
fn without_a_product_it_is_beta_times_c() {
    for (alpha, inner) in [(0.0, 3), (2.0, 0)] {
        let computed = |faults, beta| scaled(faults, [alpha, beta], inner).expect("is computed");
        assert_eq!(computed("", 0.5)[..4], [50.0; 4]);
        assert_eq!(computed("", 0.0)[..4], [0.0; 4]);
        let changed = |fault| computed(fault, 0.5)[0];
        assert_eq!(changed("blas=zero").is_nan(), alpha == 0.0);
        assert_eq!(changed("blas=empty").is_nan(), inner == 0);
        assert_eq!(changed("blas=clear") == 0.0, inner == 0);
    }
}
