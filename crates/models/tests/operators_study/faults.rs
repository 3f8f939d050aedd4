//! Seeded faults: hundreds of wrong ways to compute an operator, each of which fails a check.

mod attributes;
mod inputs;
mod other;
mod results;
mod sums;

use crate::{
    checks::detected,
    emulated::{Change, Emulated},
    host::host,
};
use std::collections::BTreeMap;
use testgen_types::{Operator, Precision};

/// A fault of an operator.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    /// The precision in which it is seeded.
    pub(crate) precision: Precision,
    pub(crate) change: Box<Change>,
}

impl Fault {
    /// A fault in f32.
    fn new(
        name: &'static str,
        change: impl Fn(&dyn Execute, &Call) -> Option<Computation> + 'static,
    ) -> Self {
        Self {
            name,
            precision: Precision::F32,
            change: Box::new(change),
        }
    }
}

use testgen_operators::calls::{Call, CallError, Computed, Execute};

type Computation = Result<Computed, CallError>;

/// Every fault that applies to an operator.
fn faults(operator: Operator) -> Vec<Fault> {
    let mut faults = results::for_operator(operator);
    faults.extend(inputs::for_operator(operator));
    faults.extend(attributes::for_operator(operator));
    faults.extend(other::for_operator(operator));
    faults.extend(sums::for_operator(operator));
    faults
}

#[test]
fn every_fault_is_detected() {
    let (mut undetected, mut count, mut by_check) = (Vec::new(), 0, BTreeMap::<&str, usize>::new());
    for &operator in Operator::ALL {
        for fault in faults(operator) {
            count += 1;
            let device = host(fault.precision);
            let emulated = Emulated::new(device.as_ref(), fault.change.as_ref());
            match detected(operator, fault.precision, &emulated) {
                Some((check, _)) if *emulated.changed.borrow() > 0 => {
                    *by_check.entry(check).or_default() += 1
                }
                _ => {
                    let calls = *emulated.changed.borrow();
                    undetected.push(format!(
                        "{operator}: {} ({calls} calls changed)",
                        fault.name
                    ));
                }
            }
        }
    }
    println!("{count} faults, first detected by: {by_check:?}");
    assert!(
        undetected.is_empty(),
        "{} of {count} faults are not detected:\n{}",
        undetected.len(),
        undetected.join("\n")
    );
    assert!(count >= 300, "only {count} faults");
}
