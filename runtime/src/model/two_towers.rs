//! A model that compares images with texts: what CLIP and SigLIP have in common behind their towers.

use super::{
    forward::ForwardError,
    network::{Inputs, Network, Pass, Pooling},
};
use crate::{
    backend::{Ops, matmul},
    layer::unit_length,
};
use burn::tensor::Tensor;

/// How a type gets one vector for each image and one for each text.
pub(crate) trait Towers<B: Ops>: Send {
    /// [texts, width], not normalised.
    fn texts(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Tensor<B, 2>, ForwardError>;

    /// [images, width], not normalised.
    fn images(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Tensor<B, 2>, ForwardError>;

    /// See [`Network::max_positions`].
    fn max_positions(&self) -> usize;

    /// See [`Network::causal`].
    fn causal(&self) -> bool;

    /// See [`Network::pooling`].
    fn pooling(&self) -> Pooling;
}

/// Two towers, and the line from the cosine of two vectors to a logit.
pub(crate) struct TwoTowers<T> {
    pub(crate) towers: T,
    /// What a cosine is multiplied with.
    pub(crate) scale: f32,
    /// What is added then.
    pub(crate) bias: f32,
}

impl<B: Ops, T: Towers<B>> Network<B> for TwoTowers<T> {
    /// `text_embeds` [texts, width] and `image_embeds` [images, width] of length one; where both were given also
    /// `logits_per_text` [texts, images] and `logits_per_image`, its transpose.
    fn forward(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<(), ForwardError> {
        let (has_texts, has_images) = (inputs.host("input_ids").is_some(), inputs.host("pixel_values").is_some());
        if !has_texts && !has_images {
            return Err(ForwardError::MissingInput { name: "input_ids" });
        }
        let texts = has_texts.then(|| self.towers.texts(inputs, pass)).transpose()?.map(unit_length);
        let images = has_images.then(|| self.towers.images(inputs, pass)).transpose()?.map(unit_length);
        if let (Some(texts), Some(images)) = (&texts, &images) {
            let logits = self.logits(texts.clone(), images.clone());
            pass.output("logits_per_image", logits.clone().transpose())?;
            pass.output("logits_per_text", logits)?;
        }
        texts.map_or(Ok(()), |texts| pass.output("text_embeds", texts))?;
        images.map_or(Ok(()), |images| pass.output("image_embeds", images))
    }

    fn max_positions(&self) -> Option<usize> {
        Some(self.towers.max_positions())
    }

    fn causal(&self) -> bool {
        self.towers.causal()
    }

    fn pooling(&self) -> Pooling {
        self.towers.pooling()
    }
}

impl<T> TwoTowers<T> {
    /// [texts, images].
    fn logits<B: Ops>(&self, texts: Tensor<B, 2>, images: Tensor<B, 2>) -> Tensor<B, 2> {
        let [rows, columns] = [texts.dims()[0], images.dims()[0]];
        let product = matmul(texts.unsqueeze::<4>(), images.transpose().unsqueeze::<4>());
        product.reshape([rows, columns]) * self.scale + self.bias
    }
}
