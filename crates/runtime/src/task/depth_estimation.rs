//! The depth of the pixels of images.
//!
//! Follows `post_process_depth_estimation` of DPT's processor: the depths are interpolated to the
//! size of the image. The pipeline also returns them as grey values, which lose precision.

use super::{
    Request, Response,
    call::{HandlerError, TaskCall},
    image_map::{ImageMap, of_each_image},
};
use testgen_nn::array::Array;
use testgen_processing::interpolate::Interpolation;

const OUTPUT: (&str, usize) = ("predicted_depth", 3);
const HINT: &str = "a class such as `DPTForDepthEstimation`";

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let depths = of_each_image(call, request, OUTPUT, HINT, depth)?;
    Ok(Response::Depths(depths))
}

/// The output has one map.
fn depth(map: &ImageMap<'_>) -> Array {
    // The mode of `post_process_depth_estimation`; maps of labels are interpolated bilinearly.
    let values = map.interpolated(Interpolation::Bicubic).flatten().collect();
    Array::floats(map.size, values)
}
