//! A sequence that grows step by step: calls of one network with the cached keys and values of
//! earlier calls.

use crate::bound_model::BoundModel;
use testgen_nn::{
    array::{Array, Arrays},
    backend::Ops,
    cache::Cache,
    forward::{Forward, ForwardError, Session},
};

/// The session of a model with a cache.
pub(crate) struct DecodeSession<'a, B: Ops> {
    model: &'a BoundModel<B>,
    cache: Cache<B>,
    /// The inputs so far, kept while every key may have to be computed anew.
    read: Vec<Arrays>,
}

impl<'a, B: Ops> DecodeSession<'a, B> {
    /// None for a network without a cache.
    pub(crate) fn new(model: &'a BoundModel<B>) -> Option<Self> {
        let cache = Cache::new(model.capabilities().cached_layers?);
        Some(Self {
            model,
            cache,
            read: Vec::new(),
        })
    }

    /// The number of new tokens.
    fn new_tokens(&self, inputs: &Arrays) -> Result<usize, ForwardError> {
        let name = self.model.capabilities().token_input_name;
        let ids = inputs
            .get(name)
            .ok_or(ForwardError::MissingInput { name })?;
        // The network, which has not read the ids yet, refuses another shape.
        Ok(ids.shape().get(1).copied().unwrap_or(0))
    }

    fn call(&mut self, inputs: &Arrays) -> Result<Forward, ForwardError> {
        let new = self.new_tokens(inputs)?;
        let forward = self.model.call(inputs, false, Some(&mut self.cache))?;
        // After the call, in which every layer needs the length before it.
        self.cache.advance(new);
        Ok(forward)
    }

    /// A step that crosses the length from which on all keys change: all tokens are read again, and
    /// the new ones are returned.
    fn call_anew(&mut self, inputs: &Arrays) -> Result<Forward, ForwardError> {
        let new = self.new_tokens(inputs)?;
        // The keys in it have the rotation of the shorter sequence.
        self.cache = Cache::new(self.cache.layers());
        let mut whole = inputs.clone();
        // The mask is not joined: the mask of the newest step covers all tokens already.
        for name in ["input_ids", "position_ids"] {
            let parts: Option<Vec<&Array>> =
                self.read.iter().map(|inputs| inputs.get(name)).collect();
            if let Some(joined) = parts
                .filter(|parts| !parts.is_empty())
                .and_then(|parts| side_by_side(&parts))
            {
                whole.insert(name.to_owned(), joined);
            }
        }
        // Images are read with the first call only.
        if let Some(pixels) = self
            .read
            .first()
            .and_then(|inputs| inputs.get("pixel_values"))
        {
            whole.insert("pixel_values".to_owned(), pixels.clone());
        }
        let mut forward = self.call(&whole)?;
        // Callers have the outputs of earlier tokens, computed with the other frequencies.
        let start = self.cache.length() - new;
        for output in forward.outputs.values_mut() {
            *output = output.narrow(1, start, new);
        }
        Ok(forward)
    }
}

impl<B: Ops> Session for DecodeSession<'_, B> {
    fn advance(&mut self, inputs: &Arrays) -> Result<Forward, ForwardError> {
        let (past, new) = (self.cache.length(), self.new_tokens(inputs)?);
        // Once the sequence is longer, keys do not change any more, and earlier inputs need not be
        // kept.
        let limit = self
            .model
            .capabilities()
            .cache_reset_length
            .filter(|limit| past <= *limit);
        if limit.is_some() {
            self.read.push(inputs.clone());
        }
        // A first call computes every key anyway, whatever its length is.
        let crosses = limit.is_some_and(|limit| past > 0 && past + new > limit);
        let result = if crosses {
            self.call_anew(inputs)
        } else {
            self.call(inputs)
        };
        // Some layers may have their new keys already, and others not.
        if result.is_err() {
            self.reset();
        }
        result
    }

    fn reset(&mut self) {
        self.cache = Cache::new(self.cache.layers());
        self.read.clear();
    }

    fn length(&self) -> usize {
        self.cache.length()
    }
}

/// Integers [batch, seq] joined along the sequence.
fn side_by_side(parts: &[&Array]) -> Option<Array> {
    let batch = parts.first()?.shape()[0];
    let mut values = Vec::new();
    for row in 0..batch {
        for part in parts {
            let seq = part.shape()[1];
            values.extend_from_slice(&part.as_integers()?[row * seq..(row + 1) * seq]);
        }
    }
    Some(Array::integers(
        [batch, values.len() / batch.max(1)],
        values,
    ))
}
