//! The keys near each query, as a bias on the scores: what causal attention and windows show.
//!
//! The bias of all pairs of a long text has gigabytes. A GPU computes it from the places of the
//! keys, so that the host neither makes nor copies it.

use crate::{backend::Ops, inputs::Inputs};
use burn_tensor::{DType, Tensor, TensorData};
use testgen_types::DeviceKind;

/// The bias of a hidden key.
// Finite, as in transformers: a softmax of infinite biases alone would be NaN.
pub(super) const HIDDEN: f32 = f32::MIN;

/// The number of pairs from which on a GPU computes them.
// Its launches cost more than a small matrix takes on the host.
const MANY: usize = 1 << 20;

/// The bias of a key.
pub(super) fn bias_of_key(shown: bool) -> f32 {
    if shown { 0.0 } else { HIDDEN }
}

/// The keys that queries see by their places.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyBand {
    /// The keys before the first query.
    pub(super) past: usize,
    /// The queries, each of which is a key, too.
    pub(super) queries: usize,
    /// A key is seen if it is fewer places before the query.
    pub(super) before: usize,
    /// A key is seen if it is fewer places after the query.
    pub(super) after: usize,
}

impl KeyBand {
    /// The bias f32 [batch or 1, 1, query, key] of the keys in the band; where some are hidden,
    /// `shown` [batch, key] says which are not.
    pub(super) fn bias<B: Ops>(
        self,
        inputs: &Inputs<'_, B>,
        batch: usize,
        shown: Option<&[bool]>,
    ) -> Tensor<B, 4> {
        // Without padding all rows of the batch see the same keys.
        let rows = if shown.is_some() { batch } else { 1 };
        let pairs = rows * self.queries * self.keys();
        if B::kind(inputs.device()) != DeviceKind::Cpu && pairs >= MANY {
            return self.on_device(inputs, rows, shown);
        }
        put(
            inputs,
            self.on_host(rows, shown),
            [rows, 1, self.queries, self.keys()],
        )
    }

    fn keys(self) -> usize {
        self.past + self.queries
    }

    fn contains(self, query: usize, key: usize) -> bool {
        query.saturating_sub(key) < self.before && key.saturating_sub(query) < self.after
    }

    fn on_host(self, rows: usize, shown: Option<&[bool]>) -> Vec<f32> {
        let keys = self.keys();
        let mut bias = Vec::with_capacity(rows * self.queries * keys);
        for row in 0..rows {
            let shown = shown.map(|shown| &shown[row * keys..(row + 1) * keys]);
            for query in self.past..keys {
                bias.extend((0..keys).map(|key| {
                    bias_of_key(self.contains(query, key) && shown.is_none_or(|shown| shown[key]))
                }));
            }
        }
        bias
    }

    /// A key is hidden if it is further from the middle of a query's band than half its width.
    fn on_device<B: Ops>(
        self,
        inputs: &Inputs<'_, B>,
        rows: usize,
        shown: Option<&[bool]>,
    ) -> Tensor<B, 4> {
        // Places are whole or half numbers, which f32 has exactly below 2^23, so that each bias is
        // exact, too. Only the first operation allocates all pairs: `clamp` and comparisons would.
        let keys = self.keys();
        // Further from every middle than half a band, whichever that is.
        let far = (4 * keys) as f32;
        let places = (0..rows * keys).map(|index| match shown {
            Some(shown) if !shown[index] => far,
            _ => (index % keys) as f32,
        });
        let [before, after] = [self.before, self.after].map(|reach| reach.min(keys) as f32);
        let middles = (self.past..keys).map(|query| query as f32 + (after - before) / 2.0);
        let places = put(inputs, places.collect(), [rows, 1, 1, keys]);
        let middles = put(inputs, middles.collect(), [1, 1, self.queries, 1]);
        // Above 0 for hidden keys; the quotient is between -1 and 1, so that it rounds to 0 or 1.
        let beyond = (places - middles)
            .abs()
            .sub_scalar((after + before) / 2.0 - 1.0);
        beyond.div_scalar(2.0 * far).ceil().mul_scalar(HIDDEN)
    }
}

/// A bias on the device of a call, in f32 in every precision.
pub(super) fn put<B: Ops>(
    inputs: &Inputs<'_, B>,
    bias: Vec<f32>,
    shape: [usize; 4],
) -> Tensor<B, 4> {
    Tensor::from_data(TensorData::new(bias, shape), (inputs.device(), DType::F32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{array::Arrays, backend::Cpu};

    /// The bias that the operations of a device compute.
    fn computed(band: KeyBand, rows: usize, shown: Option<&[bool]>) -> Vec<f32> {
        let arrays = Arrays::new();
        let inputs = Inputs::<Cpu>::new(&arrays, &Default::default(), DType::F32);
        let bias = band.on_device(&inputs, rows, shown);
        assert_eq!(bias.dims(), [rows, 1, band.queries, band.keys()]);
        bias.into_data().to_vec().expect("f32")
    }

    #[test]
    fn causal_keys_are_the_query_and_those_before_it_in_its_window() {
        let band = KeyBand {
            past: 1,
            queries: 3,
            before: 2,
            after: 1,
        };
        let seen = |shown: Option<&[bool]>| {
            let bias = band.on_host(1, shown);
            bias.iter().map(|bias| *bias == 0.0).collect::<Vec<_>>()
        };
        let (o, x) = (true, false);
        assert_eq!(seen(None), [o, o, x, x, x, o, o, x, x, x, o, o]);
        let shown = [true, false, false, true];
        assert_eq!(
            seen(Some(shown.as_slice())),
            [o, x, x, x, x, x, x, x, x, x, x, o]
        );
    }

    #[test]
    fn a_device_computes_what_the_host_makes() {
        for (past, queries) in [(0, 1), (0, 9), (3, 5), (7, 1)] {
            let keys = past + queries;
            let shown: Vec<bool> = (0..2 * keys).map(|key| key % 4 != 1).collect();
            for (before, after) in [(keys, 1), (4, 1), (1, 1), (0, 1), (3, 3), (usize::MAX, 1)] {
                let band = KeyBand {
                    past,
                    queries,
                    before,
                    after,
                };
                assert_eq!(computed(band, 1, None), band.on_host(1, None), "{band:?}");
                let shown = Some(shown.as_slice());
                assert_eq!(computed(band, 2, shown), band.on_host(2, shown), "{band:?}");
            }
        }
    }
}
