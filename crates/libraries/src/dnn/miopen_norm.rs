//! Norms of MIOpen by the statistics of the elements.

use super::{
    miopen_functions::MiopenNormFunctions,
    primitive_dialect::{DescribedTensor, NormTensors},
};
use crate::{
    primitive::{PrimitiveNorm, PrimitiveNormKind},
    symbols::Opaque,
};
use std::ffi::c_int;

/// A norm in a mode.
pub(super) struct MiopenNorm<'a> {
    pub(super) handle: Opaque,
    pub(super) functions: &'a MiopenNormFunctions,
    pub(super) mode: c_int,
    pub(super) norm: &'a PrimitiveNorm,
}

impl MiopenNorm<'_> {
    /// Starts the norm, and returns the name of the function with its status, or `None` if there
    /// are not as many parameters as it has.
    pub(super) fn run(&self, tensors: &NormTensors<'_>) -> Option<(&'static str, c_int)> {
        match (self.norm.kind, tensors.parameters.as_slice()) {
            (PrimitiveNormKind::Layer, [weight, bias]) => {
                let code = self.layer(tensors, weight, bias);
                Some(("miopenLayerNormForward", code))
            }
            (PrimitiveNormKind::Group { groups }, [weight, bias]) => {
                let code = self.group(groups, tensors, weight, bias);
                Some(("miopenGroupNormForward", code))
            }
            (PrimitiveNormKind::RootMeanSquare, [weight]) => {
                let code = self.root_mean_square(tensors, weight);
                Some(("miopenT5LayerNormForward", code))
            }
            _ => None,
        }
    }

    fn layer(
        &self,
        tensors: &NormTensors<'_>,
        weight: &DescribedTensor,
        bias: &DescribedTensor,
    ) -> c_int {
        let [mean, scale] = tensors.statistics;
        // SAFETY: the descriptors exist, and the tensors have the elements that they state. The
        // second dimension is the first one that is normalised.
        unsafe {
            (self.functions.layer)(
                self.handle,
                self.mode,
                tensors.both.x_layout,
                tensors.both.x,
                weight.layout,
                weight.data,
                bias.layout,
                bias.data,
                self.norm.epsilon as f32,
                1,
                tensors.both.y_layout,
                tensors.both.y,
                mean.layout,
                mean.data,
                scale.layout,
                scale.data,
            )
        }
    }

    fn group(
        &self,
        groups: usize,
        tensors: &NormTensors<'_>,
        weight: &DescribedTensor,
        bias: &DescribedTensor,
    ) -> c_int {
        let [mean, scale] = tensors.statistics;
        // SAFETY: the descriptors exist, and the tensors have the elements that they state.
        unsafe {
            (self.functions.group)(
                self.handle,
                self.mode,
                tensors.both.x_layout,
                tensors.both.x,
                weight.layout,
                weight.data,
                bias.layout,
                bias.data,
                groups as u64,
                self.norm.epsilon as f32,
                tensors.both.y_layout,
                tensors.both.y,
                mean.layout,
                mean.data,
                scale.layout,
                scale.data,
            )
        }
    }

    fn root_mean_square(&self, tensors: &NormTensors<'_>, weight: &DescribedTensor) -> c_int {
        let [_, scale] = tensors.statistics;
        // SAFETY: the descriptors exist, and the tensors have the elements that they state.
        unsafe {
            (self.functions.root_mean_square)(
                self.handle,
                self.mode,
                tensors.both.x_layout,
                tensors.both.x,
                weight.layout,
                weight.data,
                self.norm.epsilon as f32,
                tensors.both.y_layout,
                tensors.both.y,
                scale.layout,
                scale.data,
            )
        }
    }
}
