//! Bounds of single operations, of subnormal results and of sums of products.

use super::*;

const F32: Arithmetic = Arithmetic {
    element: Element::F32,
    factor: 0.0,
};

#[test]
fn errors_of_operations_add_up() {
    let one = BoundedNumber::exact(1.0);
    let sum = F32.add(one, one);
    assert_eq!((sum.value, sum.error), (2.0, 2.0 * UNIT));
    assert!(F32.mul(sum, sum).error > 8.0 * UNIT);
    let half = Arithmetic::for_precision(Precision::F16);
    assert!(half.stored(sum).error > 2.0 * Element::F16.unit());
    assert_eq!(half.stored(one), one);
}

#[test]
fn an_argument_that_may_be_zero_leaves_no_bound() {
    let number = |value, error| BoundedNumber {
        value,
        error,
        variance: error * error / 3.0,
    };
    let unbounded = |result: BoundedNumber| {
        assert!(result.value.is_finite());
        F32.stored(result).error >= UNBOUNDED && result.variance >= UNBOUNDED
    };
    let ten = BoundedNumber::exact(10.0);
    assert!(unbounded(F32.div(ten, number(0.1, 0.2))));
    assert!(unbounded(F32.div(number(1.0, 1e-7), number(1e-3, 1e-3))));
    assert!(!unbounded(F32.div(ten, number(0.3, 0.2))));
    for error in [1.0, 2.0] {
        assert!(unbounded(F32.log(number(1.0, error))));
    }
    assert!(!unbounded(F32.log(number(1.0, 0.5))));
    // Whether a result is infinite is compared, not by how much.
    assert_eq!(F32.div(ten, BoundedNumber::exact(0.0)).error, 0.0);
    assert_eq!(F32.log(BoundedNumber::exact(0.0)).error, 0.0);
}

#[test]
fn every_operation_rounds_a_subnormal_result() {
    let least = Element::F32.smallest();
    let [x, half, part] = [3.0 * least, 0.5, 0.75].map(BoundedNumber::exact);
    let twice = F32.stored(F32.mul(F32.mul(x, half), part));
    // 1.5 is rounded to 2, and 2 * 0.75 to 2 again; the exact product is 1.125.
    let device = f64::from((3.0 * least) as f32 * 0.5 * 0.75);
    assert_eq!((device, twice.value), (2.0 * least, 1.125 * least));
    assert!(device - twice.value <= twice.error, "{twice:?}");
    assert!(device + least - twice.value > twice.error, "{twice:?}");
    // One rounding is still half a unit, and the sum of multiples of the unit has none.
    assert_eq!(F32.stored(F32.mul(x, half)).error, least / 2.0);
    assert!(F32.add(x, x).error < least / 2.0);
    assert_eq!(F32.mul(x, BoundedNumber::exact(0.0)).error, 0.0);
    // A function of several units that returns 0 in place of the smallest number is wrong.
    let tanh = F32.function(f64::tanh, BoundedNumber::exact(least), ulps::TANH);
    assert!(F32.stored(tanh).error < least, "{tanh:?}");
}

#[test]
fn every_subnormal_product_of_a_sum_is_rounded() {
    let least = Element::F32.smallest();
    let [x, half] = [3.0 * least, 0.5].map(BoundedNumber::exact);
    let sum = F32.stored(F32.dot([(x, half); 4]));
    // Each product of 1.5 is rounded to 2.
    let product = (3.0 * least) as f32 * 0.5;
    let device = f64::from(product + product + product + product);
    assert_eq!((device, sum.value), (8.0 * least, 6.0 * least));
    assert!(device - sum.value <= sum.error, "{sum:?}");
    assert!(device + least - sum.value > sum.error, "{sum:?}");
    // A sum that is not subnormal may have subnormal products.
    let one = BoundedNumber::exact(Element::F32.smallest_normal());
    let with_normal = F32.dot([(one, BoundedNumber::exact(1.0)), (x, half)]);
    assert!(with_normal.error > 1.9 * least, "{with_normal:?}");
    assert_eq!(F32.dot([(x, BoundedNumber::exact(0.0))]).error, 0.0);
    assert_eq!(F32.dot([(one, one)]).error, least / 2.0);
}

#[test]
fn the_bound_of_normal_results_is_relative() {
    let normal = Element::F32.smallest_normal();
    for value in [normal, 3.0 * normal, 1.0, 1e30] {
        let product = F32.mul(BoundedNumber::exact(value), BoundedNumber::exact(1.0));
        assert_eq!(product.error, UNIT * value);
        let one = BoundedNumber::exact(1.0);
        let sum = F32.dot([(BoundedNumber::exact(value), one)]);
        assert_eq!(sum.error, UNIT * value);
        assert_eq!(F32.stored(product).error, UNIT * value);
    }
}

#[test]
fn a_missing_term_of_a_product_is_outside_its_bound() {
    let factor = |index: usize| BoundedNumber::exact(1.0 + (index % 7) as f64 / 7.0);
    let product = F32.dot((0..1000).map(|index| (factor(index), factor(index + 3))));
    assert!(product.error < 1.0, "{product:?}");
    // 16 bits of mantissa less, and rounding each partial sum costs about a unit of the whole.
    assert!(
        product.variance.sqrt() < product.value * 1e-5,
        "{product:?}"
    );
}

#[test]
fn infinities_have_no_error() {
    let infinite = BoundedNumber::exact(f64::INFINITY);
    assert_eq!(
        F32.mul(
            infinite,
            F32.add(BoundedNumber::exact(1.0), BoundedNumber::exact(2.0))
        )
        .error,
        0.0
    );
    assert_eq!(F32.exp(BoundedNumber::exact(f64::NEG_INFINITY)).value, 0.0);
}
