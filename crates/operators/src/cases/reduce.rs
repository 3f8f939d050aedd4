//! Searches for the smallest shape with which a call still fails.
//!
//! One length after the other becomes as small as possible, with the first or the last elements of
//! each tensor, until none can be made smaller. Lengths that belong together ([`dimensions`]) stay
//! equal, so that every tried call is one of the operator.

mod cut;

use crate::{
    calls::Call,
    cases::dimensions::{Dimension, dimensions},
};
use cut::{KeptEnd, cut};

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct ReducedCall {
    /// The smallest call that was found to fail.
    pub call: Call,
    /// The number of calls that were tried.
    pub runs: usize,
    /// Whether the search was ended before no length could be made smaller.
    pub incomplete: bool,
}

/// Up to this length, every smaller one is tried; above, those near powers of two, which tiles and
/// vectors have, and half of the rest.
const ALL_BELOW: usize = 32;

/// Makes a call that fails smaller. `fails` computes a call and returns whether it fails in the
/// same way; `None` ends the search.
pub fn reduce(call: &Call, mut fails: impl FnMut(&Call) -> Option<bool>) -> ReducedCall {
    let mut reduction = ReducedCall {
        call: call.clone(),
        runs: 0,
        incomplete: false,
    };
    // Until nothing changes: a length may get smaller only after another one has.
    loop {
        let before = lengths(&reduction.call);
        for index in 0..before.len() {
            if shorten(&mut reduction, index, &mut fails).is_none() {
                reduction.incomplete = true;
                return reduction;
            }
        }
        if lengths(&reduction.call) == before {
            return reduction;
        }
    }
}

/// Every length of a call. No length if it cannot be described.
fn lengths(call: &Call) -> Vec<usize> {
    // Without lengths nothing can be made smaller.
    let described = dimensions(call)
        .map(|described| described.all)
        .unwrap_or_default();
    described.iter().map(|dimension| dimension.length).collect()
}

/// Makes one length as small as possible. None if the search was ended.
fn shorten(
    reduction: &mut ReducedCall,
    index: usize,
    fails: &mut impl FnMut(&Call) -> Option<bool>,
) -> Option<()> {
    // A smaller call can have fewer lengths, for instance if a reshape ties none.
    let Some(dimension) = dimension(&reduction.call, index) else {
        return Some(());
    };
    let mut below = 0;
    // From the smallest on: that a length does not fail says nothing about the others.
    for length in candidates(dimension.length) {
        if try_length(reduction, &dimension, length, fails)? {
            break;
        }
        below = length;
    }
    // Between the last length that does not fail and the first that does.
    loop {
        let Some(dimension) = self::dimension(&reduction.call, index) else {
            return Some(());
        };
        let middle = below + dimension.length.saturating_sub(below) / 2;
        if middle <= below {
            return Some(());
        }
        if !try_length(reduction, &dimension, middle, fails)? {
            below = middle;
        }
    }
}

fn dimension(call: &Call, index: usize) -> Option<Dimension> {
    dimensions(call).ok()?.all.into_iter().nth(index)
}

/// Smaller lengths, the smallest first.
fn candidates(length: usize) -> Vec<usize> {
    // The cheapest calls are tried first.
    let powers = (0..usize::BITS - 1)
        .map(|exponent| 1_usize << exponent)
        .take_while(|power| *power <= length);
    let near = powers
        .filter(|power| *power > ALL_BELOW)
        .flat_map(|power| [power - 1, power, power + 1]);
    (1..=ALL_BELOW)
        .chain(near)
        .filter(|candidate| *candidate < length)
        .collect()
}

/// Tries the call with its first, then with its last elements, and keeps the one that fails.
fn try_length(
    reduction: &mut ReducedCall,
    dimension: &Dimension,
    length: usize,
    fails: &mut impl FnMut(&Call) -> Option<bool>,
) -> Option<bool> {
    for end in [KeptEnd::First, KeptEnd::Last] {
        let smaller = cut(&reduction.call, dimension, length, end);
        // A cut can leave a window that is larger than its input, or a query without a key.
        if dimensions(&smaller).is_err() {
            continue;
        }
        reduction.runs += 1;
        if fails(&smaller)? {
            reduction.call = smaller;
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
#[path = "reduce/tests.rs"]
mod tests;
