//! The tensors that a recorded request names, in the types of requests.

use super::RequestError;
use crate::task::TimeSeries;
use testgen_nn::array::{Array, Arrays, Values};
use testgen_processing::{graph::Graph, image::Image};

/// The tensors of a golden by their whole names, such as `image.0`.
#[derive(Debug)]
pub(super) struct RecordedTensors(Arrays);

impl RecordedTensors {
    pub(super) fn new(golden: Arrays) -> Self {
        Self(golden)
    }

    pub(super) fn get(&self, part: &'static str, tensor: &str) -> Result<Array, RequestError> {
        let found = self.0.get(tensor).cloned();
        found.ok_or_else(|| RequestError::NoTensor {
            part,
            tensor: tensor.to_owned(),
        })
    }

    pub(super) fn floats(&self, part: &'static str, tensor: &str) -> Result<Array, RequestError> {
        let array = self.get(part, tensor)?;
        match array.as_floats() {
            Some(_) => Ok(array),
            None => Err(RequestError::unusable(
                part,
                tensor,
                &"does not hold floats",
            )),
        }
    }

    /// Images [height, width, 3].
    pub(super) fn images(
        &self,
        part: &'static str,
        names: &[String],
    ) -> Result<Vec<Image>, RequestError> {
        names
            .iter()
            .map(|name| {
                let pixels = self.get(part, name)?;
                Image::from_array(&pixels)
                    .map_err(|error| RequestError::unusable(part, name, &error))
            })
            .collect()
    }

    /// The rows of `values` [batch, time, channels], and of `observed`, which goldens have as
    /// floats because transformers reads it so.
    pub(super) fn series(
        &self,
        values: &str,
        observed: Option<&str>,
    ) -> Result<Vec<TimeSeries>, RequestError> {
        const PART: &str = "series";
        let floats = self.floats(PART, values)?;
        let &[batch, ..] = floats.shape() else {
            return Err(RequestError::unusable(PART, values, &"has no batch"));
        };
        let mask = match observed {
            Some(name) => Some(integers(&self.get(PART, name)?)),
            None => None,
        };
        if let (Some(mask), Some(name)) = (&mask, observed)
            && mask.shape() != floats.shape()
        {
            return Err(RequestError::unusable(
                PART,
                name,
                &"has not the shape of the values",
            ));
        }
        Ok((0..batch)
            .map(|index| TimeSeries {
                values: without_batch(&floats, index),
                observed: mask.as_ref().map(|mask| without_batch(mask, index)),
            })
            .collect())
    }

    /// The graph whose tensors are `<prefix>.num_nodes`, `<prefix>.edge_index` and, where something
    /// is known of nodes or edges, `<prefix>.node_feat` and `<prefix>.edge_attr`.
    pub(super) fn graph(&self, prefix: &str) -> Result<Graph, RequestError> {
        const PART: &str = "graphs";
        let named = |name: &str| self.get(PART, &format!("{prefix}.{name}"));
        let count = named("num_nodes")?;
        let count = count
            .as_integers()
            .and_then(|count| usize::try_from(*count.first()?).ok());
        Ok(Graph {
            num_nodes: count.ok_or_else(|| {
                RequestError::unusable(
                    PART,
                    &format!("{prefix}.num_nodes"),
                    &"is not one positive integer",
                )
            })?,
            edge_index: named("edge_index")?,
            node_feat: named("node_feat").ok(),
            edge_attr: named("edge_attr").ok(),
        })
    }
}

fn integers(array: &Array) -> Array {
    let values = match array.values() {
        // A mask is 0 or 1 also as floats.
        Values::F32(values) => values.iter().map(|value| *value as i64).collect(),
        Values::I64(values) => values.clone(),
        Values::U8(values) => values.iter().map(|value| i64::from(*value)).collect(),
    };
    Array::integers(array.shape(), values)
}

/// The row `index` of the batch.
fn without_batch(array: &Array, index: usize) -> Array {
    let row = array.select_rows(&[index]);
    let shape = &row.shape()[1..];
    match row.values() {
        Values::F32(values) => Array::floats(shape, values.clone()),
        Values::I64(values) => Array::integers(shape, values.clone()),
        Values::U8(values) => Array::bytes(shape, values.clone()),
    }
}
