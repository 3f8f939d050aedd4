//! The depth of the pixels of images.
//!
//! Follows `post_process_depth_estimation` of DPT's processor: the depths are interpolated to the
//! size of the image. The pipeline also returns them as grey values, which lose precision.

use super::{
    Request, Response,
    call::{HandlerError, TaskCall},
};
use testgen_nn::array::Array;
use testgen_processing::{
    image::Image,
    interpolate::{Interpolation, interpolate},
};

const HINT: &str = "a class such as `DPTForDepthEstimation`";

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let images = call.images(request)?;
    let forward = call
        .model
        .forward(&call.image_processor()?.process(&images)?)?;
    let depths = call.output(&forward, ("predicted_depth", 3), &[images.len()], HINT)?;
    let computed = [depths.shape[1], depths.shape[2]];
    let depth_of = |(index, image): (usize, &Image)| {
        let size = [image.height(), image.width()];
        let depth = interpolate(depths.row(index), computed, size, Interpolation::Bicubic);
        Array::floats(size, depth)
    };
    Ok(Response::Depths(
        images.iter().enumerate().map(depth_of).collect(),
    ))
}
