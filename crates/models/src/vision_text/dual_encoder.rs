//! A model that compares images with texts: the common part of CLIP and SigLIP after their
//! encoders.

use crate::{capabilities::Capabilities, network::Network};
use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Ops, matmul},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::unit_length,
};

/// How a type gets one vector for each image and one for each text.
pub(crate) trait Encoders<B: Ops>: Send {
    /// [texts, width], not normalised.
    fn texts(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 2>, ForwardError>;

    /// [images, width], not normalised.
    fn images(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 2>, ForwardError>;

    /// See [`Network::capabilities`].
    fn capabilities(&self) -> Capabilities;
}

/// Two encoders, and the line from the cosine of two vectors to a logit.
pub(crate) struct DualEncoder<T> {
    pub(crate) encoders: T,
    /// The factor of a cosine.
    pub(crate) scale: f32,
    /// The summand of a cosine.
    pub(crate) bias: f32,
}

impl<B: Ops, T: Encoders<B>> Network<B> for DualEncoder<T> {
    /// `text_embeds` [texts, width] and `image_embeds` [images, width] of length one; where both
    /// were given also `logits_per_text` [texts, images] and `logits_per_image`, its transpose.
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let (has_texts, has_images) = (
            inputs.host("input_ids").is_some(),
            inputs.host("pixel_values").is_some(),
        );
        if !has_texts && !has_images {
            return Err(ForwardError::MissingInput { name: "input_ids" });
        }
        // Texts first: the traces of images are numbered after theirs.
        let texts = has_texts
            .then(|| self.encoders.texts(inputs, context))
            .transpose()?
            .map(unit_length);
        let images = has_images
            .then(|| self.encoders.images(inputs, context))
            .transpose()?
            .map(unit_length);
        if let (Some(texts), Some(images)) = (&texts, &images) {
            let logits = self.logits(texts.clone(), images.clone());
            context.output("logits_per_image", logits.clone().transpose())?;
            context.output("logits_per_text", logits)?;
        }
        texts.map_or(Ok(()), |texts| context.output("text_embeds", texts))?;
        images.map_or(Ok(()), |images| context.output("image_embeds", images))
    }

    fn capabilities(&self) -> Capabilities {
        self.encoders.capabilities()
    }
}

impl<T> DualEncoder<T> {
    /// [texts, images].
    fn logits<B: Ops>(&self, texts: Tensor<B, 2>, images: Tensor<B, 2>) -> Tensor<B, 2> {
        let [rows, columns] = [texts.dims()[0], images.dims()[0]];
        // With four dimensions, because `matmul` pads products to shapes that GPU kernels compute
        // correctly.
        let product = matmul(texts.unsqueeze::<4>(), images.transpose().unsqueeze::<4>());
        product.reshape([rows, columns]) * self.scale + self.bias
    }
}
